package newest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skink/internal/corpus"
	"skink/internal/newest"
)

// A record is replaced if and only if a later one that can be read has its name.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var files [3]strings.Builder
		var names []string // of the records in order; "" for those that replace no other
		for f := range files {
			for range rapid.IntRange(0, 8).Draw(t, "records") {
				name := rapid.SampledFrom([]string{"a", "b", "c", "", "unreadable"}).Draw(t, "name")
				switch name {
				case "":
					fmt.Fprintln(&files[f], `{"text":"A text without a name."}`)
				case "unreadable":
					name = ""
					fmt.Fprintln(&files[f], `{"id":"a","text":3}`)
				default:
					fmt.Fprintf(&files[f], `{"id":%q,"text":"A text."}`+"\n", name)
				}
				names = append(names, name)
			}
		}
		in := &corpus.Inputs{Unreadable: func(err error) { t.Error(err) }}
		for f := range files {
			path := filepath.Join(dir, fmt.Sprint(f, ".jsonl"))
			if err := os.WriteFile(path, []byte(files[f].String()), 0o666); err != nil {
				t.Fatal(err)
			}
			in.Paths = append(in.Paths, path)
		}
		got, err := newest.Find(t.Context(), in, nil, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for i, name := range names {
			want := false
			for _, later := range names[i+1:] {
				want = want || name != "" && later == name
			}
			if want {
				count++
			}
			if got.Has(&corpus.Record{Num: i}) != want {
				t.Errorf("record %d of %q: replaced is %t", i, names, !want)
			}
		}
		if got.Count != count {
			t.Errorf("%d are replaced, want %d", got.Count, count)
		}
	})
}
