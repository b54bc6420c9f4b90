package crawler

import (
	"context"
	"time"

	"skink/crawler/learn"
	"skink/frontier"
)

// Lessons are rules learned about sites, as in a [learn.Book].
type Lessons interface {
	// Clean returns a URL without the query parameters that change no page on any site.
	Clean(url string) string
	// Look returns whether a URL is worth a fetch now, and the rule if not.
	Look(ctx context.Context, url string, now time.Time) (learn.Advice, error)
	// Leave is called before a host is returned, so that its next holder has what was learned about
	// it.
	Leave(ctx context.Context, host string) error
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

// A Sweeper is a [Handler] that may queue more URLs when nothing is left to fetch.
type Sweeper interface {
	// Sweep returns how many URLs it queued. It is called when the frontier is empty, until it
	// queues nothing, and not if a limit ends the crawl.
	Sweep(ctx context.Context) (queued int, err error)
}

// sweep lets the handler queue more URLs, and reports whether it did.
func (c *Crawl) sweep(ctx context.Context) (bool, error) {
	s, ok := c.handler.(Sweeper)
	if !ok || !c.schedule.roomy() {
		return false, nil
	}
	n, err := s.Sweep(ctx)
	if err != nil || n == 0 {
		return false, err
	}
	c.schedule.stir()
	return true, nil
}

// stir makes the schedule ask the frontier for URLs of all hosts again.
func (s *schedule) stir() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unheld.stale = true
	for h := range s.held {
		h.dry, h.stirred = false, true
		s.offer(h)
	}
	s.changed()
}

// roomy reports whether the limits of the crawl allow another page.
func (s *schedule) roomy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.room() > 0
}
