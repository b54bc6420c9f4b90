package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gocolly/colly/v2"

	"skink/crawler/robots"
	"skink/crawler/sitemap"
	"skink/frontier"
)

// A fetcher makes pages of URLs, one exchange each: redirects are not followed, nothing is
// remembered, nothing is tried again. It may be used by several goroutines.
type fetcher struct {
	opt       Options
	collector *colly.Collector
	transport *transport
	folders   *folderServer                                // nil: there are none
	hop       func(ctx context.Context, host string) error // waits for a host's turn to be asked for a robots.txt that another leads to; nil: nobody waits

	pageHeader   http.Header // sent for a page; not changed
	robotsHeader http.Header // sent for a robots.txt; not changed
}

// newFetcher starts the servers of opt.Folders, and opens nothing else. The fetcher must be closed.
func newFetcher(opt Options) (*fetcher, error) {
	opt = opt.orDefaults()
	folders, err := newFolderServer(opt.Folders, opt.Hidden)
	if err != nil {
		return nil, err
	}
	t := newTransport(opt, newDialer(opt, folders))
	return &fetcher{
		opt:          opt,
		collector:    newCollector(t),
		transport:    t,
		folders:      folders,
		pageHeader:   header(opt.UserAgent, "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5"),
		robotsHeader: header(opt.UserAgent, "text/plain,*/*;q=0.5"),
	}, nil
}

// newCollector sets Colly up to do one thing: pass a request to t, and its answer to the callback.
// Init is used in place of NewCollector because that reads settings from COLLY_ variables of the
// environment.
func newCollector(t http.RoundTripper) *colly.Collector {
	c := new(colly.Collector)
	c.Init()
	c.AllowURLRevisit = true        // the frontier says what is visited
	c.IgnoreRobotsTxt = true        // robots_cache.go
	c.ParseHTTPErrorResponse = true // a 404 is an answer
	c.MaxBodySize = 0               // t bounds the body
	c.SetRequestTimeout(0)          // and the time
	c.DisableCookies()
	c.SetRedirectHandler(func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse })
	c.WithTransport(t)
	c.OnResponse(func(r *colly.Response) {
		if answered, ok := r.Ctx.GetAny(answeredKey).(func()); ok {
			answered()
		}
	})
	return c
}

// answeredKey is where a request's Colly context holds what to do with its answer.
const answeredKey = "answered"

func header(agent, accept string) http.Header {
	return http.Header{"User-Agent": {agent}, "Accept": {accept}, "Accept-Encoding": {acceptEncoding}}
}

// close ends the connections, and the servers of folders. Nothing may be fetched any more.
func (f *fetcher) close() {
	f.transport.http.CloseIdleConnections()
	f.folders.close()
}

// fetch asks for one URL. The page is never nil. If ctx ends, nothing can be concluded from what it
// says.
func (f *fetcher) fetch(ctx context.Context, item frontier.Item) (page *Page) {
	page = &Page{Item: item, FetchedAt: time.Now()}
	defer func() {
		if v := recover(); v != nil {
			page = &Page{Item: item, FetchedAt: page.FetchedAt}
			page.fail(&panicError{item.URL, v})
		}
	}()
	ctx, clock, cancel := startClock(ctx, f.opt.Timeout, f.opt.Timeout)
	defer cancel()
	request, err := newRequest(ctx, item.URL, conditional(f.pageHeader, item))
	if err != nil {
		page.fail(err)
		return page
	}
	x := &exchange{request: request, limit: f.opt.MaxSize, clock: clock}
	if item.Kind == frontier.Sitemap {
		x.limit = max(x.limit, sitemap.MaxBytes)
	}
	err = f.throughColly(x, func() { page.fill(x) })
	page.Took = clock.used()
	if err != nil {
		page.fail(err)
	}
	return page
}

// conditional asks for a page only if it is not what it was at the visit before (RFC 9110, section
// 13.1). A server that knows both validators goes by the first.
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

// A panicError is a mistake of ours, or of a library, that an answer brought to light. It is one
// URL's problem, and must not be the end of the crawl.
type panicError struct {
	url   string
	value any
}

func (e *panicError) Error() string { return fmt.Sprintf("panic at %s: %v", e.url, e.value) }

// collyURL is what Colly is told to fetch. The transport has the real URL: Colly would parse it,
// and refuse some that are URLs by today's standard.
const collyURL = "http://exchange.invalid/"

// throughColly makes an exchange by way of Colly, and calls answered if there is an answer.
func (f *fetcher) throughColly(x *exchange, answered func()) error {
	number := f.transport.begin(x)
	defer f.transport.end(number)
	ctx := colly.NewContext()
	ctx.Put(answeredKey, answered)
	return f.collector.Request(http.MethodGet, collyURL, nil, ctx, http.Header{numberHeader: {number}})
}

// A timeoutError is an exchange that took too long.
type timeoutError struct{ limit time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("no whole answer within %v", e.limit) }
func (e *timeoutError) Timeout() bool { return true }

// fill takes the answer of an exchange over into the page.
func (p *Page) fill(x *exchange) {
	p.Status, p.Header, p.Body = x.status, x.header, x.body
	if p.Raw = x.raw; p.Raw != nil {
		p.Raw.URL, p.Raw.At = p.Item.URL, p.FetchedAt
	}
	if isRedirect(x.status) {
		p.redirect()
		return
	}
	if p.NotModified = x.status == http.StatusNotModified && (p.Item.ETag != "" || p.Item.Modified != ""); p.NotModified {
		return
	}
	p.Truncated = x.bodyErr != nil
	switch {
	case !isPage(x.status):
		p.Problem, p.Detail = ProblemStatus, statusText(x.status)
	case x.bodyErr != nil:
		p.fail(x.bodyErr)
	}
}

// fail records why there is no page, or no whole one.
func (p *Page) fail(err error) { p.Problem, p.Detail = classify(err) }

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// isRedirect says whether a status sends a GET elsewhere. 300 has a list of choices, and 304 to 306
// mean something else.
func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirect finds out where the page leads.
func (p *Page) redirect() {
	target, err := location(p.Item.URL, p.Header)
	switch {
	case err != nil:
		p.Problem, p.Detail = ProblemLocation, cut(err.Error())
	case p.Item.Hops >= MaxHops:
		p.Problem, p.Detail = ProblemRedirects, cut(fmt.Sprintf("the last of %d leads to %s", p.Item.Hops+1, target))
	case target == p.Item.URL:
		p.Problem, p.Detail = ProblemRedirects, "leads to itself; it may want a cookie"
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

// fetchRobots asks for a robots.txt and follows its redirects, each when its host may be asked
// again. Without those waits it all takes no longer than one exchange may. A status of 3xx means
// that the redirects lead nowhere, or too far. The body has up to robots.MaxBytes+1 bytes. A broken
// body is an error, for what is missing may be a rule, and so is an answer that says when to come
// back.
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
		if isRedirect(x.status) && hops < maxRobotsHops {
			from := robotsURL
			if robotsURL, err = location(from, x.header); err == nil && !f.opt.trespasses(from, robotsURL) {
				if err := f.waitHop(ctx, robotsURL); err != nil {
					return 0, nil, err
				}
				continue
			}
		}
		later := x.header.Get("Retry-After")
		switch {
		case later != "" && (x.status == http.StatusTooManyRequests || x.status >= 500):
			return 0, nil, &robotsBusy{x.status, later}
		case x.status == http.StatusPartialContent:
			return 0, nil, errors.New("answered with a part of the file, which was not asked for")
		case !isPage(x.status):
			return x.status, nil, nil
		case x.bodyErr != nil && !errors.Is(x.bodyErr, errTooLarge):
			return 0, nil, x.bodyErr
		}
		return x.status, x.body, nil
	}
}

// askRobots makes one exchange of fetchRobots, in the time that is left, of which it takes what it
// needed.
func (f *fetcher) askRobots(ctx context.Context, robotsURL string, left *time.Duration) (*exchange, error) {
	ctx, clock, cancel := startClock(ctx, *left, f.opt.Timeout)
	defer cancel()
	defer func() { *left -= clock.used() }()
	request, err := newRequest(ctx, robotsURL, f.robotsHeader)
	if err != nil {
		return nil, err
	}
	x := &exchange{request: request, limit: robots.MaxBytes + 1, clock: clock}
	began := time.Now()
	err = f.transport.do(x)
	if x.raw != nil {
		x.raw.URL, x.raw.At = robotsURL, began
		f.opt.OnAnswer(x.raw)
	}
	return x, err
}

func (f *fetcher) waitHop(ctx context.Context, robotsURL string) error {
	if f.hop == nil {
		return nil
	}
	return f.hop(ctx, frontier.HostOf(robotsURL))
}

// A robotsBusy says that a host answered the request for robots.txt with when to come back.
type robotsBusy struct {
	status     int
	retryAfter string // as sent
}

func (e *robotsBusy) Error() string {
	return fmt.Sprintf("status %d, Retry-After %s", e.status, cut(e.retryAfter))
}
