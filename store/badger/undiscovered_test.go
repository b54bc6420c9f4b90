package badger

import (
	"testing"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/frontier"
	"skink/store"
)

// A page whose URL was never in the frontier has no key u. The index finds it by its id: during the
// commit that writes it, after that commit, and after a kill. It is found only once, also when its
// URL is discovered later, in the same commit or in another.
func TestUndiscovered(t *testing.T) {
	ctx := t.Context()
	s := openTest(t, t.TempDir())
	linking := entry(4)
	linking.Links = []frontier.Item{{URL: entry(1).Record.URL}, {URL: "https://example.com/new"}}
	commit(t, s, entry(1), entry(2), entry(1), linking)
	checkUndiscovered(t, s, 2) // the two URLs that were linked
	checkUndiscovered(t, killed(t, s), 2)

	// Page 2 is discovered too, fetched, and its record kept.
	item := frontier.Item{URL: entry(2).Record.URL}
	if n, err := s.Discover(ctx, []frontier.Item{item, item}); err != nil || n != 1 {
		t.Errorf("Discover = %d, %v; want 1", n, err)
	}
	commit(t, s, entry(2))
	checkUndiscovered(t, s, 3)
	checkCounts(t, s, frontier.Counts{Pending: 2, Fetched: 1})
	checkUndiscovered(t, killed(t, s), 3)
}

// checkUndiscovered expects pages 1, 2 and 4, and a number of keys u.
func checkUndiscovered(t *testing.T, s *Store, keys int) {
	t.Helper()
	for _, n := range []int{1, 2, 4} {
		if recordOf(t, s, n) == nil {
			t.Errorf("page %d has no record", n)
		}
	}
	records := 0
	for _, err := range s.Changes(t.Context(), "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		records++
	}
	got := 0
	err := s.scan(t.Context(), []byte{keyURL}, func(*badgerdb.Item) error { got++; return nil })
	if records != 3 || got != keys || err != nil {
		t.Errorf("%d records and %d keys u, %v; want 3 and %d", records, got, err, keys)
	}
}
