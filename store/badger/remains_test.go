package badger

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// Two pages were visited again, and then blocks with some of the keys of the first or second visit
// were lost. In a copy, after one more crawl, each page must have one record, that of its last
// visit. No sketch of an earlier visit may be found, and a sweep may delete only obsolete visits.
func TestRemainsAfterRevisits(t *testing.T) {
	gone, obsolete := func(num uint64) []byte { return numKey(keyGone, num) }, func(num uint64) []byte { return numKey(keyObsolete, num) }
	record := func(num uint64) []byte { return pageKey(keyRecord, num) }
	id := entry(1).Record.ID
	for _, c := range []struct {
		name string
		lost [][]byte
		left int // number of pages in the copy
	}{
		{"nothing", nil, 2},
		{"both notes", [][]byte{gone(1), obsolete(1)}, 2},
		{"the note of replaced visits", [][]byte{gone(1)}, 2},
		{"the note of obsolete visits", [][]byte{obsolete(1)}, 2},
		{"the last visit", [][]byte{record(3)}, 1},
		{"the text of the last visit", [][]byte{partKey(keyText, 3, 0)}, 1},
		{"the last visit and both notes", [][]byte{gone(1), obsolete(1), record(3)}, 1},
		{"the last visit, its URL and both notes", [][]byte{gone(1), obsolete(1), partKey(keyText, 3, 0), key1(keyURL, id[:])}, 1},
		{"the counters, and all later data", [][]byte{{keyCounters}, record(3), record(4)}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openTest(t, t.TempDir())
			for n := range 2 {
				if _, err := s.Discover(t.Context(), []frontier.Item{{URL: entry(n + 1).Record.URL}}); err != nil {
					t.Fatal(err)
				}
				commit(t, s, visitOf(n+1, 1))
			}
			for n := range 2 { // visits 3 and 4
				commit(t, s, revisited(n+1, 2))
			}
			err := s.db.Update(func(txn *badgerdb.Txn) error {
				for _, k := range c.lost {
					if err := txn.Delete(k); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			damaged := s
			s = openTest(t, filepath.Join(t.TempDir(), "copy"))
			err = damaged.in(t.Context(), func(r reader) error {
				left, err := readRemains(t.Context(), r)
				if err != nil {
					return err
				}
				return store.Copy(t.Context(), s, left, func(int64) {})
			})
			if err != nil {
				t.Fatal(err)
			}
			if end, err := s.End(t.Context()); err != nil || c.left > 0 && end != "4" {
				t.Errorf("the copy ends at %s, %v; want 4", end, err)
			}
			if left := len(roundsOf(t, s)); left != c.left {
				t.Errorf("%d pages are left, want %d", left, c.left)
			}
			for n := range 2 {
				if state, err := s.State(t.Context(), entry(n+1).Record.URL); err != nil {
					t.Fatal(err)
				} else if state == frontier.Pending {
					commit(t, s, visitOf(n+1, 2))
				}
			}
			want := map[string]int{entry(1).Record.URL: 2, entry(2).Record.URL: 2}
			s.minSweep = 1
			for _, moment := range []string{"after the next crawl", "after a sweep"} {
				if got := roundsOf(t, s); !maps.Equal(got, want) {
					t.Errorf("%s, the last rounds of the pages are %v, want %v", moment, got, want)
				}
				found, err := s.Lookup(t.Context(), []store.Ask{{ID: dedup.Hash{1}, Keys: []uint64{1 << 40}, Limit: 10}})
				if err != nil {
					t.Fatal(err)
				}
				rounds := []uint32{}
				for _, l := range found[0].Leaders {
					rounds = append(rounds, l.Sketch[0])
				}
				if !slices.Equal(rounds, []uint32{2}) {
					t.Errorf("%s, a lookup finds sketches of rounds %d, want [2]", moment, rounds)
				}
				commit(t, s, entry(9)) // sweeps
				want[entry(9).Record.URL] = 0
			}
		})
	}
}

// visitOf returns page n as it is in a round of visits.
func visitOf(n, round int) *store.Entry {
	e := entry(n)
	e.Record.Words, e.Record.Hash = round, dedup.HashOf(fmt.Append(nil, n, round))
	e.Text = store.Pack(fmt.Appendf(nil, "text %d of round %d", n, round))
	e.Sketch = &dedup.Sketch{uint32(round)}
	e.Hash = e.Record.Hash
	return e
}

// roundsOf returns the rounds of all pages by URL. It fails if a page occurs twice.
func roundsOf(t *testing.T, s *Store) map[string]int {
	t.Helper()
	rounds := map[string]int{}
	for c, err := range s.Changes(t.Context(), "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := rounds[c.Record.URL]; twice {
			t.Errorf("%s occurs twice", c.Record.URL)
		}
		rounds[c.Record.URL] = c.Record.Words
	}
	return rounds
}
