package badger

import (
	"errors"
	"testing"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/internal/tools/storetest"
	"skink/store"
)

// revisited returns entry n with other content, as the crawl commits it when it visits the page
// again.
func revisited(n, round int) *store.Entry {
	e := visitOf(n, round)
	e.Revisit = true
	return e
}

// rows returns the number of rows of each kind: those of blocks under their letters there, and
// others under the first letter of their keys.
func rows(t *testing.T, s *Store) map[byte]int {
	t.Helper()
	n := map[byte]int{}
	err := s.view(t.Context(), func(txn *badgerdb.Txn) error {
		it := txn.NewIterator(badgerdb.IteratorOptions{})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			key := it.Item().Key()
			if key[0] == keyBlock {
				n[key[len(blockKey(0))]]++
			} else {
				n[key[0]]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// wantRounds checks that a reader sees each of the pages 0 to n-1 once, in the given round.
func wantRounds(t *testing.T, s *Store, n, round int) {
	t.Helper()
	seen := 0
	for page, err := range s.Changes(t.Context(), "", store.WantText) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; page.Record.Words != round || page.Text == "" {
			t.Fatalf("%s is of round %d with text %q, want round %d", page.Record.URL, page.Record.Words, page.Text, round)
		}
	}
	if seen != n {
		t.Fatalf("%d pages, want %d", seen, n)
	}
}

// The data of an earlier visit stays on disk until enough of it is obsolete, but no reader sees it.
// Then all of it is deleted, in steps.
func TestObsolete(t *testing.T) {
	const pages = 40
	s := openTest(t, t.TempDir())
	s.minSweep = 3 * pages
	for round := range 3 {
		for n := range pages {
			commit(t, s, revisited(n, round))
		}
		wantRounds(t, s, pages, round)
		if got := rows(t, s); got[keyRecord] != (round+1)*pages || got[keyObsolete] != round*pages {
			t.Fatalf("round %d: %d records and %d notes", round, got[keyRecord], got[keyObsolete])
		}
	}
	s = killed(t, s) // the next process continues with the same counts
	s.minSweep = 3 * pages
	for n := range pages {
		commit(t, s, revisited(n, 3))
	}
	wantRounds(t, s, pages, 3)
	got := rows(t, s)
	if got[keyObsolete] != 1 || got[keyRecord] != pages+1 || got[keyText] != pages+1 || s.counters.Obsolete != 1 { // one: the visit that the commit with the sweep replaced
		t.Errorf("after the sweep there are %d notes, %d records and %d texts, and the counters say %d", got[keyObsolete], got[keyRecord], got[keyText], s.counters.Obsolete)
	}
}

// A sweep may end after any of its transactions. Nothing is visible twice, and the next sweep
// deletes the rest.
func TestKilledInTheMiddleOfASweep(t *testing.T) {
	const pages = 600
	for stop := 1; ; stop++ {
		s := openTestWith(t, t.TempDir(), Options{})
		for n := range pages {
			commit(t, s, revisited(n, 0))
		}
		for n := range pages - 1 {
			commit(t, s, revisited(n, 1))
		}
		s.minSweep = pages
		flushes := 0
		s.beforeFlush = func() error {
			if flushes++; flushes == stop {
				return errKilled
			}
			return nil
		}
		err := commitError(t, s, revisited(pages-1, 1))
		if err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		finished := err == nil
		again := killed(t, s)
		if finished {
			wantRounds(t, again, pages, 1)
		}
		again.minSweep = 1
		for n := range pages {
			commit(t, again, revisited(n, 2))
		}
		wantRounds(t, again, pages, 2)
		if got := rows(t, again); int64(got[keyObsolete]) != again.counters.Obsolete || got[keyRecord] != pages+got[keyObsolete] {
			t.Fatalf("stopped at %d: %d records and %d notes, and the counters say %d", stop, got[keyRecord], got[keyObsolete], again.counters.Obsolete)
		}
		if finished {
			if stop < 2 {
				t.Error("the sweep took a single transaction, which tests nothing")
			}
			return
		}
	}
}

// A store that deletes all obsolete data with the next commit keeps all promises.
func TestStoreThatSweepsAtOnce(t *testing.T) {
	long(t)
	storetest.Run(t, func(t *testing.T) store.Store {
		s := openTest(t, t.TempDir())
		s.minSweep = 1
		return s
	})
}
