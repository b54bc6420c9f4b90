package overlay

import (
	"fmt"
	"slices"
	"testing"

	"skink/dedup"
	"skink/frontier"
	"skink/internal/tools/storetest"
	"skink/store"
)

// fill commits leaders that have the given key.
func fill(t *testing.T, s store.Store, key uint64, names ...string) {
	t.Helper()
	var all []*store.Entry
	for _, name := range names {
		url := "https://example.org/" + name
		all = append(all, &store.Entry{
			Record: store.Record{URL: url, ID: dedup.HashOf([]byte(url)), Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}},
			State:  frontier.Fetched, Sketch: &dedup.Sketch{}, Keys: []uint64{key},
		})
	}
	outcomes, err := s.Commit(t.Context(), all)
	if err != nil || slices.ContainsFunc(outcomes, func(o store.Outcome) bool { return o != store.Written }) {
		t.Fatalf("Commit: %v, %v", outcomes, err)
	}
}

// numbered returns n names.
func numbered(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint(prefix, i))
	}
	return names
}

func lookup(t *testing.T, s *Store, ask store.Ask) store.Found {
	t.Helper()
	found, err := s.Lookup(t.Context(), []store.Ask{ask})
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

// A key may have more leaders in one store than a lookup reads. A verdict then does not depend on
// later leaders with that key, but only if the key is full in the store for new pages.
func TestCapped(t *testing.T) {
	for _, c := range []struct {
		name       string
		known, own int // numbers of leaders under key 7 in the two stores
		capped     bool
		basis      []uint64
	}{
		{"all are read", 2, 2, false, []uint64{7, 8}},
		{"the known store has more", 3, 1, true, []uint64{7, 8}},
		{"the store for new pages has more", 1, 3, true, []uint64{8}},
		{"both have more", 3, 3, true, []uint64{8}},
	} {
		known, own := storetest.NewMemory(), storetest.NewMemory()
		fill(t, known, 7, numbered("known", c.known)...)
		fill(t, own, 7, numbered("own", c.own)...)
		ask := store.Ask{Keys: []uint64{7, 8}, Limit: 2}
		found := lookup(t, New(own, known), ask)
		if got := found.Capped(); got != c.capped {
			t.Errorf("%s: capped is %v", c.name, got)
		}
		if got := found.Basis(ask).Keys; !slices.Equal(got, c.basis) {
			t.Errorf("%s: the basis has keys %v, want %v", c.name, got, c.basis)
		}
		if got, want := len(found.Leaders), min(c.known, 2)+min(c.own, 2); got != want {
			t.Errorf("%s: %d leaders, want %d", c.name, got, want)
		}
	}
}

// A verdict is stale if a leader was committed in the meantime under a key that is full in the
// known store.
func TestStaleUnderAKeyThatIsFullInTheKnownStore(t *testing.T) {
	known, own := storetest.NewMemory(), storetest.NewMemory()
	fill(t, known, 7, numbered("known", 3)...)
	s := New(own, known)
	ask := store.Ask{Keys: []uint64{7}, Limit: 2}
	found := lookup(t, s, ask)
	fill(t, own, 7, "rival")
	url := "https://example.org/late"
	outcomes, err := s.Commit(t.Context(), []*store.Entry{{
		Record: store.Record{URL: url, ID: dedup.HashOf([]byte(url)), Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}},
		State:  frontier.Fetched, Sketch: &dedup.Sketch{}, Keys: ask.Keys, Basis: found.Basis(ask),
	}})
	if err != nil || outcomes[0] != store.Stale {
		t.Errorf("Commit: %v, %v; want a stale entry", outcomes, err)
	}
}

// Each store returns its best leaders, up to the same limit.
func TestMostLeaders(t *testing.T) {
	known, own := storetest.NewMemory(), storetest.NewMemory()
	fill(t, known, 7, numbered("known", dedup.MaxMet+1)...)
	fill(t, own, 7, numbered("own", dedup.MaxMet+1)...)
	found := lookup(t, New(own, known), store.Ask{Keys: []uint64{7}, Limit: 2 * dedup.MaxMet})
	if got := len(found.Leaders); got != 2*dedup.MaxMet {
		t.Errorf("%d leaders, want %d", got, 2*dedup.MaxMet)
	}
}
