package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"skink/extract"
)

func gzipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return b.String()
}

func zstded(s string) string {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return string(z.EncodeAll([]byte(s), nil))
}

// write writes files into a new temporary folder.
func write(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// texts returns the texts of inputs as "name: text", with dir removed from the names. It returns
// bad records as well.
func texts(dir string, in *Inputs) (got []string, err error) {
	for r, err := range in.Records(context.Background()) {
		if err != nil {
			return got, err
		}
		said := "nothing"
		text, err := r.Text(context.Background(), extract.Options{})
		if text.Doc != nil {
			said = text.Doc.Text
		}
		if err != nil {
			said = "bad"
			text.URL = err.Error()
		}
		name := strings.ReplaceAll(filepath.ToSlash(text.URL), filepath.ToSlash(dir)+"/", "")
		got = append(got, name+": "+said)
	}
	return got, nil
}

// The texts of a folder come in the order of the file names, each file once, compressed or not.
// Files that are not written for people are skipped and counted, unless Include selects them.
func TestFolder(t *testing.T) {
	dir := write(t, map[string]string{
		"b.html":              "<title>B</title><p>The second.",
		"a.txt":               "The first.",
		"c.jsonl":             `{"url":"one","text":"A line."}` + "\n\n" + `{"url":"two","html":"<p>Another."}`,
		"d.gz":                gzipped(`{"text":"A packed line."}` + "\n"),
		"e.html.zst":          zstded("<p>A packed page."),
		"f.txt":               gzipped("Packed under another name."),
		".hidden":             "Nobody reads this.",
		"sub/index.php?id=3":  "<!DOCTYPE html><p>A saved page.",
		"sub/README":          "Read me.",
		"sub/zlib.LICENSE":    "As is.",
		"x/style.css":         "p { color: red }",
		"x/style.css.gz":      gzipped("p { color: red }"),
		"x/drawing.svg":       "<svg><text>A drawing.</text></svg>",
		"x/icon.xpm":          "/* XPM */ static char *icon[] = {};",
		"x/Makefile":          "all:\n\techo all\n",
		"x/CMakeLists.txt.in": "project(x)",
		"x/settings.json":     `{"theme":"dark"}`,
		"x/main.go":           "package main",
		"x/photo.html":        "\x89PNG\r\n\x1a\n\x00",
		"x/photo":             "\x89PNG\r\n\x1a\n\x00",
		"x/pages.tar.gz":      gzipped("ustar\x00\x00\x00\x00\x00\x00"),
	})
	passed := map[string]int{}
	in := &Inputs{Paths: []string{filepath.Join(dir, "b.html"), dir, "-", dir}, Stdin: strings.NewReader(zstded("From a pipe.")),
		Unreadable: func(err error) { t.Error(err) }, Passed: func(kind string) { passed[kind]++ }}
	got, err := texts(dir, in)
	want := []string{"b.html: The second.", "a.txt: The first.", "one: A line.", "two: Another.", "d.gz:1: A packed line.", "e.html.zst: A packed page.",
		"f.txt: Packed under another name.", "sub/README: Read me.", "sub/index.php?id=3: A saved page.", "sub/zlib.LICENSE: As is.", "-: From a pipe."}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got  %q, %v\nwant %q", got, err, want)
	}
	if want := map[string]int{"css": 2, "svg": 1, "xpm": 1, "without a file extension": 1, "in": 1, "json": 1, "go": 1, "html": 1, "image/png": 1, "tar": 1, "file given twice": 21}; !maps.Equal(passed, want) {
		t.Errorf("passed over: %v, want %v", passed, want)
	}

	in = &Inputs{Paths: []string{dir}, Include: []*regexp.Regexp{regexp.MustCompile(`/x/`)}, Exclude: []*regexp.Regexp{regexp.MustCompile(`\.(css|svg|in)`)},
		Unreadable: func(err error) { t.Error(err) }}
	got, err = texts(dir, in)
	want = []string{"x/Makefile: all:\necho all", "x/icon.xpm: /* XPM */ static char *icon[] = {};", "x/main.go: package main", `x/settings.json: {"theme":"dark"}`}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("asked for by path: got %q, %v\nwant %q", got, err, want)
	}
}

// TestManyInOne checks that a file with many texts, such as CSV, is read record by record. A text
// whose beginning looks like such a file is read as one text.
func TestManyInOne(t *testing.T) {
	dir := write(t, map[string]string{
		"a.csv":      "id,text\n1,A first text.\n2,A second text.\n",
		"b.TSV.gz":   gzipped("id\ttext\n1\tA text.\n"),
		"c.json":     "\ufeff[\n  {\"text\": \"A text.\"},\n  {\"text\": \"Another.\"}]",
		"d.txt":      `[{"id":1}]`,
		"list.txt":   "[1] A footnote, and {braces}.",
		"links.md":   "[a link](b.html) and text.",
		"e.JSON":     `["a text", "another"]`,
		"one.json":   `{"theme": "dark"}`,
		"number.txt": "[1, 2, 3]",
	})
	for name, want := range map[string][]string{
		"a.csv":    {"1: A first text.", "2: A second text."},
		"b.TSV.gz": {"1: A text."},
		"c.json":   {"c.json:1: A text.", "c.json:2: Another."},
		"d.txt":    {"d.txt, element 1: found none of the fields that usually contain text"},
		"e.JSON":   {"e.JSON, element 1: found a string instead of an object", "e.JSON, element 2: found a string instead of an object"},
	} {
		got, err := texts(dir, &Inputs{Paths: []string{filepath.Join(dir, name)}})
		if err != nil || !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%s: got  %q, %v\nwant %q", name, got, err, want)
		}
	}
	for _, name := range []string{"list.txt", "links.md", "one.json", "number.txt"} {
		if got, err := texts(dir, &Inputs{Paths: []string{filepath.Join(dir, name)}}); err != nil || len(got) != 1 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	unread := 0
	in := &Inputs{Paths: []string{dir}, Include: []*regexp.Regexp{regexp.MustCompile(`.`)}, Unreadable: func(error) { unread++ }}
	if got, err := texts(dir, in); err != nil || len(got) != 12 || unread != 0 {
		t.Errorf("in a folder: %q, %d could not be read, %v", got, unread, err)
	}
}

// TestSheets checks the records and the errors of some CSV, TSV and JSON files.
func TestSheets(t *testing.T) {
	dir := write(t, map[string]string{
		"quoted.csv":   "\ufefftext,id\r\n\"One, \"\"two\"\",\nthree\",a\r\n",
		"ragged.csv":   "id,text\n1\n2,A text.\n3,B,C\n",
		"tabs.csv":     "id\ttext\n1\tA, b; c.\n",
		"quote.tsv":    "id\ttext\n1\tA \" b.\n",
		"quote.csv":    "id,text\n1,A \" b.\n2,Good.\n",
		"open.csv":     "id,text\n1,\"A\n2,B\n3,C\n",
		"lost.csv":     "id,text\n1,\"A\n2,B\"b\n3,C\n",
		"named.csv":    "name,story\nx,A text.\n",
		"empty.csv":    "",
		"head.csv":     "id,text\n",
		"unclosed.csv": "id,text\n1,\"" + strings.Repeat("long ", 200_000) + "\n",
		"long.json":    `[{"text":"` + strings.Repeat("long ", 200_000) + `"}]`,
		"tail.json":    `[{"text":"A text."}`,
		"cut.json":     `[{"text":"A text."},{"te`,
		"two.json":     `[{"text":"A text."}] [{"text":"Another text."}]`,
	})
	for name, want := range map[string][]string{
		"quoted.csv": {"a: One, \"two\",\nthree"},
		"ragged.csv": {"ragged.csv, line 2: the row and the first row have different numbers of cells: 1 and 2", "2: A text.", "ragged.csv, line 4: the row and the first row have different numbers of cells: 3 and 2"},
		"tabs.csv":   {"1: A, b; c."},
		"quote.tsv":  {"1: A \" b."},
		"quote.csv":  {"quote.csv, line 2: the row cannot be read", "2: Good."},
		"lost.csv":   {"lost.csv, line 2: the row in lines 2 to 3 cannot be read: extraneous or missing", "lost.csv, line 3: the row in lines 2 to 3 cannot be read", "3: C"},
		"empty.csv":  nil,
		"head.csv":   nil,
	} {
		got, err := texts(dir, &Inputs{Paths: []string{filepath.Join(dir, name)}})
		if err != nil || !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%s: got  %q, %v\nwant %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"named.csv": `use --text-field to specify the column that contains the texts; the first row has "name", "story"`, "unclosed.csv": "too long", "open.csv": "a quotation mark in line 2 has no end, so lines 2 to 4 cannot be read", "long.json": "too long", "tail.json": "the JSON array after 1 elements: the file is truncated", "cut.json": "element 2 of the JSON array: the file is truncated", "two.json": "there is more text after the JSON array of 1 elements",
	} {
		if _, err := texts(dir, &Inputs{Paths: []string{filepath.Join(dir, name)}, MaxRecord: 1000}); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
}

// TestTabs checks the rows of TSV, in which a quotation mark may be an ordinary character or enclose
// a cell.
func TestTabs(t *testing.T) {
	long := strings.Repeat("long ", 500)
	for _, c := range []struct {
		name, sheet string
		want        []string
	}{
		{"quoted", "1\t\"One,\ttwo\"\n2\tB\n", []string{"1: One,\ttwo", "2: B"}},
		{"quoted with a line break and quotation marks", "1\t\"One \"\"1\"\"\r\ntwo\"\r\n2\tB\r\n", []string{"1: One \"1\"\ntwo", "2: B"}},
		{"quoted id", "\"1\"\tA\n", []string{"1: A"}},
		{"empty quoted text", "1\t\"\"\n2\tB", []string{"1: ", "2: B"}},
		{"a title in quotation marks", "1\t\"Heroes\" (album)\n2\t\"Low\" (album)\n", []string{"1: \"Heroes\" (album)", "2: \"Low\" (album)"}},
		{"an unclosed quotation mark", "1\t\"Heroes\n2\tB\n3\tC\n", []string{"1: \"Heroes", "2: B", "3: C"}},
		{"unclosed, and a quoted row follows", "1\t\"Heroes\n2\t\"B\"\n", []string{"1: \"Heroes", "2: B"}},
		{"unclosed at the end", "1\tA\n2\t\"", []string{"1: A", "2: \""}},
		{"blank lines", "1\tA\n\n\r\n2\tB\n\n", []string{"1: A", "2: B"}},
		{"other numbers of cells", "1\n2\tB\tC\n3\tD\n", []string{"t.tsv, line 2: the row and the first row have different numbers of cells: 1 and 2: bad", "t.tsv, line 3: the row and the first row have different numbers of cells: 3 and 2: bad", "3: D"}},
		{"a line number after a quoted line break", "1\t\"A\nB\"\n2\n", []string{"1: A\nB", "t.tsv, line 4: the row and the first row have different numbers of cells: 1 and 2: bad"}},
		{"a quotation mark that begins a cell, and one that ends a later cell", "1\t\"Hello\n2\tB\n\n3\tMonitor 27\"\n4\t\"A\nB\n5\"\n", []string{"1: \"Hello", "2: B", "3: Monitor 27\"", "4: A\nB\n5"}},
		{"a long row", "1\tA\n2\t" + long + "\n3\tC\n", []string{"1: A", "t.tsv, line 3: the record is too long: the limit is 1000 bytes: bad", "3: C"}},
		{"an unclosed quotation mark before a long row", "1\t\"A\n2\t" + long + "\n3\tC\n", []string{"1: \"A", "t.tsv, line 3: the record is too long: the limit is 1000 bytes: bad", "3: C"}},
	} {
		dir := write(t, map[string]string{"t.tsv": "id\ttext\n" + c.sheet})
		got, err := texts(dir, &Inputs{Paths: []string{filepath.Join(dir, "t.tsv")}, MaxRecord: 1000})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got  %q, %v\nwant %q", c.name, got, err, c.want)
		}
	}
}

// TestTabsUnchanged checks that rows of TSV are written as they were read, in both dialects.
func TestTabsUnchanged(t *testing.T) {
	const sheet = "id\t\"text\"\n1\t\"Heroes\" (album)\n2\t\"One\ttwo\n\"\"three\"\"\"\n3\tA, \"b\"\n"
	dir := write(t, map[string]string{"t.tsv": sheet})
	var plain, noted bytes.Buffer
	same, notes := NewWriter(&plain, "out.tsv", false), NewWriter(&noted, "out.tsv", true)
	in := &Inputs{Paths: []string{filepath.Join(dir, "t.tsv")}, Unreadable: func(err error) { t.Error(err) }}
	for r, err := range in.Records(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(same.Write(r, Note{}), notes.Write(r, Note{Verdict: "near", DuplicateOf: "a\tb", Resemblance: .5})); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(same.Close(), notes.Close()); err != nil {
		t.Fatal(err)
	}
	if plain.String() != sheet {
		t.Errorf("got  %q\nwant %q", plain.String(), sheet)
	}
	note := "\tnear\t\"a\tb\"\t0.5\t\t\t\t\n"
	want := strings.NewReplacer("\"text\"\n", "\"text\"\tskink_verdict\tskink_duplicate_of\tskink_resemblance\tskink_cluster\tskink_cluster_size\tskink_contaminated\tskink_removed\n", "(album)\n", "(album)"+note, "\"\"\"\n", "\"\"\""+note, "\"b\"\n", "\"b\""+note).Replace(sheet)
	if noted.String() != want {
		t.Errorf("got  %q\nwant %q", noted.String(), want)
	}
}

// A file in a folder that is not a regular file is skipped and counted.
func TestOddFiles(t *testing.T) {
	dir := write(t, map[string]string{"a.txt": "A text."})
	if err := os.Symlink("a.txt", filepath.Join(dir, "b.txt")); err != nil {
		t.Skip(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "c.txt"), 0o600); err != nil {
		t.Skip(err)
	}
	passed := map[string]int{}
	got, err := texts(dir, &Inputs{Paths: []string{dir}, Passed: func(kind string) { passed[kind]++ }})
	if want := map[string]int{"symbolic link": 1, "pipe": 1}; err != nil || len(got) != 1 || !maps.Equal(passed, want) {
		t.Errorf("%q, passed over %v, %v", got, passed, err)
	}
}

// The text and the name of a line are in the usual fields, or in those that Fields selects. For an
// invalid line, the error gives the position and the reason.
func TestFields(t *testing.T) {
	for _, c := range []struct {
		fields     Fields
		line, want string
	}{
		{Fields{}, `{"url":"u","text":"t"}`, "u: t"},
		{Fields{}, `{"id":7,"content":"c","title":"x"}`, "7: c"},
		{Fields{}, `{"url":null,"id":"i","body":"b"}`, "i: b"},
		{Fields{}, `{"uri":"i","raw_content":"r","meta":{"url":"no"}}`, "i: r"},
		{Fields{}, `{"text":"without a name"}`, "f.jsonl:1: without a name"},
		{Fields{}, `{"text":null,"url":"u"}`, "u: "},
		{Fields{}, `{"text":"","html":"<p>not asked for","url":"u"}`, "u: "},
		{Fields{}, `{"raw_html":"<p>marked up","url":"u"}`, "u: marked up"},
		{Fields{}, `{"url":"u","verdict":"near"}`, "u: nothing"},
		{Fields{Text: []string{"abstract"}, ID: "doi"}, `{"doi":"10.1/x","abstract":"a","text":"t","url":"u"}`, "10.1/x: a"},
		{Fields{}, `{"text":3}`, `f.jsonl, line 1: "text" is a number instead of a string: bad`},
		{Fields{}, `{"text":["a"],"content":"c"}`, `f.jsonl, line 1: "text" is an array instead of a string: bad`},
		{Fields{}, `{"url":true,"text":"t"}`, `f.jsonl, line 1: "url" is a boolean instead of a string: bad`},
		{Fields{}, `["a"]`, `f.jsonl, line 1: found an array instead of an object: each line must be an object such as {"url","text"} or {"url","html"}: bad`},
		{Fields{}, `null`, `f.jsonl, line 1: found null instead of an object: each line must be an object such as {"url","text"} or {"url","html"}: bad`},
		{Fields{Text: []string{"abstract"}}, `{"text":"t"}`, `f.jsonl, line 1: the field "abstract" is missing; the record has "text": bad`},
		{Fields{Text: []string{"meta.body"}, ID: "meta.url"}, `{"text":"t","meta":{"url":"u","body":"b"}}`, "u: b"},
		{Fields{Text: []string{"a.b.c"}, ID: "n"}, `{"n":1,"a":{"b":3},"a.b":{"c":"deep"}}`, "1: deep"},
		{Fields{Text: []string{"a.b"}, ID: "n"}, `{"n":1,"a":{"b":"path"},"a.b":"name"}`, "1: name"},
		{Fields{Text: []string{"a.b"}}, `{"a":["b"],"text":"t"}`, `f.jsonl, line 1: the field "a.b" is missing; the record has "a", "text": bad`},
		{Fields{Text: []string{"title", "body"}, ID: "n"}, `{"n":1,"body":"b\u00e4","title":"t\u00e4"}`, "1: tä\nbä"},
		{Fields{Text: []string{"title", "body"}, ID: "n"}, `{"n":1,"body":"b","text":"t"}`, "1: b"},
		{Fields{Text: []string{"title", "body"}, ID: "n"}, `{"n":1,"body":"b","title":2}`, `f.jsonl, line 1: "title" is a number instead of a string: bad`},
		{Fields{Text: []string{"title", "body"}}, `{"n":1}`, `f.jsonl, line 1: the field "title" or "body" is missing; the record has "n": bad`},
		{Fields{ID: "doi"}, `{"z":1,"text":"t"}`, `f.jsonl, line 1: the field "doi" is missing; the record has "text", "z": bad`},
		{Fields{}, `{"name":"skink"}`, `f.jsonl, line 1: found none of the fields that usually contain text ("text", "content", "body", "raw_content", "document", "html" or "raw_html"); the record has "name": bad`},
		{Fields{}, `{"text":"a` + strings.Repeat("a", 2000) + `"}`, "f.jsonl, line 1: the record is too long: the limit is 1000 bytes: bad"},
	} {
		dir := write(t, map[string]string{"f.jsonl": bom + c.line + "\n"})
		in := &Inputs{Paths: []string{filepath.Join(dir, "f.jsonl")}, Fields: c.fields, MaxRecord: 1000}
		if got, err := texts(dir, in); err != nil || len(got) != 1 || got[0] != c.want {
			t.Errorf("%.60s\ngot  %q, %v\nwant %q", c.line, got, err, c.want)
		}
	}
}

// A record has exactly the bytes of its line, even if the file is compressed or the line is long.
func TestRaw(t *testing.T) {
	long := `{"text":"` + strings.Repeat("word ", 2*bufferSize) + `"}`
	content := ` {"text" : "ä"} ` + "\r\n" + long + "\nbroken\n" + `{"text":"without an end"}`
	for name, packed := range map[string]string{"plain": content, "gzip": gzipped(content), "gzip in two members": gzipped(content[:9]) + gzipped(content[9:]), "zstd": zstded(content)} {
		dir := write(t, map[string]string{"f.jsonl": packed})
		in := &Inputs{Paths: []string{filepath.Join(dir, "f.jsonl")}}
		var got []string
		for r, err := range in.Records(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(r.Raw))
			if _, err := r.Text(context.Background(), extract.Options{}); (err != nil) != (r.Line == 3) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if strings.Join(got, "\n") != content {
			t.Errorf("%s: %d lines are not what was written", name, len(got))
		}
	}
}

// A damaged file yields the records before the damage, and then an error that names the file.
func TestDamaged(t *testing.T) {
	content := strings.Repeat(`{"text":"line"}`+"\n", 20_000)
	for _, packed := range []string{gzipped(content), zstded(content)} {
		dir := write(t, map[string]string{"f": packed[:len(packed)-20]})
		name := filepath.Join(dir, "f")
		got, err := texts(dir, &Inputs{Paths: []string{name}})
		if len(got) == 0 || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%d texts, %v", len(got), err)
		}
		var unreadable error
		got, err = texts(dir, &Inputs{Paths: []string{dir}, Unreadable: func(err error) { unreadable = err }})
		if len(got) == 0 || err != nil || !errors.Is(unreadable, errCut) {
			t.Errorf("in a folder: %d texts, %v, %v", len(got), err, unreadable)
		}
	}
}

// FuzzLine checks that reading any line returns either a text or an error.
func FuzzLine(f *testing.F) {
	for _, line := range []string{`{"url":"u","text":"t"}`, `{"html":"<p>x"}`, `{"text":{}}`, `{"a":{"text":"t","b":{"id":1}}}`, `[`, ``, "\x00", `{"id":1e999,"text":""}`} {
		f.Add([]byte(line), "", "")
		f.Add([]byte(line), "text", "id")
		f.Add([]byte(line), "a.text", "a.b.id")
	}
	f.Fuzz(func(t *testing.T, line []byte, text, id string) {
		r := &Record{Input: "f", Line: 1, Raw: line, fields: Fields{ID: id, Rank: id}}
		if text != "" {
			r.fields.Text = []string{text, id}
		}
		got, err := r.Text(context.Background(), extract.Options{})
		var bad *BadError
		if err != nil && !errors.As(err, &bad) {
			t.Errorf("the error is no BadError: %v", err)
		}
		if err == nil && got.URL == "" {
			t.Error("a text without a name")
		}
		if again, err2 := r.Text(context.Background(), extract.Options{}); fmt.Sprint(err) != fmt.Sprint(err2) || again.URL != got.URL {
			t.Error("another text the second time")
		}
	})
}

// TestSize checks that the total of the progress is that of the files on disk, before decompression,
// and unknown for a pipe. At the end, all of it is read, whatever the kinds of the files.
func TestSize(t *testing.T) {
	dir := write(t, map[string]string{"a.jsonl.gz": gzipped(strings.Repeat(`{"text":"line"}`+"\n", 20_000)), "b.csv": "id,text\n1,A.\n", "c.tsv": "id\ttext\n1\tA.\n",
		"d.json": `[{"text":"A."}]`, "e.txt.zst": zstded("A text."), "f.css": "p { }", "g.txt": ""})
	var total int64
	for _, name := range []string{"a.jsonl.gz", "b.csv", "c.tsv", "d.json", "e.txt.zst", "f.css", "g.txt"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	in := &Inputs{Paths: []string{dir, filepath.Join(dir, "b.csv")}, Unreadable: func(err error) { t.Error(err) }}
	if in.Size() != total {
		t.Errorf("size %d, want %d", in.Size(), total)
	}
	if _, err := texts(dir, in); err != nil || in.Read() != total {
		t.Errorf("%d of %d bytes are read, %v", in.Read(), total, err)
	}
	pipe := &Inputs{Paths: []string{dir, "-"}, Stdin: strings.NewReader("A text.")}
	if pipe.Size() != -1 {
		t.Errorf("size %d with standard input from a pipe, want -1", pipe.Size())
	}
}
