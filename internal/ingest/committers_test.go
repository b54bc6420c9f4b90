package ingest

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"

	"skink/crawler"
	"skink/dedup"
	"skink/store"
	"skink/store/badger"
)

// Several independent pipelines write to one store at the same time. One page in three is an exact
// or near copy of the page before it, and both arrive at the same moment in different pipelines.
// One of the two pages must lead the other, and no page may be lost.
//
// There are 1,500 pages by default, 6,000 with SKINK_LONG=short, and 50,000 with SKINK_LONG=full.
func TestCommitters(t *testing.T) {
	pages := map[string]int{"": 1500, "short": 6000, "full": 50_000}[os.Getenv("SKINK_LONG")]
	for _, committers := range []int{2, 4} {
		t.Run(fmt.Sprint(committers), func(t *testing.T) {
			s, err := badger.Open(t.TempDir(), badger.Options{Create: true, Reserve: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			opt := testOptions(t)
			commitAtOnce(t, s, opt, committers, pages)
			checkCommitters(t, s, opt.Rule, pages)
		})
	}
}

// committed returns page n. In each group of six pages, the second is a copy of the first, and the
// fourth a near copy of the third.
func committed(n int) (name, text string) {
	text = words(uint64(n), 100)
	switch n % 6 {
	case 1: // an exact copy of the previous page
		text = words(uint64(n-1), 100)
	case 3: // a near copy of the previous page
		text = but(words(uint64(n-1), 100), "changed")
	}
	return strconv.Itoa(n), text
}

// commitAtOnce gives the pages to the committers in rounds. In each round, every committer gets one
// page, and all start at the same time.
func commitAtOnce(t *testing.T, s store.Store, opt Options, committers, pages int) {
	t.Helper()
	pipelines := make([]*Pipeline, committers)
	for i := range pipelines {
		pipelines[i] = start(t, s, opt)
	}
	var round sync.WaitGroup
	for first := 0; first < pages; first += committers {
		for i, p := range pipelines {
			if n := first + i; n < pages {
				round.Go(func() {
					name, text := committed(n)
					v := judgedFile(t, p, name, text, false).visit
					if err := p.commit(t.Context(), v, p.writer(v, &crawler.Page{})); err != nil {
						t.Errorf("page %d: %v", n, err)
					}
				})
			}
		}
		round.Wait()
	}
	for _, p := range pipelines {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// checkCommitters compares all pairs of unique pages that share a key of their sketches, and checks
// that they are not similar.
func checkCommitters(t *testing.T, s store.Store, rule dedup.Rule, pages int) {
	t.Helper()
	sets := map[dedup.Hash]dedup.Set{}
	byKey := map[uint64][]dedup.Hash{}
	known, led, compared := 0, 0, 0
	var canon dedup.Text
	for page, err := range s.Changes(t.Context(), "", store.WantText|store.WantSketch) {
		if err != nil {
			t.Fatal(err)
		}
		known++
		r := &page.Record
		if r.Follows() {
			led++
			continue
		}
		canon.ReadString(page.Text)
		set := rule.Set(&canon)
		for _, key := range rule.Scheme.Keys(nil, page.Sketch) {
			for _, other := range byKey[key] {
				compared++
				if got := dedup.Resemblance(set, sets[other]); got >= rule.Similarity {
					t.Errorf("%s is unique, and resembles another unique page by %.3f", r.URL, got)
				}
			}
			byKey[key] = append(byKey[key], r.ID)
		}
		sets[r.ID] = set
	}
	if known != pages {
		t.Errorf("%d pages are known, want %d", known, pages)
	}
	if want := pages / 3; led < want-1 || led > want+1 {
		t.Errorf("%d pages follow another, want %d", led, want)
	}
	t.Logf("%d pages, %d led, %d pairs of unique pages that share a band", known, led, compared)
}
