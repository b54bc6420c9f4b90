package session

import (
	"testing"
	"time"

	"skink/dedup"
	"skink/store"
)

const (
	hour = time.Hour
	day  = 24 * hour
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// page returns the record of a page that was first fetched at noon, had other words at each of the
// given times, and was last visited at the time visited. Times are in days after noon.
func page(visited float64, changed ...float64) *store.Record {
	at := func(days float64) time.Time { return noon.Add(time.Duration(days * float64(day))) }
	hash := func(n int) dedup.Hash { return dedup.Hash{byte(n + 1)} }
	r := &store.Record{ID: hash(99), Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}, Fetch: store.Fetch{FetchedAt: noon, Hash: hash(0)}}
	for n, days := range changed {
		before := *r
		r.Earlier, r.Hash, r.FetchedAt = nil, hash(n+1), at(days)
		r.Succeeds(&before, nil, 0.5)
	}
	if last := at(visited); last.After(r.FetchedAt) {
		r.VisitedAt = last
	}
	return r
}

func with(r *store.Record, change func(*store.Record)) *store.Record {
	change(r)
	return r
}

// TestDue checks the time from the last visit of a page to the next.
func TestDue(t *testing.T) {
	follows := func(r *store.Record) { r.Leader, r.Verdict = dedup.Hash{77}, dedup.Near }
	leader := page(0)
	for _, c := range []struct {
		name   string
		r      *store.Record
		leader *store.Record
		want   time.Duration
	}{
		{"visited once", page(0), nil, day},
		{"unchanged for a day", page(1), nil, day},
		{"unchanged for ten days", page(10), nil, 10 * day},
		{"unchanged for a year", page(365), nil, 30 * day},
		{"changed after four days, seen then", page(4, 4), nil, 2 * day},
		{"changed every day", page(4, 1, 2, 3, 4), nil, 12 * hour},
		{"changed every minute", page(0.003, 0.001, 0.002, 0.003), nil, hour},
		{"changed every day, and stood still since for ten", page(14, 1, 2, 3, 4), nil, 10 * day},
		{"changed more often than is remembered", page(20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20), nil, 12 * hour},
		{"only its title changed", with(page(2), func(r *store.Record) {
			before := *r
			r.FetchedAt = noon.Add(day)
			r.Succeeds(&before, nil, 1)
		}), nil, 2 * day},
		{"judged again only", with(page(2), func(r *store.Record) { r.JudgedAt = noon.Add(day) }), nil, 2 * day},
		{"a copy", with(page(1), follows), nil, 2 * day},
		{"a copy of a page that is due later", with(page(1, 0.5, 1), follows), page(10), 19*day + 1},
		{"a copy of a page that is due sooner", with(page(1), follows), leader, 2 * day},
		{"missed once", with(page(10), func(r *store.Record) { r.Missed = 1 }), nil, hour},
		{"missed three times", with(page(10), func(r *store.Record) { r.Missed = 3 }), nil, 4 * hour},
		{"missed for ever", with(page(10), func(r *store.Record) { r.Missed = 1000 }), nil, 10 * day},
		{"gone", with(page(1, 1), func(r *store.Record) { r.Kind = store.Error }), nil, 30 * day},
		{"never was there", with(page(0), func(r *store.Record) { r.Kind = store.Error }), nil, 30 * day},
		{"a sitemap", with(page(0), func(r *store.Record) { r.Kind = store.Sitemap }), nil, hour},
		{"blocked", with(page(0), func(r *store.Record) { r.Kind = store.Blocked }), nil, 30 * day},
		{"a redirect", with(page(0), func(r *store.Record) { r.Kind = store.Redirect }), nil, day},
	} {
		if got := DefaultSchedule().Due(c.r, c.leader).Sub(c.r.Visited()); got != c.want {
			t.Errorf("%s: due after %v, want %v", c.name, got, c.want)
		}
	}
}

// No interval is shorter than Least or longer than Most, except for copies of pages that are due
// later.
func TestBounds(t *testing.T) {
	s := Schedule{First: day, Least: 2 * day, Most: 3 * day}
	for _, r := range []*store.Record{page(0), page(1), page(100), page(2, 1, 2), with(page(5), func(r *store.Record) { r.Missed = 7 })} {
		if got := s.Due(r, nil).Sub(r.Visited()); got < s.Least || got > s.Most {
			t.Errorf("due after %v, want %v to %v", got, s.Least, s.Most)
		}
	}
}
