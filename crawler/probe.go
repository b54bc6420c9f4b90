package crawler

import (
	"context"

	"skink/frontier"
)

// # Requests for URLs that cannot exist
//
// A handler that suspects error pages with status 200 may ask the crawl to request a URL that
// cannot exist on the host. The crawl fetches it like any other URL of the host, so the host's
// delay, robots.txt and budget apply. But the URL is not in the frontier. Only the schedule keeps
// it, until it is fetched or the host is returned to the frontier. It is not retried, but the
// handler may return it again later.

// Probing is the kind of items for URLs that cannot exist. Such items are never in a frontier.
const Probing frontier.ItemKind = 255

// probe asks the handler for a URL that cannot exist on the host of a turn (the fetch of one URL),
// and returns it. It returns "" if no such URL should be requested.
func (c *Crawl) probe(ctx context.Context, t *turn) (string, error) {
	p, ok := c.handler.(Prober)
	if !ok || c.opt.Learned == nil || c.opt.Scope == nil || t.host.folder || t.item.Kind != frontier.Page && t.item.Kind != Probing {
		return "", nil
	}
	url, err := p.Probe(ctx, t.item.URL)
	if err != nil || url == "" || c.opt.refuse(url, forProbe, t.item.URL, 0) != "" {
		return "", err
	}
	return url, nil
}
