package badger

import (
	"fmt"
	"slices"
	"testing"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/store"
	"skink/store/badger/postings"
)

// commitAt writes an entry with a visit number of the test's choice, which must be above all
// earlier numbers.
func commitAt(t *testing.T, s *Store, place uint64, e *store.Entry) {
	t.Helper()
	s.last = place - 1
	commit(t, s, e)
}

// Pages are read in the order of their visit numbers, wherever they are in their blocks, and
// whichever blocks between them do not exist.
func TestBlocks(t *testing.T) {
	ctx := t.Context()
	s := openTest(t, t.TempDir())
	const block = pagesInBlock
	all := []uint64{1, block - 1, block, block + 1, 2*block + 7, 9 * block, 300*block - 1, 1 << 40, 1<<63 - 2, 1<<63 - 1}
	for i, place := range all {
		commitAt(t, s, place, numbered(i))
	}
	for _, s := range []*Store{s, killed(t, s)} {
		for _, after := range slices.Concat(all, []uint64{0, 2, block - 2, block + 2, 3 * block, 10 * block, 1<<40 + 1, 1 << 50}) {
			var got []uint64
			for c, err := range s.Changes(ctx, store.CursorAt(after), store.WantText) {
				if err != nil {
					t.Fatal(err)
				}
				place, err := c.Cursor.Place()
				if err != nil {
					t.Fatal(err)
				}
				if want := fmt.Sprint(slices.Index(all, place)); c.Text != want {
					t.Errorf("text at place %d is %q, want %q", place, c.Text, want)
				}
				got = append(got, place)
			}
			want := slices.DeleteFunc(slices.Clone(all), func(place uint64) bool { return place <= after })
			if !slices.Equal(got, want) {
				t.Errorf("changes after %d are at %d, want %d", after, got, want)
			}
		}
		for i, place := range all {
			if places, _ := placesUnder(t, s, uint64(i), 9); !slices.Equal(places, []uint64{place}) {
				t.Errorf("key %d: %d; want place %d", i, places, place)
			}
		}
	}
}

// The visits of a store are read from any number on, with the postings that were added when they were committed.
func TestPostingsOfVisits(t *testing.T) {
	s := openTest(t, t.TempDir())
	all := []uint64{3, 4, 5, pagesInBlock, 2 * pagesInBlock, 9 * pagesInBlock, 9*pagesInBlock + 1}
	for i, place := range all {
		commitAt(t, s, place, numbered(i))
	}
	for _, from := range append([]uint64{0, 6, 5 * pagesInBlock}, all...) {
		var got, want []string
		err := s.in(t.Context(), func(r reader) error {
			sketches := readSketches(r.txn)
			defer sketches.close()
			return r.scanRecords(t.Context(), from, func(v visitValue) error {
				list, err := v.postings(sketches)
				got = append(got, fmt.Sprint(list))
				return err
			})
		})
		for i, place := range all {
			if place >= from {
				e := numbered(i)
				want = append(want, fmt.Sprint([]postings.Posted{
					{Num: place, Kind: postings.Band, Keys: e.Keys},
					{Num: place, Kind: postings.Hash, Keys: []uint64{filterKey(e.Record.ID)}},
				}))
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("from %d: %v\n got %s\nwant %s", from, err, got, want)
		}
	}
}

// The keys of blocks come after all other keys, and the newest block comes first. This keeps
// compaction cheap; see keys.go.
func TestNewBlocksComeBeforeOldOnes(t *testing.T) {
	s := openTest(t, t.TempDir())
	for i, num := range []uint64{1, 2 * pagesInBlock, 3 * pagesInBlock} {
		e := numbered(i)
		e.Record.Leader = entry(99).Record.ID
		commitAt(t, s, num, e)
	}
	var list []uint64
	err := s.scan(t.Context(), nil, func(item *badgerdb.Item) error {
		key := item.Key()
		if key[0] == keyBlock {
			list = append(list, blockOf(key))
		} else if len(list) > 0 {
			t.Errorf("key %q comes after the blocks", key)
		}
		return nil
	})
	if want := []uint64{3, 2, 0}; err != nil || !slices.Equal(slices.Compact(list), want) {
		t.Errorf("blocks are %d, %v; want %d", slices.Compact(list), err, want)
	}
}

// numbered makes a unique page with text i and key i.
func numbered(i int) *store.Entry {
	e := entry(i + 1)
	e.Text = store.Pack([]byte(fmt.Sprint(i)))
	e.Keys = []uint64{uint64(i)}
	return e
}

// The checksum of a block of badger is verified once: reading the same pages again does not verify
// it again.
func TestBlocksAreCheckedOnce(t *testing.T) {
	dir := t.TempDir()
	const pages = 6000
	s := openTest(t, dir)
	fill(t, s, pages)
	if err := s.Close(); err != nil { // Close writes everything into tables
		t.Fatal(err)
	}
	s = openTest(t, dir)
	read := func() (hits, misses uint64) {
		m := s.db.BlockCacheMetrics()
		hits, misses = m.Hits(), m.Misses()
		for n := 1; n <= pages; n += 20 {
			if recordOf(t, s, n) == nil {
				t.Fatalf("page %d is not there", n)
			}
		}
		return m.Hits() - hits, m.Misses() - misses
	}
	// The cache admits a block a moment after it is read, so the number of passes varies.
	const most = 1000
	var hits, misses uint64
	for range most {
		if hits, misses = read(); misses <= hits/10 {
			return
		}
		time.Sleep(time.Millisecond) // let the cache admit blocks
	}
	t.Errorf("after %d passes, %d blocks were checked again, %d were not", most, misses, hits)
}
