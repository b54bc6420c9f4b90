package ingest

import "container/list"

// lastUsed holds the values used last, as far as they weigh no more than a bound.
// It is for one goroutine at a time.
type lastUsed[K comparable, V any] struct {
	bound  int
	weigh  func(V) int
	weight int
	byKey  map[K]*list.Element // values are entries
	order  *list.List          // used last first
}

type lastUsedEntry[K comparable, V any] struct {
	key   K
	value V
}

func newLastUsed[K comparable, V any](bound int, weigh func(V) int) *lastUsed[K, V] {
	return &lastUsed[K, V]{bound: bound, weigh: weigh, byKey: map[K]*list.Element{}, order: list.New()}
}

func (c *lastUsed[K, V]) get(key K) (value V, ok bool) {
	e, ok := c.byKey[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(lastUsedEntry[K, V]).value, true
}

// put holds a value, unless its key has one, and lets go of those used longest ago.
func (c *lastUsed[K, V]) put(key K, value V) {
	if _, ok := c.byKey[key]; ok {
		return
	}
	c.byKey[key] = c.order.PushFront(lastUsedEntry[K, V]{key, value})
	c.weight += c.weigh(value)
	for c.weight > c.bound && c.order.Len() > 1 {
		old := c.order.Remove(c.order.Back()).(lastUsedEntry[K, V])
		delete(c.byKey, old.key)
		c.weight -= c.weigh(old.value)
	}
}
