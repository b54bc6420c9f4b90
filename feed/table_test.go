package feed_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"skink/dedup"
	"skink/feed"
	"skink/internal/table"
	"skink/store"
)

// A table has in its columns what the lines have in their fields.
func TestParquet(t *testing.T) {
	s := nasty(t)
	lines, n := write(t, s, feed.Options{Include: feed.All})
	rows, m := write(t, s, feed.Options{Include: feed.All, Format: feed.Parquet})
	r, err := table.Open(bytes.NewReader(rows), int64(len(rows)))
	if err != nil || n != m {
		t.Fatalf("%d lines, %d rows, %v", n, m, err)
	}
	want := strings.Split(string(lines), "\n")
	i := 0
	for row, err := range r.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		var line map[string]any
		if err := json.Unmarshal([]byte(want[i]), &line); err != nil {
			t.Fatal(err)
		}
		for _, name := range r.Schema().Names() {
			got, _ := row.Value(name)
			if at, ok := got.(int64); ok && name == "fetched_at" {
				got = time.UnixMicro(at).UTC().Format(time.RFC3339)
			}
			if fmt.Sprint(got) != fmt.Sprint(line[name]) {
				t.Errorf("row %d, %s: got %v, want %v", i, name, got, line[name])
			}
		}
		i++
	}
	if i != n {
		t.Errorf("%d rows, want %d", i, n)
	}
	if nothing, n := write(t, store.NewMemory(), feed.Options{Format: feed.Parquet}); len(nothing) > 0 || n > 0 {
		t.Errorf("an empty feed is a table of %d bytes", len(nothing))
	}
}

// What has too little text is left out if that is asked for.
func TestThinLeftOut(t *testing.T) {
	s := store.NewMemory()
	for i, v := range []dedup.Kind{dedup.Unique, dedup.Thin, dedup.Unique, dedup.Thin} {
		commit(t, s, store.Record{URL: fmt.Sprintf("http://a.test/%d", i), Kind: store.Page, Verdict: v, Words: 10 * i}, "words")
	}
	for want, opt := range map[int]feed.Options{4: {}, 3: {MinWords: 10}, 2: {NoThin: true}, 1: {NoThin: true, MinWords: 20}, 0: {MinWords: 31}} {
		if _, n := write(t, s, opt); n != want {
			t.Errorf("%+v: %d pages, want %d", opt, n, want)
		}
	}
	if _, err := feed.Write(t.Context(), nil, s, feed.Options{Format: "xml"}); err == nil {
		t.Error("a format that there is not: no error")
	}
}
