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

// A visitID names a page with the text it had at one visit. A page whose text has changed counts as
// another leader.
type visitID struct{ page, text dedup.Hash }

// A leaderCache reads leaders from a store, and holds those used last. A crawl meets the leaders of
// one template again and again, so a small cache is enough.
type leaderCache struct {
	store Store
	rule  dedup.Rule
	texts sync.Pool // of *dedup.Text

	mu   sync.Mutex
	last *lastused.Cache[visitID, *leader] // guarded by mu
}

func newLeaderCache(s Store, rule dedup.Rule, bytes int64) *leaderCache {
	c := &leaderCache{store: s, rule: rule, last: lastused.New[visitID](int(bytes), func(l *leader) int { return 8 * len(l.set) })}
	c.texts.New = func() any { return new(dedup.Text) }
	return c
}

// get returns the leaders that were met, in their order. It asks the store once for all leaders
// that it does not hold. A leader that has no record, no text or another text by now is nil.
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
			leaders[missing[i]] = c.hold(m, page)
		}
	}
	return leaders, nil
}

// hold makes a leader of a page.
func (c *leaderCache) hold(m store.Leader, page *store.Content) *leader {
	canon := c.texts.Get().(*dedup.Text)
	defer giveBack(&c.texts, canon)
	c.rule.Read(canon, page.Text, page.Record.Lang)
	l := &leader{page.Record.URL, dedup.NewSet(c.rule.Shingles(canon))}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last.Put(visitID{m.ID, m.Hash}, l)
	return l
}
