package badger

import (
	"fmt"
	"slices"
	"testing"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/store"
)

// Pages are found by number, and in the order of their numbers, wherever in
// their blocks they are and whatever blocks are missing between them.
func TestBlocks(t *testing.T) {
	ctx := t.Context()
	s := openTest(t, t.TempDir())
	const block = pagesInBlock
	all := []uint64{1, block - 1, block, block + 1, 2*block + 7, 9 * block, 300*block - 1, 1 << 40, maxNum - 1, maxNum}
	for i, num := range all {
		if err := s.Commit(ctx, []*store.Entry{numbered(num, i)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []*Store{s, killed(t, s)} {
		for _, from := range slices.Concat(all, []uint64{0, 2, block - 2, block + 2, 3 * block, 10 * block, 1<<40 + 1, 1 << 50, maxNum + 1}) {
			var got []uint64
			for r, err := range s.Records(ctx, from) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, r.Num)
			}
			want := slices.DeleteFunc(slices.Clone(all), func(num uint64) bool { return num < from })
			if !slices.Equal(got, want) {
				t.Errorf("records from %d are %d, want %d", from, got, want)
			}
		}
		for i, num := range all {
			if nums, _, err := s.Leaders(ctx, uint64(i), 9, nil); err != nil || !slices.Equal(nums, []uint64{num}) {
				t.Errorf("key %d: %d, %v; want page %d", i, nums, err, num)
			}
			if text, _, err := s.Text(ctx, num); err != nil || text != fmt.Sprint(i) {
				t.Errorf("text of page %d: %q, %v", num, text, err)
			}
		}
	}
}

// The journal is read from any entry on. It is in the order of its numbers
// however the pages' numbers come.
func TestJournalInBlocks(t *testing.T) {
	ctx := t.Context()
	s := openTest(t, t.TempDir())
	for i, num := range []uint64{5, 3, 2 * pagesInBlock, 4, pagesInBlock, 9 * pagesInBlock, 9*pagesInBlock + 1} {
		if err := s.Commit(ctx, []*store.Entry{numbered(num, i)}); err != nil {
			t.Fatal(err)
		}
	}
	for after := range s.seq + 2 {
		seqs := []uint64{}
		last, err := s.replay(after, func(seq uint64, _ *journalEntry) error {
			seqs = append(seqs, seq)
			return nil
		})
		want := []uint64{}
		for seq := after + 1; seq <= s.seq; seq++ {
			want = append(want, seq)
		}
		if err != nil || last != max(after, s.seq) || !slices.Equal(seqs, want) {
			t.Errorf("replay after %d: entries %d, last %d, %v; want %d", after, seqs, last, err, want)
		}
	}
}

// What grows with the pages is the end of all keys, and its newest block comes
// first: that is what keeps compaction cheap, see keys.go.
func TestNewBlocksComeBeforeOldOnes(t *testing.T) {
	s := openTest(t, t.TempDir())
	for i, num := range []uint64{1, 2 * pagesInBlock, 3 * pagesInBlock} {
		e := numbered(num, i)
		e.Record.Leader = 1
		if err := s.Commit(t.Context(), []*store.Entry{e}); err != nil {
			t.Fatal(err)
		}
	}
	var list []uint64
	err := s.scan(t.Context(), nil, nil, func(item *badgerdb.Item) error {
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

// numbered is a page of its own with that number, text i and key i.
func numbered(num uint64, i int) *store.Entry {
	e := entry(i + 1)
	e.Record.Num = num
	e.Text = store.Pack([]byte(fmt.Sprint(i)))
	e.Keys = []uint64{uint64(i)}
	return e
}
