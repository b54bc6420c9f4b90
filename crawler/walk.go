package crawler

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"skink/crawler/wire"
	"skink/frontier"
)

// Walk crawls from seeds and keeps all state in memory. It calls visit once for each URL with the
// result: a page, a problem ([Page.Problem]), or a redirect ([Page.Location]), which Walk follows
// itself. The function visit returns the links to follow, which may be the zero Links. If it
// returns an error, the crawl ends. Walk never calls visit while another call is running.
//
// Without opt.Scope, the crawl stays on the hosts of the seeds. If a seed has a private address,
// that address is allowed; see [wire.SpecialHosts]. opt.MaxPages limits the number of fetched
// pages, not counting errors and redirects. Walk fails if [New] or [Crawl.Run] fails, or if a seed
// is not a valid URL.
//
// To keep the state after the process ends, or to process pages in parallel, implement a [Handler]
// and use [New].
func Walk(ctx context.Context, seeds []string, opt Options, visit func(*Page) (Links, error)) error {
	w := &walk{front: frontier.NewMemory(), visit: visit}
	items, err := w.begin(ctx, seeds)
	if err != nil {
		return err
	}
	if opt.Scope == nil {
		if opt.Scope, err = NewScope(ScopeHost, nil, nil); err != nil {
			return err
		}
		opt.Scope.Obey(opt.Hosts)
	}
	opt.Sitemaps = false // visit must get only pages
	opt.AllowHosts, opt.SeedHosts = slices.Clip(opt.AllowHosts), slices.Clip(opt.SeedHosts)
	for _, it := range items {
		opt.Scope.AddSeed(it.URL)
		opt.AllowHosts = append(opt.AllowHosts, wire.SpecialHosts(it.URL)...)
		opt.SeedHosts = append(opt.SeedHosts, wire.HostsOf(it.URL)...)
	}
	c, err := New(w.front, opt, w)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Run(ctx)
}

type walk struct {
	front *frontier.Memory

	mu    sync.Mutex
	visit func(*Page) (Links, error) // guarded by mu
	err   error                      // guarded by mu: the first error of visit
	pages int64                      // guarded by mu: number of fetched pages
}

func (w *walk) begin(ctx context.Context, seeds []string) (items []frontier.Item, err error) {
	for _, seed := range seeds {
		url, err := frontier.Canonical(seed)
		if err != nil {
			return nil, fmt.Errorf("seed: %w", err)
		}
		items = append(items, frontier.Item{URL: url})
	}
	_, err = w.front.Discover(ctx, items)
	return items, err
}

func (w *walk) Handle(ctx context.Context, p *Page, leads *Leads) error {
	links, err := w.show(p)
	if err != nil {
		return err
	}
	if err := leads.Follow(links); err != nil {
		return err
	}
	return w.front.End(ctx, frontier.Ending{Claim: p.Claim, URL: p.Item.URL, State: p.End(), Links: leads.Items})
}

// show calls visit with a page. After visit has failed once, show does not call it again, even if
// other workers still have pages.
func (w *walk) show(p *Page) (links Links, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return links, w.err
	}
	if p.End() == frontier.Fetched {
		w.pages++
	}
	links, w.err = w.visit(p)
	return links, w.err
}

func (w *walk) Pages() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pages
}

// Get fetches one page at a user's request, and follows its redirects. It is not meant for
// crawling, because it ignores robots.txt and does not retry. If the fetch fails, Get returns a
// page with a Problem, not an error.
func Get(ctx context.Context, url string, opt Options) (*Page, error) {
	f, err := newFetcher(opt)
	if err != nil {
		return nil, err
	}
	defer f.close()
	item := frontier.Item{URL: url}
	for {
		p := f.fetch(ctx, item)
		if p.Problem != "" || p.Location == "" {
			return p, ctx.Err()
		}
		item = frontier.Item{URL: p.Location, Via: url, Hops: item.Hops + 1}
	}
}
