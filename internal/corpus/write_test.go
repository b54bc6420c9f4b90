package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skink/extract"
)

// A note is added at the end of a JSON object, and nothing else is changed.
func TestAnnotated(t *testing.T) {
	note := Note{Verdict: "near", DuplicateOf: "a/<b>", Resemblance: 0.875, Cluster: "a/<b>"}
	const members = `"skink_verdict":"near","skink_duplicate_of":"a/\u003cb\u003e","skink_resemblance":0.875,"skink_cluster":"a/\u003cb\u003e"}`
	for line, want := range map[string]string{
		`{"text":"t"}`:              `{"text":"t",` + members,
		` { "text" : "}" } ` + "\r": ` { "text" : "}" ,` + members + " \r",
		`{}`:                        `{` + members,
		`{ }`:                       `{ ` + members,
	} {
		if got := string(annotated([]byte(line), note)); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	if got := string(annotated([]byte(`{"text":""}`), Note{})); got != `{"text":""}` {
		t.Errorf("a record without a verdict becomes %q", got)
	}
}

// A line is written with exactly the bytes that were read. A file with one text is written as a
// JSON line with that text.
func TestWriter(t *testing.T) {
	lines := ` {"id":1, "text":"ä"}` + "\r\n" + `{"id":2,"text":"no end"}`
	dir := write(t, map[string]string{"a.jsonl": lines, "b.html": "<p>Hyper & text", "c.txt": "Plain \"text\"", "d.html": "<meta charset=latin1><p>caf\xe9"})
	var b bytes.Buffer
	w := NewWriter(&b, "out.jsonl", false)
	in := &Inputs{Paths: []string{dir}, Unreadable: func(err error) { t.Error(err) }}
	for r, err := range in.Records(t.Context()) {
		if err == nil {
			err = w.Write(r, Note{Verdict: "unique"})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(b.String(), filepath.ToSlash(dir)+"/", "")
	want := lines + "\n" + `{"url":"b.html","html":"<p>Hyper & text"}` + "\n" + `{"url":"c.txt","text":"Plain \"text\""}` + "\n" + `{"url":"d.html","text":"café"}` + "\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	again := write(t, map[string]string{"out.jsonl": b.String()})
	first, _ := texts(dir, in)
	second, err := texts(dir, &Inputs{Paths: []string{filepath.Join(again, "out.jsonl")}})
	if err != nil || !slices.Equal(first, second) {
		t.Errorf("read again: %q, %v\nwant %q", second, err, first)
	}
}

// FuzzAnnotated checks that a line with a text is still such a line after a note was added to it.
func FuzzAnnotated(f *testing.F) {
	for _, line := range []string{`{"text":"t"}`, `{"text":"}"}`, `{"text":"t"} `, "{\"text\":\"t\"}\t\r"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r := &Record{Input: "f", Line: 1, Raw: line}
		if _, err := r.Text(context.Background(), extract.Options{}); err != nil {
			return
		}
		var got struct {
			Verdict string `json:"skink_verdict"`
		}
		if err := json.Unmarshal(annotated(line, Note{Verdict: "thin"}), &got); err != nil || got.Verdict != "thin" {
			t.Errorf("%q: %v, %v", line, got, err)
		}
	})
}
