package lru_test

import (
	"testing"

	"skink/base/lru"
)

func TestCache(t *testing.T) {
	c := lru.New[string](10, func(n int) int { return n })
	for key, n := range map[string]int{"a": 4, "b": 5} {
		c.Put(key, n)
	}
	c.Get("a")
	c.Put("c", 3) // the weight would be 12, and the bound is 10, so the least recently used value, b, is dropped
	if _, ok := c.Get("b"); ok {
		t.Error("b is held, and was used longest ago")
	}
	if n, ok := c.Take("a"); !ok || n != 4 {
		t.Errorf("took %d, %t of a, want 4", n, ok)
	}
	if _, ok := c.Take("a"); ok {
		t.Error("a was taken twice")
	}
	c.Put("d", 7) // with c, the weight is 10, because values that were taken out no longer count
	if n, ok := c.Get("c"); !ok || n != 3 {
		t.Errorf("c is %d, %t: want 3", n, ok)
	}
	c.Put("e", 11) // e alone is heavier than the bound, so the cache holds only e
	if _, ok := c.Get("d"); ok {
		t.Error("d is held beside a value that is larger than the bound")
	}
	if n, ok := c.Get("e"); !ok || n != 11 {
		t.Errorf("e is %d, %t: want 11", n, ok)
	}
}
