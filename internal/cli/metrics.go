package cli

import (
	"context"
	"fmt"
	"sync/atomic"

	"skink/crawler"
	"skink/internal/monitor"
)

// outside is what --metrics shows of a run. It begins before the crawl, so that an address that is
// in use is reported before anything is fetched.
type outside struct {
	server *monitor.Server // nil: nothing is shown
	view   *atomic.Pointer[view]
}

// openMonitor starts to serve, if that is asked for, and lets the crawl tell it of every fetch.
func (c *crawlRun) openMonitor() (o outside, err error) {
	if c.metrics == "" {
		return o, nil
	}
	o.view = new(atomic.Pointer[view])
	address, err := monitor.Address(c.metrics)
	if err != nil {
		return o, err // check has refused a bad address already
	}
	o.server, err = monitor.Listen(address, readBuild(), o.numbers)
	if err != nil {
		return o, fmt.Errorf("--metrics %s: %w: try another port", address, err)
	}
	c.onPage = append(c.onPage, func(p *crawler.Page) { o.server.Observe(p.Status, p.Took) })
	c.say.line("Metrics are at %s", o.server.URL())
	return o, nil
}

// show says what there is to be seen.
func (o outside) show(v *view) {
	if o.server != nil {
		o.view.Store(v)
	}
}

func (o outside) close() error {
	if o.server == nil {
		return nil
	}
	return o.server.Close()
}

func (o outside) numbers() monitor.Numbers {
	v := o.view.Load()
	if v == nil {
		return monitor.Numbers{}
	}
	t := v.pipeline.Tally()
	counts, _ := v.store.Counts(context.Background()) // shown as 0 if counting fails: the crawl will say why
	return monitor.Numbers{
		Pages:    map[string]int64{"unique": t.Unique, "exact": t.Exact, "near": t.Near, "thin": t.Thin},
		Others:   map[string]int64{"redirect": t.Redirects, "other": t.Other, "blocked": t.Blocked, "sitemap": t.Sitemaps, "put last": t.Later},
		Problems: t.Problems,
		URLs:     countsByName(counts, t),
		InFlight: v.crawl.InFlight(), Hosts: v.crawl.Waiting(), Bytes: t.Bytes, Fetched: v.crawl.Fetched(),
	}
}
