package crawler

import (
	"context"
	"time"

	"skink/crawler/learn"
	"skink/frontier"
)

// An Advisor knows rules learned about sites. A [learn.Book] is one.
type Advisor interface {
	// Clean returns a URL without the query parameters that change no page on any site.
	Clean(url string) string
	// Look returns whether a URL is worth a fetch now, and the rule if not.
	Look(ctx context.Context, url string, now time.Time) (learn.Advice, error)
	// HandOver is called before a host is returned, so that its next holder has what was learned about
	// it.
	HandOver(ctx context.Context, host string) error
}

// Postponed URLs are queued again with one of two priorities. A URL with AskedPriority may be
// postponed once more. A URL with PutBackPriority is fetched in any case, after all others of its host.
const (
	AskedPriority   = 1
	PutBackPriority = 64
)

// postponed returns the page of a URL that a learned rule postpones, or nil if the URL must be
// fetched now. Seeds, pages that are visited again, and URLs with PutBackPriority are always
// fetched. So are targets of redirects, because a host may redirect each visitor to a URL with a
// session id.
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
