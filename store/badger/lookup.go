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

// Lookup asks the index, and reads badger only where the index finds something.
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

// lookup answers one Ask. It sets the mark before it reads the index. So it may find a page that is
// committed after the mark, which is harmless: such a page makes the verdict stale at its commit.
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
		f.Leaders, err = s.leadersAt(txn, places, ask.ID)
		return err
	})
	return f, err
}

// leadersAt reads the leaders at some places, except the page with the id not. The sketch of a
// place is gone if its page was visited again.
func (s *Store) leadersAt(txn *badgerdb.Txn, places []uint64, not dedup.Hash) ([]store.Leader, error) {
	leaders := make([]store.Leader, 0, len(places))
	for _, num := range places {
		l := s.sketches.get(num)
		if l == nil {
			read, found, err := sketchAt(txn, num)
			if err != nil {
				return nil, err
			}
			if !found {
				continue
			}
			s.sketches.put(num, read)
			l = &read
		}
		if l.ID != not {
			leaders = append(leaders, *l)
		}
	}
	return leaders, nil
}

// A sketchCache holds leaders that look-ups have read, by their place. Thousands of pages may share
// a template without being duplicates. Each of them meets up to [dedup.MaxMet] leaders, and mostly
// the same ones. To read a thousand sketches from badger takes some 2 ms, from the cache 0.1 ms.
//
// Each place has one slot, which it shares with the places that are a multiple of the size away. A
// sketch never changes. If its page is visited again, the index no longer finds its place.
type sketchCache [1 << 15]atomic.Pointer[placedLeader]

// A placedLeader is a leader with its place. It takes 384 bytes, so a full sketchCache takes 13 MB.
type placedLeader struct {
	place uint64
	store.Leader
}

func (c *sketchCache) slot(place uint64) *atomic.Pointer[placedLeader] {
	return &c[place%uint64(len(c))]
}

// get returns the leader at a place, or nil if it is not in the cache. The caller must not change
// it.
func (c *sketchCache) get(place uint64) *store.Leader {
	if l := c.slot(place).Load(); l != nil && l.place == place {
		return &l.Leader
	}
	return nil
}

func (c *sketchCache) put(place uint64, l store.Leader) {
	c.slot(place).Store(&placedLeader{place, l})
}

// firstCopy returns the earliest page posted under one of the hashes. Usually there is none, and
// then badger is not read.
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
			num, r, err := s.posted(ctx, txn, h, func(value []byte) (*store.Record, error) {
				if !bytes.HasPrefix(value, h[:]) {
					return nil, nil
				}
				r, err := decodeRecord(value)
				if err != nil || r.ID == ask.ID {
					return nil, err
				}
				return r, nil
			})
			if err == nil && num != 0 && (first == nil || num < least) {
				first, least = r, num
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return first, nil
}

// followed returns the record of a page, nil if there is none.
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

// byID returns the place of a page that is posted under its id, or 0.
func (s *Store) byID(txn *badgerdb.Txn, id dedup.Hash) (uint64, error) {
	num, _, err := s.posted(context.Background(), txn, id, func(value []byte) (*store.Record, error) {
		if r, err := decodeRecord(value); err == nil && r.ID == id {
			return r, nil
		}
		return nil, nil
	})
	return num, err
}

// posted returns the lowest place that is posted under the first half of h and whose record accept
// returns, with that record; 0: there is none. Two hashes hardly ever share their first half, so it
// reads few places at first.
func (s *Store) posted(ctx context.Context, txn *badgerdb.Txn, h dedup.Hash, accept func(value []byte) (*store.Record, error)) (num uint64, r *store.Record, err error) {
	var nums []uint64
	for limit, more := 4, true; more; limit *= 16 {
		seen := len(nums)
		if nums, more, err = s.index.Find(ctx, filterKey(h), postings.Hash, limit, nums[:0]); err != nil {
			return 0, nil, err
		}
		for _, num = range nums[min(seen, len(nums)):] {
			_, err := get(txn, pageKey(keyRecord, num), func(value []byte) (err error) {
				r, err = accept(value)
				return err
			})
			if err != nil || r != nil {
				return num, r, err
			}
		}
	}
	return 0, nil, nil
}
