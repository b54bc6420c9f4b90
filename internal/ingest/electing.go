package ingest

import (
	"slices"
	"sync"

	"skink/dedup"
)

// electing is a set of locks, one for each cluster of duplicates. A page may change the leader of a
// cluster only while it holds the lock of the cluster. A cluster is identified by the id of its
// leader. A page acquires all the locks it needs in one step, and releases them before it waits for
// others, so there is no deadlock.
type electing struct {
	all sync.RWMutex // locked by a page that needs all clusters, and for reading by any other

	mu    sync.Mutex
	held  map[dedup.Hash]bool // guarded by mu
	freed sync.Cond           // signalled when locks are released
}

func newElecting() *electing {
	e := &electing{held: map[dedup.Hash]bool{}}
	e.freed.L = &e.mu
	return e
}

func (e *electing) lock(clusters []dedup.Hash) {
	e.all.RLock()
	e.mu.Lock()
	defer e.mu.Unlock()
	for slices.ContainsFunc(clusters, func(id dedup.Hash) bool { return e.held[id] }) {
		e.freed.Wait()
	}
	for _, id := range clusters {
		e.held[id] = true
	}
}

func (e *electing) unlock(clusters []dedup.Hash) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range clusters {
		delete(e.held, id)
	}
	e.freed.Broadcast()
	e.all.RUnlock()
}

type right struct {
	locks    *electing
	all      bool
	clusters []dedup.Hash // clusters whose locks it holds, unless it holds all
}

// covers is always true for a nil *right.
func (r *right) covers(clusters ...dedup.Hash) bool {
	return r == nil || r.all || !slices.ContainsFunc(clusters, func(id dedup.Hash) bool { return !slices.Contains(r.clusters, id) })
}

// take acquires the locks of more clusters. It first releases the locks that are held, and then
// acquires the old and the new ones together. While it waits, other pages may change any leader.
func (r *right) take(clusters ...dedup.Hash) {
	if r.covers(clusters...) {
		return
	}
	clusters = append(clusters, r.clusters...)
	r.release()
	r.locks.lock(clusters)
	r.clusters = clusters
}

func (r *right) takeAll() {
	if !r.all {
		r.release()
		r.locks.all.Lock()
		r.all = true
	}
}

func (r *right) release() {
	switch {
	case r.all:
		r.locks.all.Unlock()
	case r.clusters != nil:
		r.locks.unlock(r.clusters)
	}
	r.all, r.clusters = false, nil
}
