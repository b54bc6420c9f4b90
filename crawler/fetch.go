package crawler

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"skink/crawler/access"
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
	shell   *shell
	folders *folder.Server                               // nil means that there are none
	hop     func(ctx context.Context, host string) error // waits until a host may get a request in addition to those for its URLs in the frontier; nil means no wait

	pageHeader   http.Header // never modified
	robotsHeader http.Header // never modified
	fileHeader   http.Header // for requisites, and for the browser's requests for a page; never modified

	mayAsk  func(ctx context.Context, url string) bool // nil means that all URLs are allowed
	logins  logins
	cookies *cookieStore // nil means that no cookies are kept

	secureMu sync.Mutex
	secure   map[string]bool // guarded by secureMu: names of hosts with their own settings that have an https seed or have received an https request
}

// newFetcher returns a fetcher, and starts the server for opt.Folders. The caller must close the
// fetcher.
func newFetcher(opt Options) (*fetcher, error) {
	opt = opt.orDefaults()
	exchange := wire.Options{
		Timeout: opt.Timeout, Idle: opt.maxPerHost(), KeepRaw: opt.OnAnswer != nil,
		AllowHosts: opt.AllowHosts, AllowNets: opt.AllowNets, SeedHosts: opt.SeedHosts,
		Resolver: opt.resolver, Roots: opt.Roots,
	}
	folders, err := folder.Serve(opt.Folders, opt.Hidden)
	if err != nil {
		return nil, err
	}
	if folders != nil {
		exchange.Folders = folders
		exchange.Idle = opt.Parallel // folders on disk have no delay
	}
	cookies, err := newCookieStore(&opt)
	if err != nil {
		folders.Close()
		return nil, err
	}
	if proxies := newProxyPicker(&opt); proxies != nil {
		exchange.Proxies = proxies
	}
	t := wire.New(exchange)
	return &fetcher{
		opt:          opt,
		cookies:      cookies,
		logins:       logins{all: make(map[*access.Login]*session)},
		wire:         t,
		shell:        newShell(t),
		folders:      folders,
		pageHeader:   header(opt.UserAgent, "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5"),
		robotsHeader: header(opt.UserAgent, "text/plain,*/*;q=0.5"),
		fileHeader:   header(opt.UserAgent, "*/*"),
		secure:       opt.secureHosts(),
	}, nil
}

func header(agent, accept string) http.Header {
	return http.Header{"User-Agent": {agent}, "Accept": {accept}, "Accept-Encoding": {wire.AcceptEncoding}}
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
	defer func() {
		if v := recover(); v != nil {
			page = &Page{Item: item, FetchedAt: page.FetchedAt}
			page.fail(&panicError{item.URL, v})
		}
	}()
	if item.Kind == frontier.Check {
		return f.check(ctx, item)
	}
	ctx, clock, cancel := wire.StartClock(ctx, f.opt.Timeout, f.opt.Timeout)
	defer cancel()
	header := f.pageHeader
	if item.Kind == frontier.Requisite {
		header = f.fileHeader
	}
	request, err := f.request(ctx, http.MethodGet, item.URL, conditional(header, item))
	if err != nil {
		page.fail(err)
		return page
	}
	x := &wire.Exchange{Request: request, Limit: f.opt.MaxSize, Clock: clock}
	if item.Kind == frontier.Sitemap {
		x.Limit = max(x.Limit, sitemap.MaxBytes)
	}
	err = f.shell.do(x, func() { f.cookies.keep(x); page.fill(x) })
	page.Took = clock.Used()
	if err != nil {
		page.fail(err)
	}
	if item.Kind == frontier.Requisite && f.isPage(page) {
		page.Item.Kind = frontier.Page
	}
	return page
}

// conditional returns the header with the validators of the last visit (ETag and date), so that the
// server does not send an unchanged page again (RFC 9110, section 13.1). A server that supports
// both uses If-None-Match.
func conditional(header http.Header, item frontier.Item) http.Header {
	if item.ETag == "" && item.Modified == "" {
		return header
	}
	header = header.Clone()
	if item.ETag != "" {
		header.Set("If-None-Match", item.ETag)
	}
	if item.Modified != "" {
		header.Set("If-Modified-Since", item.Modified)
	}
	return header
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

func (f *fetcher) waitFor(ctx context.Context, url string) error {
	if f.hop == nil {
		return nil
	}
	return f.hop(ctx, frontier.HostOf(url))
}
