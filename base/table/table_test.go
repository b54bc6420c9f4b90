package table_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
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

// A file whose columns are compressed with LZ4_RAW is read like any other: with dictionaries, both
// versions of pages, several row groups, and pages that are much smaller when compressed or not at
// all. A damaged file is an error or has other values, and takes no memory beyond its pages.
func TestLZ4(t *testing.T) {
	type row struct {
		Text  string
		Noise string
		Word  string `parquet:",dict"`
		Many  []string
		Maybe *int64 `parquet:",optional"`
		Plain string `parquet:",snappy"`
	}
	rng := rand.New(rand.NewPCG(3, 4))
	var rows []row
	for i := range 300 {
		noise := make([]byte, 40)
		for k := range noise {
			noise[k] = byte('!' + rng.IntN(90))
		}
		n := int64(i)
		r := row{Text: strings.Repeat(fmt.Sprint("Text ", i), 20), Noise: string(noise), Word: fmt.Sprint("word", i%3), Plain: fmt.Sprint(i)}
		if i%2 == 0 {
			r.Many, r.Maybe = []string{"a", r.Word}, &n
		}
		rows = append(rows, r)
	}
	for version := 1; version <= 2; version++ {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[row](&b, parquet.Compression(&parquet.Lz4Raw), parquet.DataPageVersion(version), parquet.PageBufferSize(2000), parquet.MaxRowsPerRowGroup(130))
		if _, err := w.Write(rows); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		i := 0
		for got, err := range open(t, b.Bytes()).Rows() {
			if err != nil {
				t.Fatal(err)
			}
			want := rows[i]
			for name, value := range map[string]any{"Text": want.Text, "Noise": want.Noise, "Word": want.Word, "Plain": want.Plain, "Maybe": any(nil)} {
				if name == "Maybe" && want.Maybe != nil {
					value = *want.Maybe
				}
				if v, _ := got.Value(name); v != value {
					t.Fatalf("version %d, row %d: %s is %q, want %q", version, i, name, v, value)
				}
			}
			i++
		}
		if i != len(rows) {
			t.Errorf("version %d: %d rows", version, i)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		named := 0
		for range 100 {
			damaged := bytes.Clone(b.Bytes())
			damaged[4+rng.IntN(len(damaged)-12)] ^= byte(1 + rng.IntN(255))
			r, err := table.Open(bytes.NewReader(damaged), int64(len(damaged)))
			if err == nil {
				for _, err = range r.Rows() {
				}
			}
			if err != nil && strings.Contains(err.Error(), "the column ") {
				named++
			}
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; named == 0 || took > 1<<30 {
			t.Errorf("version %d: %d errors name the column; 100 damaged files took %d bytes", version, named, took)
		}
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
