package session

import (
	"context"
	"fmt"
	"sync/atomic"

	"skink/crawler"
	"skink/internal/monitor"
)

// A meter serves the metrics of a crawl. It starts before the crawl, so that an address in use is
// reported before anything is fetched.
type meter struct {
	server *monitor.Server // nil: no metrics
	view   *atomic.Pointer[running]
}

// openMonitor starts the server for metrics if opt.Metrics names an address. Otherwise it returns a
// meter that does nothing.
func openMonitor(opt *Options, out Output) (o meter, err error) {
	if opt.Metrics == "" {
		return o, nil
	}
	o.view = new(atomic.Pointer[running])
	o.server, err = monitor.Listen(opt.Metrics, opt.Build, o.numbers)
	if err != nil {
		return o, fmt.Errorf("--metrics %s: %w: try another port", opt.Metrics, err)
	}
	out.Say("Metrics are at %s", o.server.URL())
	return o, nil
}

// observe counts a fetch and its duration in the metrics.
func (o meter) observe(p *crawler.Page) {
	if o.server != nil {
		o.server.Observe(p.Status, p.Took)
	}
}

// show makes the server report the numbers of the running crawl v.
func (o meter) show(v *running) {
	if o.server != nil {
		o.view.Store(v)
	}
}

func (o meter) close() error {
	if o.server == nil {
		return nil
	}
	return o.server.Close()
}

func (o meter) numbers() monitor.Numbers {
	v := o.view.Load()
	if v == nil {
		return monitor.Numbers{}
	}
	t := v.pipeline.Tally()
	counts, _ := v.store.Counts(context.Background()) // 0 if counting fails: the crawl will report the error
	return monitor.Numbers{
		Pages:    map[string]int64{"unique": t.Unique, "exact": t.Exact, "near": t.Near, "thin": t.Thin},
		Others:   map[string]int64{"redirect": t.Redirects, "other": t.Other, "blocked": t.Blocked, "sitemap": t.Sitemaps, "postponed": t.Later},
		Problems: t.Problems,
		URLs:     CountsByName(counts, LikelyPostponed(counts, t)),
		InFlight: v.crawl.InFlight(), Hosts: v.crawl.Waiting(), Bytes: t.Bytes, Fetched: v.crawl.Fetched(),
	}
}
