package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skink/base/table"
	"skink/extract"
)

// parquetFile writes a Parquet file of n texts. Every second row has no id, and the third text is
// null.
func parquetFile(t *testing.T, name string, n int) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := table.NewWriter(f, table.NewSchema([]table.Column{{Name: "id"}, {Name: "n", Type: table.Integer}, {Name: "text"}, {Name: "share", Type: table.Float}}))
	for i := range n {
		row := []any{fmt.Sprint("doc", i), i, any(fmt.Sprintf("Text %d with ä", i)), .5}
		if i%2 == 1 {
			row[0] = nil
		}
		if i == 2 {
			row[2] = nil
		}
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// The text and the name of a row are in the usual columns. If the row is written, all its columns
// are kept.
func TestRows(t *testing.T) {
	dir := t.TempDir()
	parquetFile(t, filepath.Join(dir, "in.data"), 4)
	in := &Inputs{Paths: []string{dir}, Unreadable: func(err error) { t.Error(err) }}
	got, err := texts(dir, in)
	want := []string{"doc0: Text 0 with ä", "in.data:2: Text 1 with ä", "doc2: ", "in.data:4: Text 3 with ä"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if in.Read() != in.Size() {
		t.Errorf("%d bytes of %d are read", in.Read(), in.Size())
	}
	table, err := os.ReadFile(filepath.Join(dir, "in.data"))
	if err != nil {
		t.Fatal(err)
	}
	packed := write(t, map[string]string{"in.data": zstded(string(table))})
	for way, in := range map[string]*Inputs{
		"packed":         {Paths: []string{packed}, Unreadable: func(err error) { t.Error(err) }},
		"through a pipe": {Paths: []string{"-"}, Stdin: bytes.NewReader(table)},
	} {
		got, err := texts(packed, in)
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], "standard input", "in.data")
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v; want %q", way, got, err, want)
		}
	}
	for _, tt := range []struct {
		fields Fields
		want   string
	}{
		{Fields{Text: []string{"n"}}, `row 1: "n" is a number instead of a string`},
		{Fields{Text: []string{"abstract"}}, `row 1: the field "abstract" is missing; the record has "id", "n", "share", "text"`},
		{Fields{ID: "share"}, `row 1: "share" is a fraction instead of a string`},
		{Fields{ID: "doi"}, `row 1: the field "doi" is missing; the record has "id", "n", "share", "text"`},
		{Fields{ID: "n", Text: []string{"text"}}, "0: Text 0 with ä"},
		{Fields{ID: "id", Text: []string{"text"}}, "doc0: Text 0 with ä"},
		{Fields{ID: "n", Text: []string{"id", "lacking", "text"}}, "0: doc0\nText 0 with ä"},
	} {
		got, err := texts(dir, &Inputs{Paths: []string{filepath.Join(dir, "in.data")}, Fields: tt.fields})
		if err != nil || !strings.Contains(got[0], tt.want) {
			t.Errorf("%+v: got %q, %v; want %q", tt.fields, got[0], err, tt.want)
		}
	}
}

// written writes the records of the file from to the file to.
func written(t *testing.T, from, to string, annotate bool) error {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, to, annotate)
	for r, err := range (&Inputs{Paths: []string{from}}).Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(r, Note{Verdict: "near", DuplicateOf: "doc0", Resemblance: .875, Cluster: "doc0", ClusterSize: 2}); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, b.Bytes(), 0o666)
}

// Another Parquet library must read the same rows from the output, with the columns of the note at
// the end.
func TestRowsElsewhere(t *testing.T) {
	modules := os.Getenv("SKINK_NODE_MODULES")
	node, err := exec.LookPath("node")
	if err != nil || modules == "" {
		t.Skip("no node, or SKINK_NODE_MODULES names no folder with hyparquet and hyparquet-compressors")
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "out.parquet")
	parquetFile(t, in, 1000)
	if err := written(t, in, out, true); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "read.mjs")
	program := fmt.Sprintf(`
import { asyncBufferFromFile, parquetReadObjects } from %q
import { compressors } from %q
for (const name of process.argv.slice(2)) {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(name), compressors })
  console.log(JSON.stringify(rows, (k, v) => typeof v === 'bigint' ? Number(v) : v))
}`, "file://"+modules+"/hyparquet/src/node.js", "file://"+modules+"/hyparquet-compressors/src/index.js")
	if err := os.WriteFile(script, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := exec.Command(node, script, in, out).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, err.(*exec.ExitError).Stderr)
	}
	lines := strings.Split(string(got), "\n")
	var before, after []map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(lines[1]), &after); err != nil {
		t.Fatal(err)
	}
	if len(before) != 1000 || before[7]["text"] != "Text 7 with ä" || before[7]["n"] != 7. || before[2]["text"] != nil {
		t.Errorf("%d rows, %v, %v", len(before), before[7], before[2])
	}
	for i, row := range before {
		row["skink_verdict"], row["skink_duplicate_of"], row["skink_resemblance"] = "near", "doc0", .875
		row["skink_cluster"], row["skink_cluster_size"], row["skink_contaminated"] = "doc0", 2, nil
		row["skink_removed"] = nil
		if fmt.Sprint(row) != fmt.Sprint(after[i]) {
			t.Fatalf("row %d: got %v, want %v", i, after[i], row)
		}
	}
}

// Records of different forms cannot be written to one file.
func TestForms(t *testing.T) {
	dir := write(t, map[string]string{"a.jsonl": `{"text":"t"}`})
	lines, rows := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.parquet")
	parquetFile(t, rows, 3)
	if err := written(t, lines, filepath.Join(dir, "out.parquet"), false); err == nil || !strings.Contains(err.Error(), "a.jsonl, line 1 is not a Parquet row") {
		t.Errorf("a line into a table: %v", err)
	}
	if err := written(t, rows, "-", false); err == nil {
		t.Error("a table goes to standard output")
	}
	if err := written(t, rows, filepath.Join(dir, "out"), false); err != nil {
		t.Error(err)
	}
	first, _ := texts(dir, &Inputs{Paths: []string{rows}})
	if got, err := texts(dir, &Inputs{Paths: []string{filepath.Join(dir, "out")}}); err != nil || len(got) != len(first) {
		t.Errorf("a table whose name does not say so: %q, %v", got, err)
	}
}

// A cell of CSV has no type, so its text says whether the record is private.
func TestPrivateCells(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"a.csv": "id,text,private\n1,a,true\n2,b,True\n3,c,false\n4,d,\n", "b.jsonl": `{"id":5,"text":"e","private":true}` + "\n" + `{"id":6,"text":"f","private":1}` + "\n"})
	got := ""
	for r, err := range (&Inputs{Paths: []string{filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.jsonl")}}).Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		read, err := r.Text(t.Context(), extract.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if read.Private {
			got += read.URL + " "
		}
	}
	if want := "1 2 5 "; got != want {
		t.Errorf("private records: got %q, want %q", got, want)
	}
}
