package session

import (
	"time"

	"skink/store"
)

// # Sitemaps and changes
//
// A sitemap may say when each of its pages last changed (lastmod). Many give the day on which the
// file was made, whatever changed. So the lastmods of pages with at least two visits are compared
// with the results of these visits. The other lastmods are trusted only if nearly all of these were
// correct. If a trusted lastmod is later than a page's last visit, the page is due at once,
// whatever the schedule says. The schedule itself does not change: a page without a lastmod does
// not wait longer.

// holds reports whether a lastmod agrees with the visits of a page. known is false if the visits
// cannot tell. A lastmod at midnight stands for its whole day.
func holds(r *store.Record, lastmod time.Time) (right, known bool) {
	first, last := lastmod, lastmod
	if h, m, s := lastmod.Clock(); h+m+s == 0 {
		last = lastmod.Add(24*time.Hour - 1)
	}
	stood := r.Visited().After(r.FetchedAt)
	changed := len(r.Earlier) > 0 && r.Earlier[0].Hash != r.Hash
	switch {
	case r.Kind != store.Page || last.After(r.Visited()) || !stood && !changed:
		return false, false
	case first.After(r.FetchedAt): // a visit since then found the words that had been there before
		return false, true
	case changed: // after the visit before, or the file missed it
		return last.After(r.Earlier[0].At), true
	}
	return true, true
}

// leastProofs is the least number of pages that must have shown whether a host's lastmods are
// correct.
const leastProofs = 8

// trusted reports whether a host's lastmods are trusted, given how many were right and wrong: there
// must be enough of them, and nine of ten right.
func trusted(right, wrong int64) bool { return right+wrong >= leastProofs && right >= 9*wrong }

// changedBy reports whether a page changed after its last visit by a trusted lastmod.
func changedBy(r *store.Record, lastmod time.Time) bool { return lastmod.After(r.Visited()) }
