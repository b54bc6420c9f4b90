// Package revisit says when a page is worth another visit, by what its earlier ones found.
//
// It is pure: a record in, a time out. Whoever asks for pages puts those back whose time
// has come:
//
//	due := revisit.Defaults().Due(record, leader)
//	if !due.After(time.Now()) { ... }
package revisit

import (
	"time"

	"skink/store"
)

// # When a page is due
//
// Nobody knows how often a page changes; one that changed k times in a while will most likely
// do so again as often. So the interval to the next visit is half of what a change took on
// average, for a change is then found within that time half of the time or sooner; but never
// less than the page has stood unchanged by now. A page of which no change was ever seen
// is visited when it has stood as long again: its interval doubles. (Cho and Garcia-Molina,
// "Estimating frequency of change", 2003, estimate the rate of a Poisson process with the
// same two numbers, and correct for changes that fell between two visits. At most
// [store.MostVisits] changes are remembered, so that a page that has become quieter is
// found out in the end.)
//
// A page that follows another is worth half as much: its interval is doubled, and it is never
// due before its leader. One that could not be had is tried sooner, and less and less so.
// What is gone, or never was there, is looked after as rarely as anything, and a sitemap, which
// tells of many pages at once, as often.
//
// What this gets wrong: pages that change by the clock, such as front pages at seven in the
// morning, and those that change by a counter or a date that is no news.

// A Schedule bounds the time from one visit of a page to the next.
type Schedule struct {
	First time.Duration // after the first visit
	Least time.Duration // of a page that changes all the time
	Most  time.Duration // of a page that never does, and of one that is gone
}

// Defaults are the bounds of a schedule for sites of all kinds.
func Defaults() Schedule {
	const day = 24 * time.Hour
	return Schedule{First: day, Least: time.Hour, Most: 30 * day}
}

// Due is when a page is to be visited again. leader is the record of the page that it
// follows, nil if it follows none or that one is not known.
func (s Schedule) Due(r, leader *store.Record) time.Time {
	due := r.Visited().Add(s.interval(r))
	if r.Follows() && leader != nil && !leader.Follows() {
		if first := s.Due(leader, nil); due.Before(first) {
			return first.Add(1) // after it, also where both are asked for at once
		}
	}
	return due
}

// interval is the time from a page's last visit to the next.
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

// usual is the interval of a page that leads and that could be had.
func (s Schedule) usual(r *store.Record) time.Duration {
	stood := r.Visited().Sub(r.FetchedAt)
	changes, since := changesOf(r)
	if changes == 0 {
		return s.bounded(max(r.Visited().Sub(r.FirstFetched()), s.First))
	}
	each := r.Visited().Sub(since) / time.Duration(changes)
	return s.bounded(max(each/2, stood))
}

// changesOf is how often the text of a page is known to have changed, and since when that
// was counted.
func changesOf(r *store.Record) (changes int, since time.Time) {
	hash := r.Hash
	for _, v := range r.Earlier {
		if v.Hash != hash {
			changes, since, hash = changes+1, v.At, v.Hash
		}
	}
	return changes, since
}

func (s Schedule) bounded(d time.Duration) time.Duration { return max(s.Least, min(d, s.Most)) }
