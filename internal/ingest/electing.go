package ingest

import (
	"slices"
	"sync"

	"skink/dedup"
	"skink/store/precedence"
)

// electing is a set of locks, one for each cluster of duplicates. A page may change the leader of a
// cluster only while it holds the lock of the cluster. A cluster is identified by the id of its
// leader. A page acquires all the locks it needs in one step, and releases them before it waits for
// others, so there is no deadlock.
//
// If several pages wait for a cluster, the page that would lead the others gets the lock first. So
// if copies of a page arrive at the same time, the best copy becomes the leader at once, and the
// leader does not change with each copy.
type electing struct {
	mu      sync.Mutex
	held    map[dedup.Hash]bool // guarded by mu: clusters whose locks are held, by the id of the leader
	all     bool                // guarded by mu: one candidate holds all locks
	waiting []*candidate        // guarded by mu: in order of arrival
}

type candidate struct {
	clusters []dedup.Hash // clusters whose locks it needs; nil means all
	standing precedence.Standing
	holds    chan struct{} // closed when the candidate holds its locks
	passed   int           // number of later candidates that were given one of these locks first
}

// maxPassed is the maximum number of later pages that may get the lock of a cluster before an
// earlier one.
const maxPassed = 256

// The argument standing is that of the page that needs the locks.
func (e *electing) lock(standing precedence.Standing, clusters []dedup.Hash) {
	e.wait(&candidate{clusters: clusters, standing: standing, holds: make(chan struct{})})
}

// The caller gets the locks ahead of all waiting pages.
func (e *electing) lockAll() { e.wait(&candidate{holds: make(chan struct{})}) }

func (e *electing) wait(c *candidate) {
	e.mu.Lock()
	e.waiting = append(e.waiting, c)
	e.grant()
	e.mu.Unlock()
	<-c.holds
}

// unlock releases all locks if clusters is nil.
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

// grant gives free locks to the waiting candidates, in the order of compare. The caller holds mu.
func (e *electing) grant() {
	if len(e.waiting) == 0 || e.all {
		return
	}
	if e.held == nil {
		e.held = map[dedup.Hash]bool{}
	}
	ranked := slices.Clone(e.waiting)
	slices.SortStableFunc(ranked, (*candidate).compare)
	wanted := map[dedup.Hash]bool{} // clusters that earlier candidates wait for
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

// The caller holds mu.
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
	close(c.holds)
}

// compare orders candidates by which of them gets its locks first. Like [cmp.Compare], it returns a
// negative number if c comes first.
func (c *candidate) compare(other *candidate) int {
	rank := func(c *candidate) int {
		switch {
		case c.passed >= maxPassed:
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

type right struct {
	locks    *electing
	standing precedence.Standing
	held     bool
	clusters []dedup.Hash // clusters whose locks it holds; nil means all
}

// covers is always true for a nil *right.
func (r *right) covers(clusters ...dedup.Hash) bool {
	if r == nil || r.held && r.clusters == nil {
		return true
	}
	return !slices.ContainsFunc(clusters, func(id dedup.Hash) bool { return !slices.Contains(r.clusters, id) })
}

// take acquires the locks of more clusters. It first releases the locks that are held, and then
// acquires the old and the new ones together. While it waits, other pages may change any leader.
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
	r.locks.lock(r.standing, all)
	r.held, r.clusters = true, all
}

func (r *right) takeAll() {
	if r.held && r.clusters == nil {
		return
	}
	r.release()
	r.locks.lockAll()
	r.held = true
}

func (r *right) release() {
	if r.held {
		r.locks.unlock(r.clusters)
	}
	r.held, r.clusters = false, nil
}
