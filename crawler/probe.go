package crawler

import (
	"context"

	"skink/frontier"
)

// # What a host says of URLs that cannot exist
//
// A handler that doubts what a host says may have it asked for a URL that cannot exist. That is a
// turn of the host like any other: it waits for its rest, robots.txt has its say, and it counts in
// the host's budget. But the URL is in no frontier. It is the schedule's alone, until the host is
// asked or no longer held, and it is not tried again: the handler may name it again later.

// A Prober is a [Handler] that may want to know what a host says of URLs that cannot exist.
type Prober interface {
	// Probe returns such a URL, in the crawl's scope or not, to be asked for on the host of a page
	// that was handled. "": there is no need.
	Probe(ctx context.Context, url string) (string, error)

	// Probed takes in what became of it.
	Probed(ctx context.Context, p *Page) error
}

// probing is the kind of an item that no frontier has.
const probing frontier.Kind = 255

// probe lets the host of a turn be asked for a URL that cannot exist, if the handler wants that.
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

// probed hands over what a host said of a URL that cannot exist.
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

// prepend makes an item the next of a turn's host.
func (s *schedule) prepend(t *turn, item frontier.Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := t.host
	if t.claim != h.claim {
		return // lost meanwhile
	}
	h.spot.Leave() // what it is ordered by changes
	h.urls = append([]frontier.Item{item}, h.urls...)
	s.offer(h)
	s.changed()
}
