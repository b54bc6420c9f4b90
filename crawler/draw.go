package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"skink/base/lru"
	"skink/crawler/access"
	"skink/crawler/render"
	"skink/crawler/wire"
	"skink/frontier"
)

// # Pages that a browser renders
//
// Only code that reads a page can find out whether a browser must render it. So the handler returns
// [ErrRender] before it has written anything. A browser then renders the page from the response
// that was fetched, and the handler gets the page again, with [Page.Drawing]. Nothing is fetched
// twice. Nothing is written to the frontier either: if the crawl is killed in the meantime, the URL
// is still pending.
//
// While a page is rendered, it occupies no worker, and does not count as a request to its host. But
// a host gets no more requests while as many of its pages are being rendered as the browser has
// tabs.
//
// The crawl makes the requests of a rendered page itself; see [Crawl.resource]. So robots.txt, the
// delay of each host, the limit on simultaneous requests, the address checks, the size limits and
// the archive apply to them. These requests come before all other requests to their host. With a
// delay of a second, a page that needs ten files takes ten seconds. Responses are cached for a
// while, so the scripts of an application are fetched only once, not for each page.
//
// Known weaknesses: Options.PerIP does not count these requests. If several workers crawl together,
// Options.PerHost counts only those of the same worker.

// Values of Options.Render, which selects the pages that a browser renders.
const (
	RenderOff    = "off"    // render no pages
	RenderAuto   = "auto"   // render pages for which the handler returns ErrRender
	RenderAlways = "always" // render all HTML pages
)

// ErrRender is returned by a [Handler] to have a page rendered by a browser. The handler may return
// it only if the page's MayRender is true, and before it has written anything.
var ErrRender = errors.New("the page must be rendered first")

type drawer interface {
	Draw(context.Context, render.Page, render.Fetch) (*render.Drawing, error)
	Tabs() int
	Close()
}

func (o *Options) renders(host string) string {
	return cmp.Or(o.Hosts.For(host).Render, o.Render, RenderOff)
}

// Renders reports whether the pages of any host may be rendered.
func (o *Options) Renders() bool {
	draws := func(when string) bool { return when == RenderAuto || when == RenderAlways }
	return draws(o.Render) || slices.ContainsFunc(o.Hosts, func(h access.Host) bool { return draws(h.Render) })
}

// newDrawer returns nil if no pages are to be rendered.
func newDrawer(opt *Options) (drawer, error) {
	if !opt.Renders() {
		return nil, nil
	}
	path, err := render.Find()
	if err != nil {
		return nil, fmt.Errorf("render pages: %w", err)
	}
	return render.New(render.Options{Path: path, Size: opt.MaxSize, Screenshots: opt.Screenshots}), nil
}

// drawn returns the Render option that applies to a page. It returns RenderOff if the page cannot
// be rendered, or has already been rendered.
func (c *Crawl) drawn(p *Page) string {
	switch {
	case c.browser == nil, p.Problem != "", p.Location != "", p.Confirmed(), p.Drawing != nil, p.DrawError != "":
		return RenderOff
	case p.Item.Kind != frontier.Page && p.Item.Kind != Probing, !isHTML(p.Header.Get("Content-Type")):
		return RenderOff
	}
	return c.opt.renders(frontier.HostOf(p.Item.URL))
}

// draw renders the page of an arrival in the browser, and passes the arrival to hand again.
func (c *Crawl) draw(ctx context.Context, a *arrival, start func(func() error)) error {
	c.schedule.drawing(a.turn, true)
	page := a.page
	ctx = wire.WithShare(ctx, a.bodies)
	fetch := func(ctx context.Context, r render.Request) (render.Answer, error) { return c.resource(ctx, page, r) }
	host := c.opt.Hosts.For(frontier.HostOf(page.Item.URL))
	drawing, err := c.browser.Draw(ctx, render.Page{
		URL: page.Item.URL, Header: page.Header, Body: page.Body, Wait: host.Wait, WaitFor: host.WaitFor, Behaviors: host.Behaviors,
		MayPost: func(host string) bool { h := c.opt.Hosts.For(host); return h.Posts != nil && *h.Posts },
	}, fetch)
	c.schedule.drawing(a.turn, false)
	if ctx.Err() != nil {
		a.bodies.Release()
		return ctx.Err()
	}
	failure := ""
	if err != nil {
		failure = cut(err.Error())
	}
	page.Drawn(drawing, failure)
	if page.Problem == ProblemCaptcha && c.schedule.refused(a) {
		a.bodies.Release()
		return c.tryLater(ctx, a)
	}
	return c.hand(ctx, a, start)
}

// mayPass reports whether a page is a captcha that a browser may pass by rendering it.
func (c *Crawl) mayPass(p *Page) bool {
	if p.Problem != ProblemCaptcha {
		return false
	}
	bare := *p
	bare.Problem = ""
	return c.drawn(&bare) != RenderOff
}

func (c *Crawl) resource(ctx context.Context, page *Page, r render.Request) (render.Answer, error) {
	url, err := frontier.Resolve(page.Item.URL, r.URL)
	if err != nil {
		return render.Answer{}, err
	}
	if r := c.opt.refuse(url, forPart, page.Item.URL, 0); r != "" { // the file may be in the cache
		return render.Answer{}, r
	}
	get := func(ask ask) (render.Answer, error) {
		a, later, err := c.parts.get(ctx, &ask, page.FetchedAt, func() (render.Answer, error) { return c.fetchPart(ctx, ask) })
		if later && c.opt.OnReused != nil {
			if err := c.opt.OnReused(ctx, url, page.Item.Depth+1); err != nil {
				return a, err
			}
		}
		return a, err
	}
	host := c.opt.Hosts.For(frontier.HostOf(url))
	guarded := host.Private() || c.opt.Cookies
	ask := ask{url: url, purpose: forPart, from: page.Item.URL, method: r.Method, body: string(r.Body), more: r.Header, anonymous: guarded && !c.opt.shares(page.Item.URL, url)}
	ask.anonymous = ask.anonymous || ask.isPost()
	a, err := get(ask)
	// The CORS check of the Fetch Standard: whether a script of another origin may read the response to a request with credentials.
	shared := a.Header.Get("Access-Control-Allow-Credentials") == "true" && a.Header.Get("Access-Control-Allow-Origin") == r.Header.Get("Origin")
	if err == nil && guarded && !ask.anonymous && r.Header.Get("Origin") != "" && !shared {
		ask.anonymous = true // a script gets no response with credentials that the server does not share with its origin
		return get(ask)
	}
	return a, err
}

// shares reports whether a file that a rendered page requests gets the secrets of the file's host.
// The page must have the same secrets from the user. Cookies that a site has set on its own belong
// to the pages of its domain.
func (o *Options) shares(page, file string) bool {
	a, b := frontier.HostOf(page), frontier.HostOf(file)
	from, to := o.Hosts.For(a), o.Hosts.For(b)
	return a == b || from.SameSecrets(&to) && (to.Private() || frontier.Domain(a) == frontier.Domain(b))
}

// fetchPart fetches a file for a page being rendered.
func (f *fetcher) fetchPart(ctx context.Context, ask ask) (a render.Answer, err error) {
	defer rescue(ask.url, func(why error) { a, err = render.Answer{}, why })
	x := f.posted(ctx, &ask)
	if x == nil {
		x, err = f.send(ctx, ask)
	}
	if err != nil {
		return a, err
	}
	return render.Answer{Status: x.Status, Header: x.Header, Body: x.Body}, x.BodyErr
}

// posted returns the archived exchange of a POST request, or nil if there is none.
func (f *fetcher) posted(ctx context.Context, a *ask) *wire.Exchange {
	if !a.isPost() || f.opt.Posted == nil {
		return nil
	}
	answer := f.opt.Posted(ctx, partKey(a))
	if answer == nil {
		return nil
	}
	return wire.Replay(*answer, f.opt.limit(a.purpose, a.limit), f.opt.Timeout)
}

// drawing records that a rendering has begun or ended. While a page is being rendered, it does not
// count among the pages waiting for a worker.
func (s *schedule) drawing(t *turn, begins bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := 1
	if !begins {
		one = -1
	}
	t.arrived = !begins
	s.capacity.arrived -= one
	t.host.drawing += one
	s.offer(t.host)
	s.changed()
}

const (
	partsFor = 10 * time.Minute // how long a response to the browser is reused for other rendered pages
	cutFor   = 24 * time.Hour   // how long a file that is too large, or a POST request, is not requested again
)

// A resourceCache caches the files that rendered pages request, such as scripts. If several pages
// request one file at the same time, the cache fetches it only once.
type resourceCache struct {
	asking fetches // its mutex guards the fields below
	kept   *lru.Cache[string, resource]
	keys   *lru.Cache[string, string] // the key of the latest response for a URL, if its request had the host's secrets
	queued map[string]bool            // URLs that the frontier visits again, because a later page has used the response
}

type resource struct {
	render.Answer
	err       error // wire.ErrTooLarge if the file is larger than its limit
	at, until time.Time
}

func newResourceCache(bytes int64) *resourceCache {
	const head = 2 << 10 // approximate size of a header in bytes
	weigh := func(p resource) int { return len(p.Body) + head }
	return &resourceCache{
		kept:   lru.New[string](int(bytes), weigh),
		keys:   lru.New[string](maxPartKeys, func(string) int { return 1 }),
		queued: map[string]bool{},
	}
}

const maxPartKeys = 1 << 14

// latest returns the latest cached response for a URL whose request had the secrets of the host,
// regardless of the other fields of the request header, and when it was fetched.
func (c *resourceCache) latest(url string) (a render.Answer, at time.Time, ok bool) {
	c.asking.mu.Lock()
	defer c.asking.mu.Unlock()
	key, ok := c.keys.Get(url)
	if !ok {
		return a, at, false
	}
	p, ok := c.kept.Get(key)
	return p.Answer, p.at, ok && time.Now().Before(p.until)
}

// visited records that the frontier visits the URL of a file again.
func (c *resourceCache) visited(url string) {
	c.asking.mu.Lock()
	defer c.asking.mu.Unlock()
	delete(c.queued, url)
}

// partKey returns the cache key of a request: the method, the URL, the body, the header and whether secrets
// were sent, because the response depends on them.
func partKey(a *ask) string {
	var b strings.Builder
	fmt.Fprintln(&b, a.method, a.url, a.anonymous, len(a.body), a.body)
	_ = a.more.Write(&b) // Write sorts the fields by name
	return b.String()
}

// get returns the cached response for a request. If there is none, it calls fetch, or waits for
// another call to get that is already fetching it. The result later is true for the first page, fetched at
// the time since, that uses a file which had been fetched before.
func (c *resourceCache) get(ctx context.Context, a *ask, since time.Time, fetch func() (render.Answer, error)) (got render.Answer, later bool, err error) {
	key := partKey(a)
	known := func() bool {
		p, ok := c.kept.Get(key)
		if ok = ok && time.Now().Before(p.until); ok {
			got, err = p.Answer, p.err
			later = p.at.Before(since) && err == nil && !a.isPost() && !a.anonymous && isPlain(a.more) && !c.queued[a.url] && len(c.queued) < maxPartKeys
			if later {
				c.queued[a.url] = true
			}
		}
		return ok
	}
	ctxErr := c.asking.once(ctx, key, known, func() {
		at := time.Now()
		got, err = fetch()
		if errors.Is(err, wire.ErrTooLarge) { // the next page would get no more of it
			got.Body = nil
		}
		switch {
		case errors.Is(err, wire.ErrTooLarge), a.isPost() && ctx.Err() == nil:
			c.keep(a, key, resource{got, err, at, at.Add(cutFor)})
		case err == nil && isKept(&got):
			c.keep(a, key, resource{got, nil, at, at.Add(partsFor)})
		}
	})
	return got, later, cmp.Or(ctxErr, err)
}

// isPlain reports whether a request without the fields of h gets the same response.
func isPlain(h http.Header) bool {
	for name := range h {
		if name != "Accept" && name != "Origin" && name != "Accept-Language" {
			return false
		}
	}
	return true
}

func (c *resourceCache) keep(a *ask, key string, got resource) {
	c.asking.mu.Lock()
	defer c.asking.mu.Unlock()
	c.kept.Take(key)
	c.kept.Put(key, got)
	if !a.anonymous && got.err == nil {
		c.keys.Take(a.url)
		c.keys.Put(a.url, key)
	}
}

// isKept reports whether a response may be reused for other pages. It may not if Cache-Control
// forbids it, or if the response is a temporary server failure.
func isKept(a *render.Answer) bool {
	control := strings.ToLower(a.Header.Get("Cache-Control"))
	return a.Status < 500 && a.Status != http.StatusTooManyRequests &&
		!strings.Contains(control, "no-store") && !strings.Contains(control, "no-cache") && !strings.Contains(control, "private")
}
