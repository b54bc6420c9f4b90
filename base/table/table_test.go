package table_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"skink/base/table"
)

var columns = []table.Column{{"url", table.String}, {"a", table.Integer}, {"share", table.Float}, {"yes", table.Boolean}, {"at", table.Time}, {"text", table.String}}

// write makes a file of n rows, every third of which has no text.
func write(t testing.TB, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := table.NewWriter(&b, table.NewSchema(columns))
	for i := range n {
		row := []any{fmt.Sprintf("http://a.test/%d", i), i, float64(i) / 2, i%2 == 0, time.Unix(int64(i), 0), any(fmt.Sprintf("Text %d", i))}
		if i%3 == 0 {
			row[5] = nil
		}
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(t testing.TB, b []byte) *table.Reader {
	t.Helper()
	r, err := table.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A column that contains lists or groups exists, but its value is not a string. It must not be read
// as an empty text.
func TestLists(t *testing.T) {
	type row struct {
		ID    string             `parquet:"id"`
		Text  []string           `parquet:"text,list"`
		Body  []string           `parquet:"body"`
		Group struct{ A string } `parquet:"content"`
		Map   map[string]string  `parquet:"html"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	if _, err := w.Write([]row{{ID: "full", Text: []string{"a", "b"}, Body: []string{"c"}, Map: map[string]string{"k": "v"}}, {ID: "empty"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for r, err := range open(t, b.Bytes()).Rows() {
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"text", "body", "content", "html"} {
			value, ok := r.Value(name)
			if _, isString := value.(string); !ok || isString || value == nil {
				t.Errorf("%s is %#v, %v", name, value, ok)
			}
		}
		if _, ok := r.Value("none"); ok {
			t.Error("there is a column that the file does not have")
		}
	}
}

// Rows are read as they were written, with their columns in order. The same is true of rows that
// are copied from one file to another with added columns.
func TestTable(t *testing.T) {
	const n = 500
	first := write(t, n)
	var b bytes.Buffer
	from := open(t, first)
	if got, want := from.Schema().Names(), []string{"url", "a", "share", "yes", "at", "text"}; !slices.Equal(got, want) {
		t.Errorf("columns %q, want %q", got, want)
	}
	w := table.NewWriter(&b, from.Schema().Extend([]table.Column{{"verdict", table.String}, {"b", table.Float}}))
	i := 0
	for row, err := range from.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		var verdict, b any
		if i%2 == 0 {
			verdict, b = "near", .875
		}
		if err := w.Copy(row, verdict, b); err != nil {
			t.Fatal(err)
		}
		i++
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, b.Bytes())
	if got, want := r.Schema().Names(), []string{"url", "a", "share", "yes", "at", "text", "verdict", "b"}; !slices.Equal(got, want) {
		t.Errorf("columns %q, want %q", got, want)
	}
	i = 0
	for row, err := range r.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, name := range r.Schema().Names() {
			v, ok := row.Value(name)
			got += fmt.Sprint(v, ok, " ")
		}
		text, verdict, b := any(fmt.Sprintf("Text %d", i)), any(nil), any(nil)
		if i%3 == 0 {
			text = nil
		}
		if i%2 == 0 {
			verdict, b = "near", .875
		}
		want := ""
		for _, v := range []any{fmt.Sprintf("http://a.test/%d", i), i, float64(i) / 2, i%2 == 0, time.Unix(int64(i), 0).UnixMicro(), text, verdict, b} {
			want += fmt.Sprint(v, true, " ")
		}
		if got != want {
			t.Fatalf("row %d: got %s, want %s", i, got, want)
		}
		i++
	}
	if i != n {
		t.Errorf("%d rows, want %d", i, n)
	}
}

// A damaged file ends with an error, and never with a panic.
func TestDamaged(t *testing.T) {
	whole := write(t, 500)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		b := bytes.Clone(whole)
		for range 1 + rng.IntN(3) {
			b[rng.IntN(len(b))] ^= byte(1 + rng.IntN(255))
		}
		r, err := table.Open(bytes.NewReader(b[:len(b)-rng.IntN(2)*rng.IntN(len(b))]), int64(len(b)))
		if err != nil {
			continue
		}
		for _, err := range r.Rows() {
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
		}
	}
}

// A file with a column that is compressed with LZ4_RAW is refused, because some of its pages would be
// decoded as zeros.
func TestLZ4(t *testing.T) {
	type row struct {
		ID   int64  `parquet:"id"`
		Text string `parquet:"text,lz4"`
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []row{{1, "A text."}}); err != nil {
		t.Fatal(err)
	}
	_, err := table.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err == nil || !strings.HasPrefix(err.Error(), "the column text is compressed with LZ4_RAW: write") {
		t.Errorf("got error %v", err)
	}
}

// Columns of an extension replace columns with the same names, wherever they are.
func TestExtendAgain(t *testing.T) {
	noted := []table.Column{{Name: "verdict"}, {Name: "of"}}
	var first bytes.Buffer
	w := table.NewWriter(&first, table.NewSchema([]table.Column{{Name: "verdict"}, {Name: "text"}, {Name: "of"}, {Name: "tags", Type: table.List}}))
	if err := w.Write([]any{"near", "A text.", "x", []string{"a", "b"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var second bytes.Buffer
	r := open(t, first.Bytes())
	w = table.NewWriter(&second, r.Schema().Extend(noted))
	for row, err := range r.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Copy(row, "unique", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r = open(t, second.Bytes())
	if got := r.Schema().Names(); !slices.Equal(got, []string{"text", "tags", "verdict", "of"}) {
		t.Errorf("columns %q", got)
	}
	for row, err := range r.Rows() {
		text, _ := row.Value("text")
		verdict, _ := row.Value("verdict")
		of, _ := row.Value("of")
		if err != nil || text != "A text." || verdict != "unique" || of != nil {
			t.Errorf("row %v, %v, %v, %v", text, verdict, of, err)
		}
	}
}
