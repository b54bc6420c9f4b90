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
//
// Pages that have just become leaders are kept in a separate cache. Files are judged in batches,
// and a file that repeats another file of its batch is judged again after the other one is
// committed. At that point, the cache still has the shingles of the other file. Reading its text
// from the store and computing them again would cost more than the rest of the verdict. Most new
// leaders are never needed, and must not evict the leaders that are needed often.
type leaderCache struct {
	store PipelineStore
	rule  dedup.Rule

	mu   sync.Mutex
	last *lru.Cache[visitID, *leader] // guarded by mu
	new  *lru.Cache[visitID, *leader] // guarded by mu; the shingles of these leaders are in text order and not shared
}

func newLeaderCache(s PipelineStore, rule dedup.Rule, bytes int64) *leaderCache {
	return &leaderCache{
		store: s, rule: rule,
		last: lru.New[visitID](int(bytes-bytes/8), (*leader).weighs),
		new:  lru.New[visitID](int(bytes/8), (*leader).weighs),
	}
}

// led caches a committed page if it leads a cluster. The cache takes over the page's shingles. If
// the rule is containment, the page is not cached, because its runs of three words are not known.
func (c *leaderCache) led(j *judgement) {
	r := &j.record
	if r.Verdict != dedup.Unique || j.text == nil || c.rule.Contained > 0 {
		return
	}
	id, l := visitID{r.ID, r.Hash}, &leader{url: r.URL, set: j.shingles.set}
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.set != nil {
		c.last.Put(id, l)
		return
	}
	l.set, j.shingles.list = j.shingles.list, nil
	c.new.Put(id, l)
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
		l, ok := c.heldLocked(visitID{m.ID, m.Hash})
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

func (c *leaderCache) heldLocked(id visitID) (*leader, bool) {
	if l, ok := c.last.Get(id); ok {
		return l, true
	}
	l, ok := c.new.Take(id)
	if ok {
		l.set = dedup.NewSet(l.set)
		c.last.Put(id, l)
	}
	return l, ok
}

func (c *leaderCache) hold(m store.Leader, page *store.Content) *leader {
	canon, done := canonical(&c.rule, page.Text, page.Record.Lang)
	defer done()
	l := &leader{url: page.Record.URL, set: c.rule.Set(canon)}
	if c.rule.Contained > 0 {
		l.runs = dedup.Runs(canon, page.Text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last.Put(visitID{m.ID, m.Hash}, l)
	return l
}
