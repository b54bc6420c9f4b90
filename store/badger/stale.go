package badger

import (
	"skink/dedup"
	"skink/store"
	"skink/store/badger/postings"
)

// # Stale verdicts
//
// A verdict holds while nothing is posted after its mark under the keys of its look-up. A commit
// checks this for each key of each page, and nearly always nothing was posted. The exact answer is
// in the tables of the index, where each check misses the processor's caches. So a small array is
// checked first. It has a slot for many keys, and holds when something was last posted under any
// key of a slot. It has the ids of pages too. So the current place of a leader is looked up only if
// it may have been visited again.

// A lately can prove that nothing was posted under a mixed key since a mark. It holds, by slot, the
// last place that was posted under a key of the slot.
type lately []uint64

// latelyBits is the number of bits of a key that choose its slot in lately, which then takes half a
// megabyte. Some thousand keys are posted between a look-up and its commit. With so many slots, at most
// one check in ten finds its slot used meanwhile and has to ask the index.
const latelyBits = 16

func newLately() lately { return make(lately, 1<<latelyBits) }

func (l lately) note(key, place uint64) { l[key>>(64-latelyBits)] = place }

func (l lately) notSince(key, mark uint64) bool { return l[key>>(64-latelyBits)] <= mark }

// stale reports whether an entry's verdict may no longer hold. Either something was posted after
// its mark under its hashes or keys, or its leader was visited again.
func (b *batch) stale(e *store.Entry) (bool, error) {
	mark := e.Basis.Mark.Place()
	for _, h := range e.Basis.Hashes {
		if b.postedSince(postings.Mixed(filterKey(h), postings.Hash), mark) {
			return true, nil
		}
	}
	for _, key := range e.Basis.Keys {
		if b.postedSince(postings.Mixed(key, postings.Band), mark) {
			return true, nil
		}
	}
	if mark == 0 || !e.Record.Follows() || mark >= b.s.opened && b.s.lately.notSince(placeKey(e.Record.Leader), mark) {
		return false, nil
	}
	leader, err := b.known(e.Record.Leader)
	return leader.num > mark, err
}

// postedSince reports whether something may have been posted under a mixed key since a mark. lately
// does not cover the time before the store was opened.
func (b *batch) postedSince(key, mark uint64) bool {
	if mark >= b.s.opened && b.s.lately.notSince(key, mark) {
		return false
	}
	return b.posted[key] > mark || b.s.index.PostedSince(key, mark)
}

// placeKey returns the key under which lately records the visits of the page with an id.
func placeKey(id dedup.Hash) uint64 { return postings.Mixed(filterKey(id), postings.Hash) }

// note records, for later checks of stale verdicts, that a page at a place was posted under a mixed key.
func (b *batch) note(key, place uint64) {
	b.posted[key] = place
	b.s.lately.note(key, place)
}
