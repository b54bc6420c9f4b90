package badger

import (
	"skink/store"
	"skink/store/badger/postings"
)

// # Stale verdicts
//
// A verdict is valid as long as no page has been indexed, since the mark of its lookup, under one
// of the keys that were looked up. A commit checks this for each key of each page, and nearly
// always there is no such page.

// stale reports whether an entry's verdict may no longer hold because, since the entry's mark, a
// page was indexed under one of the entry's hashes or keys, or the entry's leader was visited
// again.
func (b *batch) stale(e *store.Entry) bool {
	mark := e.Basis.Mark.Place()
	for _, h := range e.Basis.Hashes {
		if b.postedSince(postings.Mixed(filterKey(h), postings.Hash), mark) {
			return true
		}
	}
	for _, key := range e.Basis.Keys {
		if b.postedSince(postings.Mixed(key, postings.Band), mark) {
			return true
		}
	}
	return mark != 0 && e.Record.Follows() && mark != b.s.last && b.known(e.Record.Leader).num > mark
}

// postedSince reports whether a page may have been indexed after mark under key, a hash from
// [postings.Mixed].
func (b *batch) postedSince(key, mark uint64) bool {
	return b.posted[key] > mark || b.s.index.PostedSince(key, mark)
}
