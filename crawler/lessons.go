package crawler

import (
	"context"
	"time"

	"skink/crawler/learn"
	"skink/frontier"
)

// Lessons are what was learned of sites, such as a [learn.Book] has it.
type Lessons interface {
	// Clean takes off a link what is known to change no page.
	Clean(url string) string
	// Look says whether a URL is worth a fetch now. It is asked once for each.
	Look(ctx context.Context, url string, now time.Time) (learn.Advice, error)
	// Leave is told of a host that is about to be given back, so that its next holder knows what
	// was learned of it.
	Leave(ctx context.Context, host string) error
}

// PutBackPriority is that of URLs which were put last, and are to be fetched now whatever was
// learned: after all others of their host.
const PutBackPriority = 64

// putLast returns the page of a URL that is not to be fetched now, for what was learned of its
// host; nil if it is to be. What somebody asks for by name is always fetched: seeds, pages that are
// visited again, targets of redirects (a host that sends its visitors to their session id would
// else be sent back and forth), and what was put last before.
func (c *Crawl) putLast(ctx context.Context, item frontier.Item) (*Page, error) {
	revisit := !item.Due.IsZero() && item.Priority != WonPriority
	if c.opt.Learned == nil || item.Kind != frontier.Page || item.Depth == 0 || item.Hops > 0 || item.Tries > 0 ||
		revisit || item.Priority >= PutBackPriority {
		return nil, nil
	}
	advice, err := c.opt.Learned.Look(ctx, item.URL, time.Now())
	if err != nil || advice.Rule == "" {
		return nil, err
	}
	page := &Page{Item: item, FetchedAt: time.Now(), Problem: ProblemLast, Detail: cut(advice.String())}
	if advice.Instead != "" && c.opt.leads(item.URL, advice.Instead) {
		page.Instead = advice.Instead
	}
	return page, nil
}

// WonPriority is that of URLs that are queued again because their pattern won its budget back.
const WonPriority = 1
