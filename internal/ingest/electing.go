package ingest

import (
	"slices"
	"sync"

	"skink/dedup"
	"skink/internal/precedence"
)

// electing is a set of locks, one for each cluster: their holder has the right to change the leaders
// of these clusters. A cluster is named by its leader. A page gets all its locks at once, and gives
// them back before it waits for others, so there is no deadlock.
//
// Among the pages that wait for a cluster, the one that precedes all others gets it next. So copies
// of one page that arrive at the same time all follow the same leader, and the leader does not
// change for each.
type electing struct {
	mu      sync.Mutex
	held    map[dedup.Hash]bool // guarded by mu: clusters
	all     bool                // guarded by mu: all clusters are held together
	waiting []*candidate        // guarded by mu: in order of arrival
}

// A candidate waits for clusters.
type candidate struct {
	clusters []dedup.Hash // nil: all
	standing precedence.Standing
	turn     chan struct{} // closed when it has the clusters
	passed   int           // how many later ones got one of the clusters before it
}

// mostPassed bounds how many pages get a cluster before one that arrived earlier.
const mostPassed = 256

// lock waits for clusters, on behalf of a page with a standing.
func (e *electing) lock(standing precedence.Standing, clusters []dedup.Hash) {
	e.wait(&candidate{clusters: clusters, standing: standing, turn: make(chan struct{})})
}

// lockAll waits for all clusters. It precedes all pages.
func (e *electing) lockAll() { e.wait(&candidate{turn: make(chan struct{})}) }

func (e *electing) wait(c *candidate) {
	e.mu.Lock()
	e.waiting = append(e.waiting, c)
	e.grant()
	e.mu.Unlock()
	<-c.turn
}

// unlock gives back clusters, or all if they are nil.
func (e *electing) unlock(clusters []dedup.Hash) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if clusters == nil {
		e.all = false
	}
	for _, id := range clusters {
		delete(e.held, id)
	}
	e.grant()
}

// grant gives the free clusters to the candidates that come first. The caller holds mu.
func (e *electing) grant() {
	if len(e.waiting) == 0 || e.all {
		return
	}
	if e.held == nil {
		e.held = map[dedup.Hash]bool{}
	}
	ranked := slices.Clone(e.waiting)
	slices.SortStableFunc(ranked, (*candidate).compare)
	wanted := map[dedup.Hash]bool{} // by candidates that come earlier and still wait
	for _, c := range ranked {
		if c.clusters == nil && len(e.held) > 0 {
			return
		}
		if slices.ContainsFunc(c.clusters, func(id dedup.Hash) bool { return e.held[id] || wanted[id] }) {
			for _, id := range c.clusters {
				wanted[id] = true
			}
			continue
		}
		e.give(c)
		if e.all {
			return
		}
	}
}

// give gives a candidate its clusters. The caller holds mu.
func (e *electing) give(c *candidate) {
	e.all = c.clusters == nil
	for _, id := range c.clusters {
		e.held[id] = true
	}
	at := slices.Index(e.waiting, c)
	for _, earlier := range e.waiting[:at] {
		if slices.ContainsFunc(earlier.clusters, func(id dedup.Hash) bool { return slices.Contains(c.clusters, id) }) {
			earlier.passed++
		}
	}
	e.waiting = slices.Delete(e.waiting, at, at+1)
	close(c.turn)
}

// compare reports which of two candidates comes first, like [cmp.Compare].
func (c *candidate) compare(other *candidate) int {
	rank := func(c *candidate) int {
		switch {
		case c.passed >= mostPassed:
			return 0
		case c.clusters == nil:
			return 1
		}
		return 2
	}
	if a, b := rank(c), rank(other); a != b || a < 2 {
		return a - b
	}
	d, _ := precedence.Compare(&c.standing, &other.standing)
	return d
}

// A right is the right of one page to change the leaders of clusters.
type right struct {
	turns    *electing
	standing precedence.Standing
	held     bool
	clusters []dedup.Hash // held; nil: all
}

// covers reports whether the right is for these clusters. A nil right is for all.
func (r *right) covers(clusters ...dedup.Hash) bool {
	if r == nil || r.held && r.clusters == nil {
		return true
	}
	return !slices.ContainsFunc(clusters, func(id dedup.Hash) bool { return !slices.Contains(r.clusters, id) })
}

// take acquires the right for clusters, in addition to those held. If it has to wait, other pages
// may change leaders meanwhile, also of the clusters held.
func (r *right) take(clusters ...dedup.Hash) {
	if r.covers(clusters...) {
		return
	}
	all := slices.Clone(r.clusters)
	for _, id := range clusters {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	r.release()
	r.turns.lock(r.standing, all)
	r.held, r.clusters = true, all
}

// takeAll acquires the right for all clusters.
func (r *right) takeAll() {
	if r.held && r.clusters == nil {
		return
	}
	r.release()
	r.turns.lockAll()
	r.held = true
}

// release gives the right back.
func (r *right) release() {
	if r.held {
		r.turns.unlock(r.clusters)
	}
	r.held, r.clusters = false, nil
}
