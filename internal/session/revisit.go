package session

import (
	"time"

	"skink/store"
)

// # When a page is due
//
// The true rate of change of a page is unknown; the best estimate is its past rate. So the interval
// to the next visit is half the average time between changes. But the interval is never shorter
// than the time that the page has been unchanged. If a page has never changed, its interval doubles
// with each visit. Cho and Garcia-Molina ("Estimating frequency of change", 2003) estimate the rate
// of a Poisson process with the same two numbers, and correct for changes between two visits. At
// most [store.MaxVisits] changes are remembered, so the interval adapts when a page begins to
// change less often.
//
// A page that is a duplicate of another is half as important: its interval is doubled, and it is
// never due before the page that it duplicates. A page that could not be fetched is retried sooner
// at first, and then less and less often. A page that is gone or never existed is visited at the
// longest interval. A sitemap is visited at the shortest interval, because it lists many pages at
// once.
//
// Known weaknesses: the schedule ignores the time of day, even if a front page always changes at
// seven in the morning. A new value of a counter or a date counts as a change, even though it is
// not news.

// A Schedule determines the time between visits to a page.
type Schedule struct {
	First time.Duration // time from the first visit to the second
	Least time.Duration // minimum interval, for a page that changes all the time
	Most  time.Duration // maximum interval, for a page that never changes or is gone
}

// DefaultSchedule returns a schedule that suits most sites: the second visit to a page is a day
// after the first, and later intervals are between an hour and 30 days.
func DefaultSchedule() Schedule {
	const day = 24 * time.Hour
	return Schedule{First: day, Least: time.Hour, Most: 30 * day}
}

// Due returns the time of the next visit to a page. If the page is a duplicate, leader is the
// record of its leader, or nil if that is unknown.
func (s Schedule) Due(r, leader *store.Record) time.Time {
	due := r.Visited().Add(s.interval(r))
	if r.Follows() && leader != nil && !leader.Follows() {
		if first := s.Due(leader, nil); due.Before(first) {
			return first.Add(1) // a nanosecond later, so the leader comes first if both are fetched in one run
		}
	}
	return due
}

func (s Schedule) interval(r *store.Record) time.Duration {
	switch {
	case r.Kind == store.Sitemap:
		return s.Least
	case r.Kind != store.Page && r.Kind != store.Other && r.Kind != store.Redirect:
		return s.Most
	case r.Missed > 0:
		return s.bounded(min(s.Least<<min(r.Missed-1, 20), s.usual(r)))
	case r.Follows():
		return s.bounded(2 * s.usual(r))
	}
	return s.usual(r)
}

// usual returns the interval for a page that could be fetched and is not a duplicate.
func (s Schedule) usual(r *store.Record) time.Duration {
	stood := r.Visited().Sub(r.FetchedAt)
	changes, since := r.Changes()
	if changes == 0 {
		return s.bounded(max(r.Visited().Sub(r.FirstFetched()), s.First))
	}
	each := r.Visited().Sub(since) / time.Duration(changes)
	return s.bounded(max(each/2, stood))
}

func (s Schedule) bounded(d time.Duration) time.Duration { return max(s.Least, min(d, s.Most)) }
