package badger

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/store"
	"skink/store/badger/postings"
)

// openSmall opens a store whose index writes a segment after every few postings.
func openSmall(t testing.TB, dir string, step func(string)) *Store {
	t.Helper()
	s, err := Open(dir, Options{
		Create: true, Reserve: -1,
		tune:  func(o *badgerdb.Options) { o.MemTableSize = 4 << 20 },
		index: postings.Options{Table: 5, Fan: 2, Step: step},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// All promises hold when nearly every commit writes a segment and merges some.
func TestStoreOfSmallSegments(t *testing.T) {
	if os.Getenv("SKINK_LONG") != "full" {
		t.Skip("SKINK_LONG=full runs it")
	}
	storetest.Run(t, func(t *testing.T) store.Store { return openSmall(t, t.TempDir(), nil) })
	storetest.RunDurable(t, func(t *testing.T, dir string) store.Store { return openSmall(t, dir, nil) })
}

// A postingModel holds the expected results of lookups.
type postingModel struct {
	keys   map[uint64][]uint64
	hashes map[dedup.Hash]uint64
	pages  []int
}

// commit writes a page with some keys from a small set, to the store and to the model.
func (m *postingModel) commit(t *testing.T, s *Store, r *rand.Rand, n int) {
	t.Helper()
	e := entry(n)
	e.Keys = nil
	for range r.IntN(4) {
		e.Keys = append(e.Keys, r.Uint64N(6)*0x0123456789ABCDEF)
	}
	e.Hash = dedup.Hash{0: byte(r.IntN(3)), 9: byte(r.IntN(5)), 15: 1} // many hashes share their first half
	commit(t, s, e)
	place := s.visible.Load()
	for _, key := range e.Keys {
		if !slices.Contains(m.keys[key], place) {
			m.keys[key] = append(m.keys[key], place)
		}
	}
	if _, ok := m.hashes[e.Hash]; !ok {
		m.hashes[e.Hash] = place
	}
	m.pages = append(m.pages, n)
}

// compare looks up all keys and hashes, and compares the answers with the model.
func (m *postingModel) compare(t *testing.T, what string, s *Store) {
	t.Helper()
	for key, want := range m.keys {
		for _, limit := range []int{0, 1, 2, len(want) - 1, len(want), 1000} {
			limit = max(limit, 0)
			got, more := placesUnder(t, s, key, limit)
			if !slices.Equal(got, want[:min(limit, len(want))]) || more != (limit < len(want)) {
				t.Fatalf("%s: key %x, limit %d: got %d, more %v; want of %d", what, key, limit, got, more, want)
			}
		}
	}
	for h, want := range m.hashes {
		if got := placeOfText(t, s, h); got != want {
			t.Fatalf("%s: text %s: %d; want %d", what, h, got, want)
		}
	}
	if placeOfText(t, s, dedup.Hash{15: 2}) != 0 {
		t.Fatalf("%s: a text that shares half its hash with others is found", what)
	}
	for _, n := range m.pages {
		if recordOf(t, s, n) == nil {
			t.Fatalf("%s: page %d has no record", what, n)
		}
	}
}

func (m *postingModel) clone() *postingModel {
	c := &postingModel{keys: map[uint64][]uint64{}, hashes: maps.Clone(m.hashes), pages: slices.Clone(m.pages)}
	for key, nums := range m.keys {
		c.keys[key] = slices.Clone(nums)
	}
	return c
}

func newPostingModel() *postingModel {
	return &postingModel{keys: map[uint64][]uint64{}, hashes: map[dedup.Hash]uint64{}}
}

// After each step of the index the process may be killed. The store that is opened next finds
// everything, and can be written to.
func TestIndexKilledAtEachStep(t *testing.T) {
	if os.Getenv("SKINK_LONG") == "" {
		t.Skip("SKINK_LONG=short runs it")
	}
	r := rand.New(rand.NewPCG(1, 2))
	m := newPostingModel()
	type copied struct{ dir, step string }
	var copies []copied
	seen := map[string]int{}
	var dir string
	s := openSmall(t, filepath.Join(t.TempDir(), "store"), func(step string) {
		if seen[step]++; seen[step] > 4 && seen[step]%8 != 0 {
			return
		}
		c := copied{filepath.Join(t.TempDir(), "copy"), fmt.Sprint(step, " ", seen[step])}
		copyDir(t, dir, c.dir)
		copies = append(copies, c)
	})
	s.index.Settle()
	dir = s.dir
	for _, i := range r.Perm(60) {
		m.commit(t, s, r, i+1)
		s.index.Settle()
		m.compare(t, "running", s)
		for _, c := range copies {
			again := openSmall(t, c.dir, nil)
			now := m.clone()
			now.compare(t, "killed after "+c.step, again)
			for n := range 9 {
				now.commit(t, again, r, 1000+n)
			}
			now.compare(t, "killed after "+c.step+", and on", again)
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
			now.compare(t, "and opened again", openSmall(t, c.dir, nil))
		}
		copies = nil
	}
	for _, step := range []string{"table written", "manifest switched", "merge written", "merged removed"} {
		if seen[step] == 0 {
			t.Errorf("%s: never seen", step)
		}
	}
	t.Logf("steps: %v", seen)
}

// Close does not wait for the end of a merge, and leaves a consistent store.
func TestCloseInTheMiddleOfAMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	m := newPostingModel()
	dir := t.TempDir()
	for round := range 20 {
		s := openSmall(t, dir, nil)
		m.compare(t, fmt.Sprint("round ", round), s)
		for n := range 20 {
			m.commit(t, s, r, round*20+n+1)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Files of the index that are missing or damaged are made again from the visits. Files that no
// manifest names are removed. Damage in the middle of a file is an error for a lookup that reads
// it, and the next opening repairs it.
func TestIndexDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	m := newPostingModel()
	whole := t.TempDir()
	s := openSmall(t, whole, nil)
	for n := range 50 {
		m.commit(t, s, r, n+1)
	}
	s.index.Settle()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		edit func([]byte) []byte
	}{
		{"missing", nil},
		{"empty", func([]byte) []byte { return nil }},
		{"cut", func(b []byte) []byte { return b[:len(b)-1] }},
		{"end garbled", func(b []byte) []byte { b[len(b)-20] ^= 1; return b }},
		{"filter garbled", func(b []byte) []byte { b[0] ^= 1; return b }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "copy")
			copyDir(t, whole, dir)
			names, _ := filepath.Glob(filepath.Join(dir, "*"+postings.SegmentExt)) // names of the segments before the test adds files that the manifest does not name
			leftOver := []string{"000000" + postings.SegmentExt, "999999" + postings.SegmentExt}
			for _, name := range leftOver {
				write(t, dir, name, "left over")
			}
			if len(names) == 0 {
				t.Fatal("no segment")
			}
			if tt.edit != nil {
				edit(t, names[0], tt.edit)
			} else if err := os.Remove(names[0]); err != nil {
				t.Fatal(err)
			}
			s := openSmall(t, dir, nil)
			m.compare(t, "opened", s)
			s.index.Settle()
			m.compare(t, "settled", s)
			for _, name := range list(t, dir) {
				if slices.Contains(leftOver, name) {
					t.Errorf("%s is still there", name)
				}
			}
		})
	}
	t.Run("block garbled", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "copy")
		copyDir(t, whole, dir)
		names, _ := filepath.Glob(filepath.Join(dir, "*"+postings.SegmentExt))
		for _, name := range names {
			edit(t, name, func(b []byte) []byte { b[len(b)-41] ^= 1; return b }) // change the last byte before the foot of the file
		}
		s, err := Open(dir, Options{Reserve: -1})
		if err != nil {
			t.Fatal(err)
		}
		var last error
		for key := range m.keys {
			if _, _, err := s.index.Find(t.Context(), key, postings.Band, 9, nil); err != nil {
				last = err
			}
		}
		if !errors.Is(last, store.ErrCorrupt) {
			t.Errorf("error is %v, want %v", last, store.ErrCorrupt)
		}
		s.Close() // Close may report the damage too, if a merge found it first
		m.compare(t, "opened again", openSmall(t, dir, nil))
	})
}
