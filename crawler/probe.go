package crawler

import (
	"context"
	"errors"

	"skink/frontier"
)

// # Requests for URLs that cannot exist
//
// A handler that suspects soft error pages may request a URL of the host that cannot exist. That is
// a turn of the host like any other: the host's rest, robots.txt and budget apply. But the URL is
// in no frontier. Only the schedule keeps it, until it is fetched or the host is returned. It is
// not retried: the handler may name it again later.

// probing is the kind of items for URLs that cannot exist. Such items are never in a frontier.
const probing frontier.ItemKind = 255

// probe asks the handler whether it needs the answer for a URL that cannot exist at the host of a
// turn. It returns that URL, or "".
func (c *Crawl) probe(ctx context.Context, t *turn) (string, error) {
	p, ok := c.handler.(Prober)
	if !ok || c.opt.Learned == nil || c.opt.Scope == nil || t.host.folder || t.item.Kind != frontier.Page && t.item.Kind != probing {
		return "", nil
	}
	url, err := p.Probe(ctx, t.item.URL)
	if err != nil || url == "" || !c.opt.leads(t.item.URL, url) {
		return "", err
	}
	return url, nil
}

// probed passes the answer for a URL that cannot exist to the handler. The handler may then have
// put pages of the host back into the frontier, which the outcome says.
func (c *Crawl) probed(ctx context.Context, a *arrival) (outcome, error) {
	o := outcome{depth: a.turn.item.Depth, hosts: []string{a.turn.host.name}}
	err := c.handler.(Prober).Probed(ctx, a.page)
	if !errors.Is(err, ErrRender) {
		c.keepRaw(a.page)
	}
	if err == nil {
		o.probe, err = c.probe(ctx, a.turn) // the handler may need answers for more such URLs of the host
	}
	return o, err
}
