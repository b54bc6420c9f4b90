package archive

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skink/crawler"
	"skink/internal/corpus"
	"skink/internal/tools/storetest"
	"skink/store"
)

// Private pages are in files of their own. The order in the files restores the order of the commits,
// also after the process was killed and after stale verdicts, and says which pages are private.
func TestPrivateFiles(t *testing.T) {
	dir, s := t.TempDir(), storetest.NewMemory()
	var want []string
	n := 0
	for range 3 { // processes
		a := open(t, dir, s, Options{Size: 3000})
		for _, private := range []bool{true, false, false, true, true, false} {
			n++
			p := page(n)
			if p.Private, p.Raw.Private = private, private; private && n%2 == 0 {
				a.Keep(p.Raw)
			}
			commit(t, a, p, &store.Entry{Record: recordOf(p)})
			want = append(want, fmt.Sprint(p.Item.URL, " ", private))
		}
		a.abandon()
	}
	if err := open(t, dir, s, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	files, err := corpus.Archives(dir, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	type found struct {
		text  string
		order int64
	}
	var all []found
	for _, file := range files {
		f, err := os.Open(file.Name)
		if err != nil {
			t.Fatal(err)
		}
		err = corpus.ReadArchive(t.Context(), f, filepath.Base(file.Name), crawler.Defaults(), corpus.Notes{Damaged: func(err error) { t.Error(err) }, Odd: func(err error) { t.Error(err) }, Passed: func(string) {}}, func(p *crawler.Page, at store.Archived, o corpus.Order) error {
			if p.Private != strings.HasSuffix(at.File, "-private.warc.gz") {
				t.Errorf("%s: %s is private: %t", at.File, p.Item.URL, p.Private)
			}
			all = append(all, found{fmt.Sprint(p.Item.URL, " ", p.Private), o.Number})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.order, b.order) })
	var got []string
	for _, f := range all {
		got = append(got, f.text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}
