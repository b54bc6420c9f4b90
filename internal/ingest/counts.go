package ingest

import (
	"sync"
	"sync/atomic"

	"skink/store"
)

// counts are what a pipeline found in its store and what it added.
type counts struct {
	pages atomic.Int64 // of all

	mu   sync.Mutex
	all  store.Tally // guarded by mu
	news store.Tally // guarded by mu
}

// add counts a subject of which something came.
func (c *counts) add(s *subject, outcome store.Outcome) {
	if outcome != store.Written {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.Add(&s.record)
	c.news.Add(&s.record)
	c.pages.Store(c.all.Pages())
}

func (c *counts) snapshot(t *store.Tally) store.Tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	return t.Clone()
}

// Pages is how many pages the store holds.
func (p *Pipeline) Pages() int64 { return p.counts.pages.Load() }

// Tally counts what the store holds.
func (p *Pipeline) Tally() store.Tally { return p.counts.snapshot(&p.counts.all) }

// Added counts what this pipeline added to it.
func (p *Pipeline) Added() store.Tally { return p.counts.snapshot(&p.counts.news) }
