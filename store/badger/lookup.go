package badger

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/store"
	"skink/store/badger/postings"
)

// Lookup implements [store.Index]. It searches the index, and reads from badger only the visits
// found there.
func (s *Store) Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error) {
	all := make([]store.Found, len(asks))
	for i := range asks {
		var err error
		if all[i], err = s.lookup(ctx, &asks[i]); err != nil {
			return nil, fmt.Errorf("look up page %s: %w", asks[i].ID, err)
		}
	}
	return all, nil
}

// lookup answers one Ask. Before it reads the index, it records the number of the last commit as a
// mark. So it may find a page committed after the mark. That is harmless, because Commit then
// refuses the verdict as stale.
func (s *Store) lookup(ctx context.Context, ask *store.Ask) (f store.Found, err error) {
	f.Mark = store.MarkAt(s.visible.Load())
	if f.Copy, err = s.firstCopy(ctx, ask); err == nil && f.Copy != nil && f.Copy.Follows() {
		f.Followed, err = s.followed(ctx, f.Copy.Leader)
	}
	if err != nil || f.Copy != nil {
		return f, err
	}
	var met map[uint64]int
	f.Full = make([]bool, len(ask.Keys))
	var nums []uint64
	for _, i := range s.index.Among(ask.Keys, postings.Band, nil) {
		if nums, f.Full[i], err = s.index.Find(ctx, ask.Keys[i], postings.Band, ask.Limit, nums[:0]); err != nil {
			return f, err
		}
		if len(nums) > 0 && met == nil {
			met = make(map[uint64]int, 2*len(nums))
		}
		for _, num := range nums {
			met[num]++
		}
	}
	places := dedup.Met(met, ask.Meet)
	if len(places) == 0 {
		return f, nil
	}
	err = s.view(ctx, func(txn *badgerdb.Txn) error {
		f.Leaders, err = s.leadersAt(txn, places, met, ask.ID)
		return err
	})
	return f, err
}

// leadersAt reads the leaders with the visit numbers in places, except the leader whose id equals
// not. shared maps a visit number to [store.Leader.Shared]. If a page was visited again, its
// earlier visits no longer have a sketch.
func (s *Store) leadersAt(txn *badgerdb.Txn, places []uint64, shared map[uint64]int, not dedup.Hash) ([]store.Leader, error) {
	leaders := make([]store.Leader, 0, len(places))
	for _, num := range places {
		l := s.sketches.get(num)
		if l == nil {
			x, err := indexedAt(txn, num)
			if err != nil {
				return nil, err
			}
			if x.sketch == nil {
				continue
			}
			l = &store.Leader{ID: x.id, Hash: x.hash, Sketch: *x.sketch}
			s.sketches.put(num, *l)
		}
		if l.ID != not {
			leaders = append(leaders, *l)
			leaders[len(leaders)-1].Shared = shared[num]
		}
	}
	return leaders, nil
}

// A sketchCache holds leaders that lookups have read. Thousands of pages may share a template
// without being duplicates. The lookup of each such page finds up to [dedup.MaxMet] leaders,
// usually the same ones. Reading a thousand sketches takes about 2 ms from badger, and 0.1 ms from
// the cache.
//
// The slot of a leader is its visit number modulo the size of the cache. A cached sketch never has
// to be removed: the sketch of a visit does not change, and if the page is visited again, the index
// no longer returns the old number.
type sketchCache [1 << 15]atomic.Pointer[placedLeader]

// A placedLeader is a leader with its visit number. It takes 384 bytes, so a full sketchCache takes
// 13 MB.
type placedLeader struct {
	place uint64
	store.Leader
}

func (c *sketchCache) slot(place uint64) *atomic.Pointer[placedLeader] {
	return &c[place%uint64(len(c))]
}

func (c *sketchCache) get(place uint64) *store.Leader {
	if l := c.slot(place).Load(); l != nil && l.place == place {
		return &l.Leader
	}
	return nil
}

func (c *sketchCache) put(place uint64, l store.Leader) {
	c.slot(place).Store(&placedLeader{place, l})
}

// firstCopy returns the record of the earliest page that has one of the text hashes of ask, or nil.
// Usually there is no such page, and then badger is not read.
func (s *Store) firstCopy(ctx context.Context, ask *store.Ask) (first *store.Record, err error) {
	var least uint64
	for _, h := range ask.Hashes {
		if nums, _, err := s.index.Find(ctx, filterKey(h), postings.Hash, 1, nil); err != nil || len(nums) == 0 {
			if err != nil {
				return nil, err
			}
			continue
		}
		err = s.view(ctx, func(txn *badgerdb.Txn) error {
			num, err := s.posted(ctx, txn, h, func(value []byte) (bool, error) {
				if !bytes.HasPrefix(value, h[:]) {
					return false, nil
				}
				r, err := decodeRecord(value)
				return err == nil && r.ID != ask.ID, err
			})
			if err == nil && num != 0 && (first == nil || num < least) {
				least = num
				first, err = recordAt(txn, num)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return first, nil
}

func (s *Store) followed(ctx context.Context, id dedup.Hash) (r *store.Record, err error) {
	err = s.view(ctx, func(txn *badgerdb.Txn) error {
		u, err := s.known(txn, id)
		if err == nil && u.num != 0 {
			r, err = recordAt(txn, u.num)
		}
		return err
	})
	return r, err
}

// byID returns the visit number of the page that is indexed under id, or 0 if there is none.
func (s *Store) byID(txn *badgerdb.Txn, id dedup.Hash) (uint64, error) {
	return s.posted(context.Background(), txn, id, func(value []byte) (bool, error) {
		r, err := decodeRecord(value)
		return err == nil && r.ID == id, nil
	})
}

// posted calls accept with the stored record of each visit that is indexed under the first half of
// h, earliest first, until accept returns true. It returns the number of that visit, or 0 if there is
// none. Two hashes rarely share their first half, so posted usually reads few visits.
func (s *Store) posted(ctx context.Context, txn *badgerdb.Txn, h dedup.Hash, accept func(value []byte) (bool, error)) (num uint64, err error) {
	var nums []uint64
	for limit, more := 4, true; more; limit *= 16 {
		seen := len(nums)
		if nums, more, err = s.index.Find(ctx, filterKey(h), postings.Hash, limit, nums[:0]); err != nil {
			return 0, err
		}
		for _, num = range nums[min(seen, len(nums)):] {
			found := false
			_, err := get(txn, pageKey(keyRecord, num), func(value []byte) (err error) {
				found, err = accept(value)
				return err
			})
			if err != nil || found {
				return num, err
			}
		}
	}
	return 0, nil
}
