package ingest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"skink/frontier"
	"skink/store"
)

type counts struct {
	pages atomic.Int64

	mu     sync.Mutex
	all    store.Tally // guarded by mu: all records in the store
	news   store.Tally // guarded by mu: records of URLs that this run was the first to visit
	visits Visits      // guarded by mu

	missed map[[2]string]int // guarded by mu: pages by host and by the selector that found nothing in them, or ""

	began  time.Time
	shared bool // other workers also add pages to the store during this run
}

// Visits counts a run's visits to URLs that had been visited before the run, by the result of the
// visit. Altered and Vanished count pages only, as report --changes does.
type Visits map[store.VisitKind]int64

// These kinds of visits exist only in counts. They are never written to records.
const (
	StillNone store.VisitKind = "still without a page"
	Otherwise store.VisitKind = "changed otherwise" // a URL without a page has changed, or only a page's noindex directive or fields have
)

func (c *counts) add(j *judgement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replace(j)
	var first time.Time
	if j.before != nil {
		first = j.before.FirstFetched()
	}
	switch {
	case j.before == nil || unasked(j.before): // first visit to the URL
		c.news.Add(&j.record)
	case j.claim == (frontier.Claim{}): // from an archive, so its times cannot be compared with the start of this run
		if j.record.Kind == store.Page && j.before.Kind != store.Page && len(j.before.Earlier) == 0 {
			c.news.Add(&j.record)
		}
	case !first.Before(c.began) && !first.After(j.seen.FetchedAt): // both visits are from this run
		if !c.shared {
			c.news.Remove(j.before)
			c.news.Add(&j.record)
		}
	case j.before.Visited().Before(c.began): // otherwise, an earlier visit in this run has already been counted
		if c.visits == nil {
			c.visits = Visits{}
		}
		c.visits[j.found()]++
		if j.record.Kind == store.Page && j.before.Kind != store.Page {
			c.news.Add(&j.record)
		}
	}
	c.pages.Store(c.all.Pages())
}

func (j *judgement) found() store.VisitKind {
	r, b := &j.record, j.before
	switch {
	case isNothing(b) && isNothing(r):
		return StillNone
	case r.Visit == store.Altered && (r.Kind != store.Page || b.Kind != store.Page || r.Hash == b.Hash), r.Visit == store.Vanished && b.Kind != store.Page:
		return Otherwise
	}
	return r.Visit
}

// miss counts a page and the selectors that found nothing in it.
func (c *counts) miss(r *store.Record, selectors []string) {
	if r.Selectors == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range append(selectors, "") {
		c.missed[[2]string{frontier.HostOf(r.URL), s}]++
	}
}

// Missed returns a sentence about each selector that found nothing in all pages of a host that this run has read.
func (p *Pipeline) Missed() (all []string) {
	c := &p.counts
	c.mu.Lock()
	defer c.mu.Unlock()
	for of, n := range c.missed {
		if of[1] != "" && n == c.missed[[2]string{of[0], ""}] {
			all = append(all, fmt.Sprintf("a selector of %s found nothing in %d pages: %s", of[0], n, of[1]))
		}
	}
	slices.Sort(all)
	return all
}

// The caller holds mu.
func (c *counts) replace(j *judgement) {
	if j.before != nil {
		c.all.Remove(j.before)
	}
	c.all.Add(&j.record)
}

// The pages of other workers are counted every countEvery. If counting is slow, the interval is
// countShare times as long as the last count took. If the crawl is within nearLimit pages of its
// limit, the interval is countNear. Several workers fetch nearLimit pages in a few seconds.
const (
	countEvery = 200 * time.Millisecond
	countShare = 20
	countNear  = 20 * time.Millisecond
	nearLimit  = 1000
)

// A limit of 0 means no limit.
func (c *counts) nears(limit int64) bool { return limit > 0 && c.pages.Load() >= limit-nearLimit }

// recount reads the counts from the store, because other workers write to it too.
func (c *counts) recount(ctx context.Context, s PipelineStore) error {
	all, err := s.Tally(ctx)
	if err != nil {
		return fmt.Errorf("count pages: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = all
	c.pages.Store(all.Pages())
	return nil
}

func (c *counts) snapshot(t *store.Tally) store.Tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	return t.Clone()
}
