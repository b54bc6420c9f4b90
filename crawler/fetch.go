package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"skink/crawler/folder"
	"skink/crawler/robots"
	"skink/crawler/sitemap"
	"skink/crawler/wire"
	"skink/frontier"
)

// A fetcher fetches URLs, with one exchange for each: it does not follow redirects, cache or retry.
// Several goroutines may use it.
type fetcher struct {
	opt     Options
	wire    *wire.Transport
	shell   *shell
	folders *folder.Server                               // nil: there are none
	hop     func(ctx context.Context, host string) error // waits until a host may have a request outside a turn; nil: no wait

	pageHeader   http.Header // sent for a page; not changed
	robotsHeader http.Header // sent for a robots.txt; not changed
}

// newFetcher starts the servers of opt.Folders, and opens nothing else. The caller must close the
// fetcher.
func newFetcher(opt Options) (*fetcher, error) {
	opt = opt.orDefaults()
	exchange := wire.Options{
		Timeout: opt.Timeout, Idle: opt.PerHost, KeepRaw: opt.OnAnswer != nil,
		AllowHosts: opt.AllowHosts, AllowNets: opt.AllowNets, SeedHosts: opt.SeedHosts,
		Resolver: opt.resolver, Roots: opt.roots,
	}
	folders, err := folder.Serve(opt.Folders, opt.Hidden)
	if err != nil {
		return nil, err
	}
	if folders != nil {
		exchange.Folders = folders
		exchange.Idle = opt.Parallel // folders have no delay
	}
	t := wire.New(exchange)
	return &fetcher{
		opt:          opt,
		wire:         t,
		shell:        newShell(t),
		folders:      folders,
		pageHeader:   header(opt.UserAgent, "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5"),
		robotsHeader: header(opt.UserAgent, "text/plain,*/*;q=0.5"),
	}, nil
}

func header(agent, accept string) http.Header {
	return http.Header{"User-Agent": {agent}, "Accept": {accept}, "Accept-Encoding": {wire.AcceptEncoding}}
}

// close closes the connections and stops the servers of folders. The fetcher must not be used
// afterwards.
func (f *fetcher) close() {
	f.wire.CloseIdle()
	f.folders.Close()
}

// fetch fetches one URL. The page is never nil. If ctx has ended, the page says nothing about the
// URL.
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
	request, err := wire.NewRequest(ctx, item.URL, conditional(f.pageHeader, item))
	if err != nil {
		page.fail(err)
		return page
	}
	x := &wire.Exchange{Request: request, Limit: f.opt.MaxSize, Clock: clock}
	if item.Kind == frontier.Sitemap {
		x.Limit = max(x.Limit, sitemap.MaxBytes)
	}
	err = f.shell.do(x, func() { page.fill(x) })
	page.Took = clock.Used()
	if err != nil {
		page.fail(err)
	}
	return page
}

// conditional returns the header with the validators of the last visit, so that an unchanged page
// is not sent again (RFC 9110, section 13.1). A server that supports both uses If-None-Match.
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

// A panicError is a bug of this program, or of a library, that an answer triggered. It fails one
// URL, and must not end the crawl.
type panicError struct {
	url   string
	value any
}

func (e *panicError) Error() string { return fmt.Sprintf("panic at %s: %v", e.url, e.value) }

// fill copies the answer of an exchange into the page.
func (p *Page) fill(x *wire.Exchange) {
	p.Status, p.Header, p.Body = x.Status, x.Header, x.Body
	if p.Raw = x.Raw; p.Raw != nil {
		p.Raw.URL, p.Raw.At = p.Item.URL, p.FetchedAt
	}
	if isRedirect(x.Status) {
		p.redirect()
		return
	}
	if p.NotModified = x.Status == http.StatusNotModified && (p.Item.ETag != "" || p.Item.Modified != ""); p.NotModified {
		return
	}
	p.Truncated = x.BodyErr != nil
	switch {
	case !wire.IsPage(x.Status):
		p.Problem, p.Detail = ProblemStatus, statusText(x.Status)
	case x.BodyErr != nil:
		p.fail(x.BodyErr)
	}
}

// fail sets the problem of a page that is missing or incomplete.
func (p *Page) fail(err error) { p.Problem, p.Detail = classify(err) }

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// isRedirect reports whether a status redirects a GET. 300 offers several choices, and 304 to 306
// are not redirects.
func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirect sets the target of a redirect, or a problem if it cannot be followed.
func (p *Page) redirect() {
	target, err := location(p.Item.URL, p.Header)
	switch {
	case err != nil:
		p.Problem, p.Detail = ProblemLocation, cut(err.Error())
	case p.Item.Hops >= MaxHops:
		p.Problem, p.Detail = ProblemRedirects, cut(fmt.Sprintf("stopped after %d redirects; the next is %s", p.Item.Hops+1, target))
	case target == p.Item.URL:
		p.Problem, p.Detail = ProblemRedirects, "redirects to itself; the site may require cookies"
	default:
		p.Location = target
	}
}

// location returns the canonical URL that a redirect from a canonical URL leads to.
func location(from string, h http.Header) (string, error) {
	to := h.Get("Location")
	if to == "" {
		return "", errors.New("no Location header")
	}
	base, err := frontier.NewBase(from, "")
	if err != nil {
		return "", err
	}
	return base.Resolve(to)
}

// maxRobotsHops is how many redirects of a robots.txt are followed (RFC 9309, section 2.3.1.2).
const maxRobotsHops = 5

// fetchRobots fetches a robots.txt and follows its redirects, waiting for the rest of each host.
// Apart from these waits, it takes no longer than Options.Timeout. A status of 3xx means that a
// redirect cannot be followed, or that there were too many. The body has up to robots.MaxBytes+1
// bytes. An incomplete body is an error, because a rule may be missing, and so is an answer with
// Retry-After.
func (f *fetcher) fetchRobots(ctx context.Context, robotsURL string) (status int, body []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			status, body, err = 0, nil, &panicError{robotsURL, v}
		}
	}()
	left := f.opt.Timeout
	for hops := 0; ; hops++ {
		x, err := f.askRobots(ctx, robotsURL, &left)
		if err != nil {
			return 0, nil, err
		}
		if isRedirect(x.Status) && hops < maxRobotsHops {
			from := robotsURL
			if robotsURL, err = location(from, x.Header); err == nil && !f.opt.trespasses(from, robotsURL) {
				if err := f.waitHop(ctx, robotsURL); err != nil {
					return 0, nil, err
				}
				continue
			}
		}
		later := x.Header.Get("Retry-After")
		switch {
		case later != "" && (x.Status == http.StatusTooManyRequests || x.Status >= 500):
			return 0, nil, &robotsBusy{x.Status, later}
		case x.Status == http.StatusPartialContent:
			return 0, nil, errors.New("unexpected partial answer (status 206)")
		case !wire.IsPage(x.Status):
			return x.Status, nil, nil
		case x.BodyErr != nil && !errors.Is(x.BodyErr, wire.ErrTooLarge):
			return 0, nil, x.BodyErr
		}
		return x.Status, x.Body, nil
	}
}

// askRobots makes one exchange of fetchRobots within the time left, and subtracts from it the time
// used.
func (f *fetcher) askRobots(ctx context.Context, robotsURL string, left *time.Duration) (*wire.Exchange, error) {
	ctx, clock, cancel := wire.StartClock(ctx, *left, f.opt.Timeout)
	defer cancel()
	defer func() { *left -= clock.Used() }()
	request, err := wire.NewRequest(ctx, robotsURL, f.robotsHeader)
	if err != nil {
		return nil, err
	}
	x := &wire.Exchange{Request: request, Limit: robots.MaxBytes + 1, Clock: clock}
	began := time.Now()
	err = f.wire.Do(x)
	if x.Raw != nil {
		x.Raw.URL, x.Raw.At = robotsURL, began
		f.opt.OnAnswer(x.Raw)
	}
	return x, err
}

func (f *fetcher) waitHop(ctx context.Context, robotsURL string) error {
	if f.hop == nil {
		return nil
	}
	return f.hop(ctx, frontier.HostOf(robotsURL))
}

// A robotsBusy is an answer to the request for robots.txt with an error status and a Retry-After.
type robotsBusy struct {
	status     int
	retryAfter string // as sent
}

func (e *robotsBusy) Error() string {
	return fmt.Sprintf("status %d, Retry-After %s", e.status, cut(e.retryAfter))
}
