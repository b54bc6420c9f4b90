package redis

import (
	"sync"

	"skink/dedup"
	"skink/frontier"
)

// # What a worker remembers
//
// Most links of a page were seen on the pages before it. A URL that was discovered stays so,
// or is put back by Requeue; either way Discover has nothing to do with it. So those that
// were sent lately are not sent again. In a store with replicas that is so once a replica has
// them, see copies.go; without, until a server stumbles, which may have forgotten. Where a page
// is does not change either.

// A recent remembers some of the last keys that it was told of, in at most twice its size.
type recent[K comparable, V any] struct {
	mu       sync.Mutex
	size     int
	now, old map[K]V // guarded by mu
}

func newRecent[K comparable, V any](size int) *recent[K, V] {
	return &recent[K, V]{size: size, now: map[K]V{}}
}

func (r *recent[K, V]) get(key K) (value V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if value, ok = r.now[key]; !ok {
		value, ok = r.old[key]
	}
	return value, ok
}

func (r *recent[K, V]) put(key K, value V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.now) >= r.size {
		r.old, r.now = r.now, make(map[K]V, r.size)
	}
	r.now[key] = value
}

// clear forgets all.
func (r *recent[K, V]) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now, r.old = map[K]V{}, nil
}

// take removes a key and returns what it had.
func (r *recent[K, V]) take(key K) (value V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if value, ok = r.now[key]; !ok {
		value, ok = r.old[key]
	}
	delete(r.now, key)
	delete(r.old, key)
	return value, ok
}

// mostRecent is of how many URLs a worker remembers that they are known: 16 MB at most.
const mostRecent = 1 << 17

// recentSlot is under which a URL is remembered. One that was left out may be discovered
// later, so it has a slot of its own.
func recentSlot(l lead) dedup.Hash {
	id := dedup.Hash(frontier.ID(l.item.URL))
	if l.mode == asOutside {
		id[len(id)-1]++
	}
	return id
}

// unknown are the leads that may be news to the store.
func (s *Store) unknown(leads []lead) []lead {
	s.heed()
	var some []lead
	for _, l := range leads {
		if l.mode == ifEnded {
			some = append(some, l)
		} else if _, sent := s.sent.get(recentSlot(l)); !sent {
			some = append(some, l)
		}
	}
	return some
}

// heed forgets what a server may have lost that was away since. If it has a replica, what stays is
// confirmed, see copies.go; what is known of visits may still be so of those that a dead one gave.
func (s *Store) heed() {
	n := s.stumbles.Load()
	if n == s.heeded.Swap(n) {
		return
	}
	if !s.replicated {
		s.sent.clear()
	}
	s.forget()
}

// learn remembers that leads are known to the store, to which they were sent in some era.
func (s *Store) learn(leads []lead, era int64) {
	if !s.replicated {
		for _, l := range leads {
			s.sent.put(recentSlot(l), struct{}{})
		}
		return
	}
	s.courier.mu.Lock()
	defer s.courier.mu.Unlock()
	for _, l := range leads {
		if len(s.courier.fresh) < mostFresh { // what is forgotten is sent again
			s.courier.fresh = append(s.courier.fresh, freshURL{recentSlot(l), era})
		}
	}
}

// mostFresh is how many URLs are kept in mind until replicas have them.
const mostFresh = 1 << 16
