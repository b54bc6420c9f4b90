package ingest

import (
	"context"
	"sync"

	"skink/base/lru"
	"skink/dedup"
	"skink/store"
)

type leader struct {
	url  string
	set  dedup.Set
	runs dedup.Set // see [dedup.Runs]; nil if the rule is not containment
}

// A visitID identifies a page with the text that it had at one visit. A page whose text has changed
// counts as a different leader.
type visitID struct{ page, text dedup.Hash }

func (l *leader) weighs() int { return 8*(cap(l.set)+cap(l.runs)) + len(l.url) + leaderOverhead }

// leaderOverhead is the size in bytes of a cached leader without its URL and shingles: the struct,
// its key, and its entries in a map and a list. For short texts, most of a leader's size is
// overhead.
const leaderOverhead = 320

// A leaderCache reads leaders from a store, and caches the most recently used. Pages from one
// template are compared with the same leaders again and again, so a small cache is enough.
type leaderCache struct {
	store PipelineStore
	rule  dedup.Rule

	mu   sync.Mutex
	last *lru.Cache[visitID, *leader] // guarded by mu
}

func newLeaderCache(s PipelineStore, rule dedup.Rule, bytes int64) *leaderCache {
	return &leaderCache{store: s, rule: rule, last: lru.New[visitID](int(bytes), (*leader).weighs)}
}

// get returns the leaders in met, in the same order. One call to the store reads all leaders that
// are not cached. An element is nil if the leader no longer has a record or a text, or now has a
// different text.
func (c *leaderCache) get(ctx context.Context, met []store.Leader) ([]*leader, error) {
	leaders := make([]*leader, len(met))
	var missing []int
	var ids []dedup.Hash
	c.mu.Lock()
	for i, m := range met {
		l, ok := c.last.Get(visitID{m.ID, m.Hash})
		if leaders[i] = l; !ok {
			missing, ids = append(missing, i), append(ids, m.ID)
		}
	}
	c.mu.Unlock()
	if len(missing) == 0 {
		return leaders, nil
	}
	pages, err := c.store.Pages(ctx, ids, store.WantText)
	if err != nil {
		return nil, err
	}
	for i, page := range pages {
		m := met[missing[i]]
		if page != nil && page.Kept && page.Record.Hash == m.Hash {
			canon, done := canonical(page.Text)
			l := &leader{url: page.Record.URL, set: c.rule.Set(canon)}
			if c.rule.Contained > 0 {
				l.runs = dedup.Runs(canon, page.Text)
			}
			done()
			c.mu.Lock()
			c.last.Put(visitID{m.ID, m.Hash}, l)
			c.mu.Unlock()
			leaders[missing[i]] = l
		}
	}
	return leaders, nil
}
