// Package lru provides caches of bounded size: a [Cache] of values that drops the least recently used, and a
// [Recent] of hashes.
package lru

import (
	"container/list"
	"encoding/binary"
	"sync"
)

// A Cache holds the most recently used values up to a total weight. It always keeps the latest
// value, even if it exceeds this weight by itself. It is not safe for concurrent use.
type Cache[K comparable, V any] struct {
	bound  int
	weigh  func(V) int
	weight int
	byKey  map[K]*list.Element // each element's value is an entry
	order  *list.List          // most recently used first
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// New returns a cache for values that together weigh at most bound. A single value may weigh more.
func New[K comparable, V any](bound int, weigh func(V) int) *Cache[K, V] {
	return &Cache[K, V]{bound: bound, weigh: weigh, byKey: map[K]*list.Element{}, order: list.New()}
}

// Get returns the value for a key and marks it as used. It reports whether the cache holds it.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	e, ok := c.byKey[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(entry[K, V]).value, true
}

// Take removes and returns the value for a key. It reports whether the cache held it.
func (c *Cache[K, V]) Take(key K) (value V, ok bool) {
	e, ok := c.byKey[key]
	if !ok {
		return value, false
	}
	value = c.order.Remove(e).(entry[K, V]).value
	delete(c.byKey, key)
	c.weight -= c.weigh(value)
	return value, true
}

// Put adds a value unless the cache already has one for its key. It then drops the least recently
// used values until the bound is met.
func (c *Cache[K, V]) Put(key K, value V) {
	if _, ok := c.byKey[key]; ok {
		return
	}
	c.byKey[key] = c.order.PushFront(entry[K, V]{key, value})
	c.weight += c.weigh(value)
	for c.weight > c.bound && c.order.Len() > 1 {
		old := c.order.Remove(c.order.Back()).(entry[K, V])
		delete(c.byKey, old.key)
		c.weight -= c.weigh(old.value)
	}
}

// A Recent caches hashes, such as those of known URLs, so that a store need not look them up. Most links on a
// page were also on the previous page. Each hash has one slot, in which a new hash replaces the old one. Whole hashes
// are compared, so no hash is mistaken for another. The zero value is empty. A Recent is safe for concurrent
// use.
type Recent struct {
	mu    sync.Mutex
	slots [][16]byte // guarded by mu
}

// recentSlots is the number of slots, far more than a site's menu has links. They take 4 MiB.
const recentSlots = 1 << 18

// Has reports whether the hash is in its slot.
func (r *Recent) Has(h [16]byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.slots != nil && *r.slot(h) == h
}

// Add adds a hash.
func (r *Recent) Add(h [16]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.slots == nil {
		r.slots = make([][16]byte, recentSlots)
	}
	*r.slot(h) = h
}

func (r *Recent) slot(h [16]byte) *[16]byte {
	return &r.slots[binary.BigEndian.Uint64(h[8:])%recentSlots]
}
