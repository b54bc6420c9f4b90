package badger

import (
	"skink/dedup"
	"skink/store"
	"skink/store/badger/postings"
)

// # Stale verdicts
//
// A verdict is valid as long as no page has been indexed, since the mark of its lookup, under one
// of the keys that were looked up. A commit checks this for each key of each page, and nearly
// always there is no such page. The exact answer is in the tables of the index, where each check
// misses the processor's caches. So the commit checks a small array first. Many keys share a slot
// of the array, which records when a page was last indexed under one of them. Visits are recorded
// there by page id too, so that the latest visit of a leader is looked up only if the leader may
// have been visited again.

// lately tells whether a page may have been indexed under a key since a mark. Each slot contains
// the number of the last visit indexed under one of its keys. Keys are first hashed by
// [postings.Mixed].
type lately []uint64

// latelyBits is the number of bits of a key that select its slot in lately, which then takes half a
// megabyte. A few thousand keys are added to the index between a lookup and its commit. With this
// many slots, at most one check in ten finds its slot changed in the meantime and has to ask the
// index.
const latelyBits = 16

func newLately() lately { return make(lately, 1<<latelyBits) }

func (l lately) note(key, place uint64) { l[key>>(64-latelyBits)] = place }

func (l lately) notSince(key, mark uint64) bool { return l[key>>(64-latelyBits)] <= mark }

// stale reports whether an entry's verdict may no longer hold because, since the entry's mark, a
// page was indexed under one of the entry's hashes or keys, or the entry's leader was visited
// again.
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

// postedSince reports whether a page may have been indexed after mark under key, a hash from
// [postings.Mixed]. The table lately has no data from before the store was opened.
func (b *batch) postedSince(key, mark uint64) bool {
	if mark >= b.s.opened && b.s.lately.notSince(key, mark) {
		return false
	}
	return b.posted[key] > mark || b.s.index.PostedSince(key, mark)
}

func placeKey(id dedup.Hash) uint64 { return postings.Mixed(filterKey(id), postings.Hash) }

// note records that the visit with the number place was indexed under key, a hash from
// [postings.Mixed]. Later checks for stale verdicts use this.
func (b *batch) note(key, place uint64) {
	b.posted[key] = place
	b.s.lately.note(key, place)
}
