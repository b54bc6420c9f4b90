package ingest

import (
	"context"
	"sync"

	"skink/dedup"
	"skink/internal/lastused"
	"skink/store"
)

// A leader is what an exact comparison needs to know of one.
type leader struct {
	url string
	set dedup.Set
}

// A leaderCache reads leaders from a store, and holds those used last. A crawl meets the
// leaders of one template again and again, so few are enough.
type leaderCache struct {
	store store.Store
	rule  dedup.Rule
	texts sync.Pool // of *dedup.Text

	mu   sync.Mutex
	last *lastused.Cache[uint64, *leader] // guarded by mu: by number
}

func newLeaderCache(s store.Store, rule dedup.Rule, bytes int64) *leaderCache {
	c := &leaderCache{store: s, rule: rule, last: lastused.New[uint64](int(bytes), func(l *leader) int { return 8 * len(l.set) })}
	c.texts.New = func() any { return new(dedup.Text) }
	return c
}

// get returns the leader of a number; nil: it has no record or no text, as after
// a crash before its commit.
func (c *leaderCache) get(ctx context.Context, num uint64) (*leader, error) {
	c.mu.Lock()
	held, ok := c.last.Get(num)
	c.mu.Unlock()
	if ok {
		return held, nil
	}
	l, err := c.load(ctx, num)
	if err != nil || l == nil {
		return nil, err
	}
	c.mu.Lock()
	c.last.Put(num, l)
	c.mu.Unlock()
	return l, nil
}

// load reads a leader from the store.
func (c *leaderCache) load(ctx context.Context, num uint64) (*leader, error) {
	r, err := c.store.RecordAt(ctx, num)
	if err != nil || r == nil {
		return nil, err
	}
	text, ok, err := c.store.Text(ctx, num)
	if err != nil || !ok {
		return nil, err
	}
	canon := c.texts.Get().(*dedup.Text)
	defer giveBack(&c.texts, canon)
	c.rule.Read(canon, text, r.Lang)
	return &leader{r.URL, dedup.NewSet(c.rule.Shingles(canon))}, nil
}
