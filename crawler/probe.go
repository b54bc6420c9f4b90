package crawler

import (
	"context"

	"skink/frontier"
)

// # Requests for URLs that cannot exist
//
// A handler that suspects soft error pages may request a URL of the host that cannot exist. That is
// a turn of the host like any other: the host's rest, robots.txt and budget apply. But the URL is
// in no frontier. Only the schedule keeps it, until it is fetched or the host is returned. It is
// not retried: the handler may name it again later.

// A Prober is a [Handler] that needs the answers of hosts for URLs that cannot exist.
type Prober interface {
	// Probe is called after the page at url was handled. It returns a URL of the same host that
	// cannot exist, or "" for none. A URL outside the scope is not requested.
	Probe(ctx context.Context, url string) (string, error)

	// Probed is called with the result.
	Probed(ctx context.Context, p *Page) error
}

// probing is the kind of items that are never in a frontier.
const probing frontier.Kind = 255

// probe queues a URL that cannot exist for the host of a turn, if the handler wants that.
func (c *Crawl) probe(ctx context.Context, t *turn) error {
	p, ok := c.handler.(Prober)
	if !ok || c.opt.Learned == nil || c.opt.Scope == nil || t.host.folder || t.item.Kind != frontier.Page && t.item.Kind != probing {
		return nil
	}
	url, err := p.Probe(ctx, t.item.URL)
	if err != nil || url == "" || !c.opt.leads(t.item.URL, url) {
		return err
	}
	c.schedule.prepend(t, frontier.Item{URL: url, Depth: t.item.Depth, Kind: probing})
	return nil
}

// probed passes the answer for a URL that cannot exist to the handler.
func (c *Crawl) probed(ctx context.Context, a *arrival) error {
	if c.opt.OnAnswer != nil && a.page.Raw != nil {
		c.opt.OnAnswer(a.page.Raw)
	}
	if err := c.handler.(Prober).Probed(ctx, a.page); err != nil {
		return err
	}
	if err := c.probe(ctx, a.turn); err != nil { // several patterns may wait to be probed
		return err
	}
	c.schedule.finish(a.turn, a.turn.item.Depth, a.turn.host.name) // pages may have been put back
	return nil
}

// prepend puts an item first in the list of a turn's host.
func (s *schedule) prepend(t *turn, item frontier.Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := t.host
	if t.claim != h.claim {
		return // the claim was lost
	}
	h.spot.Leave() // its key in the line changes
	h.urls = append([]frontier.Item{item}, h.urls...)
	s.offer(h)
	s.changed()
}
