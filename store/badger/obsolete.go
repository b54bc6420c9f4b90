package badger

import (
	"context"
	"slices"

	badgerdb "github.com/dgraph-io/badger/v4"
)

// # Obsolete visits
//
// When a page is visited or judged again, the data of its earlier visit becomes obsolete. It is not
// deleted at once. Badger moves a deletion down the levels as it moves a key, in a table with
// neighboring keys. Deletions in a few old blocks produce tables that begin at the newest block and
// end at an old one, and badger merges such a table with all blocks between them. In a crawl in
// which one page in a thousand was judged again, that rewrote all of the store's texts every ten
// seconds.
//
// So the store only notes the number of an obsolete visit, under an e key (see keys.go), and
// readers skip its record. Once a certain share of all visits is obsolete, the store sweeps: it
// deletes their data in block order. Badger then rewrites the store about once. Each commit sweeps
// a few visits, so no call waits long. If the process ends in between, the next sweep deletes the
// rest.

const (
	sweepShare = 8            // a sweep begins when one visit in sweepShare is obsolete
	minSweep   = pagesInBlock // minimum number of obsolete visits for a sweep
	sweepStep  = 1000         // number of visits that one commit sweeps
)

// sweep deletes the data of some obsolete visits if a large enough share of all visits is obsolete.
// The next call continues where this one stopped.
func (b *batch) sweep() {
	s := b.s
	if b.err != nil || s.swept == 0 && s.counters.Obsolete < max(s.minSweep, s.counters.Records/sweepShare) {
		return
	}
	var nums []uint64
	err := s.view(context.Background(), func(txn *badgerdb.Txn) error {
		it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: []byte{keyObsolete}})
		defer it.Close()
		for it.Seek(numKey(keyObsolete, s.swept+1)); it.Valid() && len(nums) < sweepStep; it.Next() {
			nums = append(nums, lastNum(it.Item().Key()))
		}
		return nil
	})
	b.fail(err)
	for _, num := range nums {
		b.purge(num)
	}
	if s.swept = 0; len(nums) == sweepStep {
		s.swept = nums[sweepStep-1]
	}
}

// purge deletes all data of an obsolete visit.
func (b *batch) purge(num uint64) {
	keys := [][]byte{numKey(keyObsolete, num), pageKey(keyRecord, num), pageKey(keySketch, num), numKey(keyUpdate, num)}
	for _, letter := range []byte{keyText, keyOut} {
		for part, more := 0, true; more; part++ {
			key := partKey(letter, num, part)
			if more = b.get(key, exists); more {
				keys = append(keys, key)
			}
		}
	}
	for _, key := range slices.Backward(keys) { // the first piece after the others, and the note last, so that the next sweep finds what is left if the process is killed in between
		b.drop(key)
	}
	b.counters().Obsolete--
}
