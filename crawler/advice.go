package crawler

import (
	"context"
	"time"

	"skink/frontier"
)

// Postponed URLs that are queued again have one of these priorities. A URL with AskedPriority may
// be postponed once more. A URL with PutBackPriority is always fetched, after all other URLs of its
// host.
const (
	AskedPriority   = 1
	PutBackPriority = 64
)

// postponed returns a page naming the learned rule that postpones a URL, or nil if the URL must be
// fetched now. Some URLs are always fetched: seeds, revisited pages, URLs with PutBackPriority,
// and targets of redirects, because a host may redirect each visitor to a URL with a new session
// id.
func (c *Crawl) postponed(ctx context.Context, item frontier.Item) (*Page, error) {
	revisit := !item.Due.IsZero() && item.Priority != AskedPriority
	if c.opt.Learned == nil || item.Kind != frontier.Page || item.Depth == 0 || item.Hops > 0 || item.Tries > 0 || revisit {
		return nil, nil
	}
	advice, err := c.opt.Learned.Look(ctx, item.URL, time.Now())
	if err != nil || advice.Rule == "" {
		return nil, err
	}
	return &Page{Item: item, FetchedAt: time.Now(), Problem: ProblemLater, Detail: cut(advice.String())}, nil
}
