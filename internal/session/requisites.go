package session

import (
	"context"
	"slices"
	"time"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// sharedFiles queues the files that an archived page needs and that were fetched before the page, and returns their
// number; see [crawler.Options].SharedFiles. Pages that share a style sheet share the files that it names. It goes
// through the records in the order of their last change, in which a file that a page uses again comes before the page.
// It keeps about 60 bytes for each file in memory, and 80 for those that style sheets name.
func (c *selection) sharedFiles(ctx context.Context) (queued int, err error) {
	files, shared, within := map[dedup.Hash]time.Time{}, map[dedup.Hash]bool{}, map[dedup.Hash]dedup.Hash{}
	var again []dedup.Hash
	for page, err := range c.store.Changes(ctx, "", store.WantRecord|store.WantLinks) {
		if err != nil {
			return 0, err
		}
		r := &page.Record
		if r.Requisite && r.End() == frontier.Fetched {
			if files[r.ID] = r.Visited(); r.Hops > 0 {
				within[r.ID] = dedup.Hash(frontier.ID(r.From))
			}
		}
		for i := range page.Links {
			id := dedup.Hash(frontier.ID(page.Links[i].URL))
			if at, ok := files[id]; ok && at.Before(r.Visited()) && !shared[id] {
				again, shared[id] = append(again, id), true
			}
		}
	}
	for range crawler.MaxHops {
		for id, by := range within {
			if shared[by] && !shared[id] {
				again, shared[id] = append(again, id), true
			}
		}
	}
	for some := range slices.Chunk(again, requeuedAtOnce) {
		pages, err := c.store.Pages(ctx, some, store.WantRecord)
		if err != nil {
			return queued, err
		}
		var items []frontier.Item
		for _, p := range pages {
			if p == nil {
				continue
			}
			item := c.itemOf(&p.Record)
			item.Due, item.Priority = time.Now().UTC(), crawler.RequisitePriority
			if c.refuses(&item, &p.Record) == "" {
				items = append(items, item)
			}
		}
		put, err := c.store.Requeue(ctx, items)
		if queued += put; err != nil {
			return queued, err
		}
	}
	return queued, nil
}

// reusedFile queues a file that a browser has used again; see [crawler.Options].OnReused. It leaves out a file that is
// also a page, because the visit would not judge it.
func (c *selection) reusedFile(ctx context.Context, url string, depth int) error {
	r, err := recordOf(ctx, c.store, url)
	if err != nil || r != nil && !r.Requisite {
		return err
	}
	item := frontier.Item{URL: url, Depth: depth, Kind: frontier.Requisite}
	if r != nil {
		item = c.itemOf(r)
	}
	item.Due, item.Priority = time.Now().UTC(), crawler.PutBackPriority
	if c.crawl.Refuses(item) != "" {
		return nil
	}
	_, err = c.store.Requeue(ctx, []frontier.Item{item})
	return err
}
