package badger

import (
	"testing"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// A lookup that finds the leaders of an earlier lookup does not read their sketches again. A
// leader that was visited again is not found under its old visit number.
func TestLookupReadsASketchOnce(t *testing.T) {
	s, err := Open(t.TempDir(), Options{Create: true, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const leaders = 20
	var ids []dedup.Hash
	commit := func(n int, e *store.Entry) {
		t.Helper()
		e.Record.ID, e.Record.URL, e.Record.Kind, e.Record.Verdict = sampleID(n), sampleURL(n), store.Page, dedup.Unique
		e.State, e.Hash = frontier.Fetched, e.Record.Hash
		outcomes, err := s.Commit(t.Context(), []*store.Entry{e})
		if err != nil || outcomes[0] != store.Written {
			t.Fatal(outcomes, err)
		}
	}
	for n := range leaders {
		commit(n, &store.Entry{Record: store.Record{Fetch: store.Fetch{Hash: dedup.Hash{1, byte(n)}}}, Sketch: &dedup.Sketch{uint32(n)}, Keys: []uint64{84}})
		ids = append(ids, sampleID(n))
	}
	lookUp := func(want []dedup.Hash) {
		t.Helper()
		found, err := s.Lookup(t.Context(), []store.Ask{{Keys: []uint64{84}, Limit: dedup.MaxPosting}})
		if err != nil {
			t.Fatal(err)
		}
		if got := found[0].Leaders; len(got) != len(want) {
			t.Fatalf("%d leaders, want %d", len(got), len(want))
		}
		for i, l := range found[0].Leaders {
			if l.ID != want[i] || sampleID(int(l.Sketch[0])) != l.ID {
				t.Errorf("leader %d is %s with sketch %d, want %s", i, l.ID, l.Sketch[0], want[i])
			}
		}
	}
	lookUp(ids)
	err = s.db.Update(func(txn *badgerdb.Txn) error { // delete the sketches, so that reading one again would fail
		for place := range uint64(leaders) {
			if err := txn.Delete(pageKey(keySketch, place+1)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	lookUp(ids)
	commit(7, &store.Entry{Revisit: true, Record: store.Record{Fetch: store.Fetch{Hash: dedup.Hash{2}}}, Sketch: &dedup.Sketch{100}, Keys: []uint64{85}})
	lookUp(append(ids[:7:7], ids[8:]...))
}

// Leaders that share a slot of the cache replace each other, and are not confused.
func TestSketchCache(t *testing.T) {
	var c sketchCache
	const place = 5
	other := place + uint64(len(c))
	if c.get(place) != nil {
		t.Error("an empty cache has a leader")
	}
	c.put(place, store.Leader{ID: dedup.Hash{1}})
	if l := c.get(place); l == nil || l.ID != (dedup.Hash{1}) || c.get(other) != nil {
		t.Errorf("at the place %v, at another %v", l, c.get(other))
	}
	c.put(other, store.Leader{ID: dedup.Hash{2}})
	if l := c.get(other); l == nil || l.ID != (dedup.Hash{2}) || c.get(place) != nil {
		t.Errorf("at the place %v, at the one before %v", l, c.get(place))
	}
}
