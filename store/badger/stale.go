package badger

import (
	"skink/store"
	"skink/store/badger/postings"
)

// # What is stale
//
// A verdict holds as long as nothing was posted since its mark where it looked. That is
// asked for each key of each page, and nearly always the answer is that nothing was. The
// exact answer lies in the tables of the index, where each question is a miss of the
// processor's caches. So a small array answers first: it says of a key when anything was
// posted last under a key of the same slot.

// A lately says of a mixed key that surely nothing was posted under it since a mark: by
// slot, the last place that was posted there.
type lately []uint64

// latelyBits make half a megabyte. Some thousand keys are posted between a look-up and its
// commit, so one in ten questions or fewer goes on to the index.
const latelyBits = 16

func newLately() lately { return make(lately, 1<<latelyBits) }

func (l lately) note(key, place uint64) { l[key>>(64-latelyBits)] = place }

func (l lately) notSince(key, mark uint64) bool { return l[key>>(64-latelyBits)] <= mark }

// stale says whether an entry's verdict may no longer hold: something was posted
// since its mark where it looked, or its leader was visited again.
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
	if mark == 0 || !e.Record.Follows() {
		return false, nil
	}
	leader, err := b.known(e.Record.Leader)
	return leader.num > mark, err
}

// postedSince says whether something may have been posted under a mixed key since
// a mark. Of the time before the store was opened lately knows nothing.
func (b *batch) postedSince(key, mark uint64) bool {
	if mark >= b.s.opened && b.s.lately.notSince(key, mark) {
		return false
	}
	return b.posted[key] > mark || b.s.index.PostedSince(key, mark)
}

// note remembers that a place is posted under a mixed key.
func (b *batch) note(key, place uint64) {
	b.posted[key] = place
	b.s.lately.note(key, place)
}
