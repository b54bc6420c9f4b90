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

// scanRecords calls fn with the stored record and the update of each visit that is not obsolete and
// whose number is at least from, in ascending order. Both are valid until fn returns.
func (r reader) scanRecords(ctx context.Context, from uint64, fn func(num uint64, value, update []byte) error) error {
	it := r.txn.NewIterator(badgerdb.IteratorOptions{Prefix: []byte{keyBlock}})
	defer it.Close()
	first := from / pagesInBlock
	list := blocks(it, func(block uint64) bool { return block <= first })
	obsolete, stop := skipping(r.txn)
	defer stop()
	updates := &readVisits(r.txn).updates
	defer updates.close()
	var update []byte
	return scanBlocks(ctx, it, list, keyRecord, pageKey(keyRecord, from), func(item *badgerdb.Item) error {
		num := lastNum(item.Key())
		if obsolete(num) {
			return nil
		}
		update = update[:0]
		_, err := updates.get(num, func(value []byte) error {
			update = append(update, value...)
			return nil
		})
		if err != nil {
			return fmt.Errorf("read the update of record %d: %w", num, err)
		}
		return item.Value(func(value []byte) error { return fn(num, value, update) })
	})
}

// scanJournal calls fn with each journal entry whose number is at least from, in ascending order.
// The key of a block does not show which entries are in it, so scanJournal reads the first entry of
// a block to find out where to begin.
func scanJournal(ctx context.Context, txn *badgerdb.Txn, from uint64, fn func(seq uint64, e *journalEntry) error) error {
	it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: []byte{keyBlock}})
	defer it.Close()
	list := blocks(it, func(block uint64) bool {
		prefix := letterKey(block, keyJournal)
		it.Seek(prefix)
		return it.ValidForPrefix(prefix) && lastNum(it.Item().Key()) <= from
	})
	if len(list) == 0 {
		return nil
	}
	return scanBlocks(ctx, it, list, keyJournal, journalKey(list[0]*pagesInBlock, from), func(item *badgerdb.Item) error {
		seq := lastNum(item.Key())
		var e *journalEntry
		err := item.Value(func(value []byte) (err error) {
			e, err = decodeEntry(value)
			return err
		})
		if err != nil {
			return fmt.Errorf("read entry %d of the journal: %w", seq, err)
		}
		return fn(seq, e)
	})
}

// blocks returns the numbers of the stored blocks in ascending order. The list begins with the
// newest block for which isFirst returns true, or with the oldest block if there is no such block.
func blocks(it *badgerdb.Iterator, isFirst func(block uint64) bool) []uint64 {
	var list []uint64
	for it.Rewind(); it.Valid(); it.Seek(blockKey(list[len(list)-1] - 1)) {
		block := blockOf(it.Item().Key())
		list = append(list, block)
		if block == 0 || isFirst(block) {
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
