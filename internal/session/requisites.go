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
// number; see [crawler.Options].SharedFiles. It goes through the records in the order of their last change, in which a
// file that a page uses again comes before the page. It keeps about 100 bytes for each file in memory.
func (c *selection) sharedFiles(ctx context.Context) (queued int, err error) {
	type file struct {
		at     time.Time
		within dedup.Hash // style sheet that names the file, if it is a file
		again  bool
	}
	files := map[dedup.Hash]*file{}
	for page, err := range c.store.Changes(ctx, "", store.WantRecord|store.WantLinks) {
		if err != nil {
			return 0, err
		}
		if r := &page.Record; r.Requisite {
			files[r.ID] = &file{at: r.Visited(), within: dedup.Hash(frontier.ID(r.From))}
		}
		for i := range page.Links {
			if l := &page.Links[i]; l.Kind != store.LinkAnchor {
				if f := files[dedup.Hash(frontier.ID(l.URL))]; f != nil && f.at.Before(page.Record.Visited()) {
					f.again = true
				}
			}
		}
	}
	var again []dedup.Hash
	for id, f := range files {
		by := f
		for range crawler.MaxHops { // a style sheet is shared with the files that it names
			if by == nil || by.again {
				break
			}
			by = files[by.within]
		}
		if by != nil && by.again {
			again = append(again, id)
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
			item := store.Revisit(&p.Record, time.Now().UTC(), p.Record.Private == c.crawl.IsPrivate(p.Record.URL))
			item.Priority = crawler.RequisitePriority
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
