package revisit

import (
	"time"

	"skink/store"
)

// # What sitemaps say of changes
//
// A sitemap may say when each of its pages last changed (lastmod). Many say the day on which the
// file was made, whatever changed. So what a file says of pages that were visited at least twice is
// held against what the visits found, and is believed of the others only where nearly all of that
// was true. A page that changed after its last visit, by such a file, is due at once, whatever the
// schedule says. The schedule itself stays as it is: a file that says nothing of a page does not
// make it wait.

// Holds says whether a lastmod agrees with what the visits of a page found; known is false if they
// cannot tell. A lastmod at midnight stands for its whole day.
func Holds(r *store.Record, lastmod time.Time) (holds, known bool) {
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

// leastProofs is how many pages must have shown whether a host's lastmods hold.
const leastProofs = 8

// Trusted says whether lastmods are to be believed of which so many were right and so many wrong:
// nine of ten were right, of enough.
func Trusted(right, wrong int64) bool { return right+wrong >= leastProofs && right >= 9*wrong }

// Changed says whether a page changed after its last visit by a lastmod that is believed.
func Changed(r *store.Record, lastmod time.Time) bool { return lastmod.After(r.Visited()) }
