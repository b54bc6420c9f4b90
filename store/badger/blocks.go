package badger

import (
	"context"
	"fmt"
	"slices"

	badgerdb "github.com/dgraph-io/badger/v4"
)

// A block holds the data of successive visits; see keys.go. On disk the newest block comes first,
// but within a block, visit numbers ascend. So a scan by number first lists the blocks, from the
// newest down to the one where the scan begins, with one seek for each. Then it reads the blocks in
// the opposite order.

// A visitValue is the stored record and the update of a visit. Both are valid until the function that
// gets them returns.
type visitValue struct {
	num           uint64
	value, update []byte
	alone         bool // whether the URL was never discovered
}

// scanRecords calls fn with each visit that is not obsolete and whose number is at least from, in
// ascending order.
func (r reader) scanRecords(ctx context.Context, from uint64, fn func(visitValue) error) error {
	it := r.txn.NewIterator(badgerdb.IteratorOptions{Prefix: []byte{keyBlock}})
	defer it.Close()
	list := blocks(it, from/pagesInBlock)
	visits := readVisits(r.txn)
	defer visits.close()
	var v visitValue
	return scanBlocks(ctx, it, list, keyRecord, pageKey(keyRecord, from), func(item *badgerdb.Item) error {
		v.num, v.update, v.alone = lastNum(item.Key()), v.update[:0], item.UserMeta() == aloneMeta
		obsolete, err := visits.obsolete.get(v.num, exists)
		if err != nil || obsolete {
			return err
		}
		_, err = visits.updates.get(v.num, func(value []byte) error {
			v.update = append(v.update, value...)
			return nil
		})
		if err != nil {
			return fmt.Errorf("read the update of record %d: %w", v.num, err)
		}
		return item.Value(func(value []byte) error {
			v.value = value
			return fn(v)
		})
	})
}

// blocks returns the numbers of the stored blocks in ascending order. The list begins with the
// newest block that is not after first, or with the oldest block if there is no such block.
func blocks(it *badgerdb.Iterator, first uint64) []uint64 {
	var list []uint64
	for it.Rewind(); it.Valid(); it.Seek(blockKey(list[len(list)-1] - 1)) {
		block := blockOf(it.Item().Key())
		list = append(list, block)
		if block <= first {
			break
		}
	}
	slices.Reverse(list)
	return list
}

// scanBlocks calls fn with the items of the listed blocks whose keys have the given letter; see
// keys.go. In the first block it starts at the key from.
func scanBlocks(ctx context.Context, it *badgerdb.Iterator, list []uint64, letter byte, from []byte, fn func(*badgerdb.Item) error) error {
	first := blockOf(from)
	for _, block := range list {
		prefix := letterKey(block, letter)
		switch {
		case block < first:
			continue
		case block > first:
			from = prefix
		}
		for it.Seek(from); it.ValidForPrefix(prefix); it.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := fn(it.Item()); err != nil {
				return err
			}
		}
	}
	return nil
}
