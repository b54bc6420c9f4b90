// Package lastused is a cache of bounded weight that holds the values used last.
package lastused

import "container/list"

// A Cache holds the values used last, as far as they weigh no more than a bound.
// It is for one goroutine at a time.
type Cache[K comparable, V any] struct {
	bound  int
	weigh  func(V) int
	weight int
	byKey  map[K]*list.Element // values are entries
	order  *list.List          // used last first
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// New makes a cache of values that weigh no more than bound together, unless there is
// only one.
func New[K comparable, V any](bound int, weigh func(V) int) *Cache[K, V] {
	return &Cache[K, V]{bound: bound, weigh: weigh, byKey: map[K]*list.Element{}, order: list.New()}
}

// Get returns the value of a key, which is used by that; false: it is not held.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	e, ok := c.byKey[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(entry[K, V]).value, true
}

// Take returns the value of a key, and holds it no more; false: it is not held.
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

// Put holds a value, unless its key has one, and lets go of those used longest ago.
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
