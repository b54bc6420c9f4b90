package session

import (
	"time"

	"skink/store"
)

// # Sitemaps and changes
//
// A sitemap may state when each of its pages last changed (lastmod). Many sitemaps give the day on
// which the sitemap was generated instead. So for pages with at least two visits, the crawl
// compares each lastmod with the changes that these visits found. The lastmods of a host are
// trusted only if nearly all of the compared ones were correct. If a trusted lastmod is later than
// the last visit to its page, the page is due at once, regardless of the schedule. A page without a
// lastmod is visited according to the schedule.

// holds reports whether a lastmod in a sitemap agrees with the results of the visits to its page.
// The result known is false if the visits can neither confirm nor refute it. A lastmod at midnight
// may mean any time on that day.
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
	case first.After(r.FetchedAt): // a visit after the lastmod found no change
		return false, true
	case changed: // the lastmod must be later than the last visit that found the old text
		return last.After(r.Earlier[0].At), true
	}
	return true, true
}

// minProofs is the minimum number of lastmods of a host that must have been compared with visits
// before the host's other lastmods are trusted.
const minProofs = 8

// trusted reports whether a host's lastmods are trusted. At least minProofs of them must have
// been compared, and at least nine of ten must be right.
func trusted(right, wrong int64) bool { return right+wrong >= minProofs && right >= 9*wrong }

func changedBy(r *store.Record, lastmod time.Time) bool { return lastmod.After(r.Visited()) }
