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

	mu   sync.Mutex
	held map[dedup.Hash]chan struct{} // guarded by mu: closed when the lock of the cluster is released
}

func (e *electing) lock(clusters []dedup.Hash) {
	e.all.RLock()
	for {
		busy := e.tryLock(clusters)
		if busy == nil {
			return
		}
		<-busy
	}
}

// tryLock acquires the locks, unless one is held. Then it returns a channel that is closed when that
// one is released.
func (e *electing) tryLock(clusters []dedup.Hash) (busy <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range clusters {
		if busy := e.held[id]; busy != nil {
			return busy
		}
	}
	if e.held == nil {
		e.held = map[dedup.Hash]chan struct{}{}
	}
	released := make(chan struct{})
	for _, id := range clusters {
		e.held[id] = released
	}
	return nil
}

func (e *electing) unlock(clusters []dedup.Hash) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.all.RUnlock()
	close(e.held[clusters[0]])
	for _, id := range clusters {
		delete(e.held, id)
	}
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
