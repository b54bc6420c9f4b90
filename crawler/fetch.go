package crawler

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"skink/crawler/folder"
	"skink/crawler/sitemap"
	"skink/crawler/wire"
	"skink/frontier"
)

// A fetcher fetches URLs. It makes one exchange for each, and does not follow redirects, cache or
// retry. Several goroutines may use it at the same time.
type fetcher struct {
	opt     Options
	wire    *wire.Transport
	do      func(*wire.Exchange) error // makes an exchange
	folders *folder.Server             // nil means that there are none

	schedule *schedule    // nil means that requests wait for nothing
	robots   *robotsCache // nil means that all URLs are allowed

	logins  sync.Map // of *session, by *access.Login
	cookies *cookieStore
}

// newFetcher returns a fetcher, and starts the server for opt.Folders. The caller must close the
// fetcher.
func newFetcher(opt Options) (*fetcher, error) {
	opt = opt.orDefaults()
	folders, err := folder.Serve(opt.Folders, opt.Hidden)
	if err != nil {
		return nil, err
	}
	exchange := wire.Options{
		Timeout: opt.Timeout, Idle: opt.maxPerHost(), KeepRaw: opt.OnAnswer != nil, Folders: folders,
		AllowHosts: opt.AllowHosts, AllowNets: opt.AllowNets, SeedHosts: opt.SeedHosts,
		Resolver: opt.resolver, Roots: opt.Roots, Insecure: opt.insecure,
	}
	if folders != nil {
		exchange.Idle = opt.Parallel // folders on disk have no delay
	}
	if proxies := newProxyPicker(&opt); proxies != nil {
		exchange.Proxies = proxies
	}
	t := wire.New(exchange)
	return &fetcher{
		opt:     opt,
		cookies: newCookieStore(&opt),
		wire:    t,
		do:      newShell(t).do,
		folders: folders,
	}, nil
}

// The fetcher must not be used after close.
func (f *fetcher) close() {
	f.wire.CloseIdle()
	f.folders.Close()
}

// fetch fetches one URL. The returned page is never nil; a failure is recorded in its Problem. If
// ctx has ended, the page must be ignored, because the request may have been cut off.
func (f *fetcher) fetch(ctx context.Context, item frontier.Item) (page *Page) {
	page = &Page{Item: item, FetchedAt: time.Now()}
	defer rescue(item.URL, func(err error) {
		page = &Page{Item: item, FetchedAt: page.FetchedAt}
		page.fail(err)
	})
	if item.Kind == frontier.Check {
		return f.check(ctx, item)
	}
	a := ask{url: item.URL, purpose: purposeOf(item), from: item.Via, depth: item.Depth, etag: item.ETag, modified: item.Modified}
	if item.Kind == frontier.Sitemap {
		a.limit = max(f.opt.MaxSize, sitemap.MaxBytes)
	}
	if x, err := f.send(ctx, a); page.sent(x, err) {
		page.fill(x, f.opt.renders(frontier.HostOf(item.URL)) != RenderOff)
	}
	if f.opt.insecure(frontier.HostOf(item.URL)) && strings.HasPrefix(item.URL, "https:") {
		page.Detail = strings.TrimPrefix(page.Detail+"; the certificate of the host was not checked", "; ")
	}
	if item.Kind == frontier.Requisite && f.isPage(page) {
		page.Item.Kind = frontier.Page
	}
	return page
}

// sent stores in a page when its request was sent, how long it took, and the error. It reports
// whether there is a response.
func (p *Page) sent(x *wire.Exchange, err error) bool {
	if p.unsent = x.At.IsZero(); !p.unsent {
		p.FetchedAt, p.Took = x.At, x.Clock.Used()
	}
	if err != nil {
		p.fail(err)
	}
	return err == nil
}

// A panicError is a panic that occurred while a URL was being fetched. It becomes the problem of
// that URL and does not end the crawl.
type panicError struct {
	url   string
	value any
}

func (e *panicError) Error() string {
	return fmt.Sprintf("panic while processing %s: %v", e.url, e.value)
}

// rescue must be deferred. If the function panics, it calls failed with an error that has the URL.
func rescue(url string, failed func(error)) {
	if v := recover(); v != nil {
		failed(&panicError{url, v})
	}
}

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
