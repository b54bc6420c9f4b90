package badger

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/store"
)

// # Packed and unpacked
//
// The store keeps pages packed. The methods Pages, Changes and Members unpack them. The server of
// package store/remote sends them packed, so a store's readers cost the crawl little processor
// time.

// PackedPages returns the stored data of the pages with the given ids, in the order of ids. It
// reads the pages in key order, because neighbors share a block, whose checksum is then verified
// only once.
func (r reader) PackedPages(ctx context.Context, ids []dedup.Hash, want store.Want) (pages []store.Packed, err error) {
	pages = make([]store.Packed, len(ids))
	err = r.in(ctx, func(r reader) error { return r.packedPages(ctx, ids, want, pages) })
	return pages, err
}

func (r reader) packedPages(ctx context.Context, ids []dedup.Hash, want store.Want, pages []store.Packed) error {
	order, nums := make([]int, len(ids)), make([]uint64, len(ids))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(ids[a][:], ids[b][:]) })
	for _, i := range order {
		u, err := r.s.known(r.txn, ids[i])
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return fmt.Errorf("read page %s: %w", ids[i], err)
		}
		nums[i] = u.num
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(nums[a], nums[b]) })
	for _, i := range order {
		var err error
		if nums[i] != 0 {
			pages[i], err = r.packedAt(nums[i], want)
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return fmt.Errorf("read page %s: %w", ids[i], err)
		}
	}
	return nil
}

// PackedChanges yields the pages committed after a cursor. Badger skips data that it cannot read.
// So if PackedChanges has read from the first page on and found fewer pages than the counters say,
// a table is damaged. It then yields an error at the end.
func (r reader) PackedChanges(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.PackedChange, error] {
	return each(ctx, r, func(r reader, yield func(*store.PackedChange) error) error {
		num, err := after.Place()
		if err != nil {
			return err
		}
		var got int64
		err = r.scanRecords(ctx, num+1, func(v visitValue) error {
			change, err := r.packedChange(v, want)
			if err != nil {
				return err
			}
			got++
			return yield(change)
		})
		if err == nil && num == 0 {
			err = r.countedAll(ctx, got)
		}
		return err
	})
}

func (r reader) packedChange(v visitValue, want store.Want) (*store.PackedChange, error) {
	change := &store.PackedChange{Cursor: store.CursorAt(v.num)}
	packed, err := packedRecord(v.value)
	if err == nil {
		change.Record = store.Updated(packed, v.update)
		_, err = r.fill(&change.Packed, v.num, want)
	}
	if err != nil {
		return nil, fmt.Errorf("read record %d: %w", v.num, err)
	}
	return change, nil
}

// PackedMembers yields the records of all members of the given leaders' clusters, cluster by
// cluster. Within a cluster, the highest resemblance comes first.
func (r reader) PackedMembers(ctx context.Context, leaders []dedup.Hash) iter.Seq2[[]byte, error] {
	return each(ctx, r, func(r reader, yield func([]byte) error) error {
		it := r.txn.NewIterator(badgerdb.IteratorOptions{Prefix: []byte{keyMember}})
		defer it.Close()
		for _, leader := range leaders {
			prefix := key1(keyMember, leader[:])
			for it.Seek(prefix); it.ValidForPrefix(prefix); it.Next() {
				num := lastNum(it.Item().Key())
				p, err := r.packedAt(num, store.WantRecord)
				if err == nil && p.Record == nil {
					err = fmt.Errorf("%w: page %d belongs to the cluster, but has no record", store.ErrCorrupt, num)
				}
				if err = cmp.Or(err, ctx.Err()); err != nil {
					return fmt.Errorf("read the members of cluster %s: %w", leader, err)
				}
				if err := yield(p.Record); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (r reader) packedAt(num uint64, want store.Want) (p store.Packed, err error) {
	found, err := get(r.txn, pageKey(keyRecord, num), func(value []byte) error {
		p.Record, err = packedRecordAt(r.txn, num, value)
		return err
	})
	if err == nil && found {
		_, err = r.fill(&p, num, want)
	}
	return p, err
}

// fill adds to p what is wanted of visit num. If the sketch is wanted, fill also returns the index keys.
func (r reader) fill(p *store.Packed, num uint64, want store.Want) (keys []uint64, err error) {
	if want&store.WantText != 0 {
		if p.Text, p.Kept, err = r.s.packedText(r.txn, num); err != nil {
			return nil, fmt.Errorf("read the text: %w", err)
		}
	}
	if want&store.WantSketch != 0 {
		x, err := indexedAt(r.txn, num)
		if err != nil {
			return nil, fmt.Errorf("read the sketch: %w", err)
		}
		p.Sketch, keys = x.sketch, x.keys
	}
	if want&store.WantLinks != 0 {
		if p.Links, _, err = packedParts(r.txn, keyOut, num); err != nil {
			return nil, fmt.Errorf("read the links: %w", err)
		}
	}
	return keys, nil
}

// packedParts returns the value that [batch.parts] wrote for visit num.
func packedParts(txn *badgerdb.Txn, letter byte, num uint64) (packed []byte, found bool, err error) {
	for part, more := 0, true; more; part++ {
		more = false
		ok, err := get(txn, partKey(letter, num, part), func(value []byte) error {
			more = len(value) == partSize
			packed = append(packed, value...)
			return nil
		})
		if err != nil {
			return nil, false, err
		}
		found = found || ok
	}
	return packed, found, nil
}
