package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"skink/crawler/wire"
	"skink/frontier"
)

// # From a turn to a stored page
//
// visit looks up the address of the turn's host, gets its robots.txt, and fetches the URL. The
// result is an arrival, which a worker passes to hand. hand gives the page to the handler, and ends
// the turn. They tell the schedule four things, in this order: locate, admit, fetched and done.

// An arrival is the result of a turn.
type arrival struct {
	turn   *turn
	page   *Page
	asked  bool        // the URL was requested; false: the page only says why not
	bodies *wire.Share // must be given back
}

// visit fetches the URL of a turn. It returns nil if the URL must have another turn.
func (c *Crawl) visit(ctx context.Context, t *turn) (*arrival, error) {
	ctx, ok := c.locate(c.schedule.watch(ctx, t), t)
	if !ok {
		return nil, ctx.Err()
	}
	allowed, err := c.askRobots(ctx, t)
	if err != nil {
		return nil, err
	}
	if !c.schedule.admit(t, allowed) {
		return nil, nil
	}
	a := &arrival{turn: t, page: allowed.refusal}
	if a.page == nil {
		if a.page, err = c.postponed(ctx, t.item); err != nil {
			return nil, err
		}
	}
	if a.page == nil {
		a.page, a.asked = c.fetch(ctx, t.item), true
		c.findSitemaps(ctx, t, a.page)
		if c.opt.OnPage != nil {
			c.opt.OnPage(a.page)
		}
	}
	if ctx.Err() != nil { // cut off in the middle: the page says nothing about the URL
		return nil, ctx.Err()
	}
	a.page.Claim = t.claim
	if c.schedule.fetched(a) {
		return nil, c.tryLater(ctx, a)
	}
	return a, nil
}

// locate looks up the address of a turn's host, if there is a limit for each address, and reports
// whether the turn may go on. The turn goes on with the returned context.
func (c *Crawl) locate(ctx context.Context, t *turn) (context.Context, bool) {
	if c.lookup == nil || t.host.folder {
		return ctx, true
	}
	var at netip.Addr
	known := false
	if !t.located {
		at, known = c.lookup(ctx, t.host.name)
	}
	brief, newly, ok := c.schedule.locate(t, at, known)
	if newly {
		c.closeIdle()
	}
	if brief {
		ctx = wire.WithoutReuse(ctx)
	}
	return ctx, ok
}

// askRobots returns what robots.txt says of the URL of a turn. Its error is that of ctx.
func (c *Crawl) askRobots(ctx context.Context, t *turn) (p permission, err error) {
	if c.opt.IgnoreRobots {
		return p, nil
	}
	rules, err := c.robots.get(ctx, t.item.URL)
	if ctx.Err() != nil {
		return p, ctx.Err()
	}
	if err != nil {
		p.refusal = c.noRobots(t.item, err)
		return p, nil
	}
	p.origin, _, _ = strings.Cut(t.item.URL, "://")
	p.delay = rules.CrawlDelay(c.opt.UserAgent)
	if !rules.Allowed(c.opt.UserAgent, t.item.URL) {
		p.refusal = &Page{Item: t.item, FetchedAt: time.Now(), Problem: ProblemRobots, Detail: "robots.txt of " + t.host.name + " does not allow it"}
	}
	return p, nil
}

// noRobots returns the page of a URL whose robots.txt cannot be fetched.
//
// The cache would keep a failure for ten minutes. But a URL is tried again only after the back-off
// of its host. If robots.txt were not requested again then, a short outage would use up all tries
// of a site's only seed. So a transient failure is forgotten at once, and the schedule alone
// decides when the host is asked again.
func (c *Crawl) noRobots(item frontier.Item, err error) *Page {
	page := robotsProblem(item, err)
	if page.Transient() {
		c.robots.forget(item.URL)
	}
	return page
}

// robotsProblem returns the page of a URL whose robots.txt cannot be fetched. If there was no
// answer, the page has the problem of that request, such as [ProblemConnect]. Else it has
// [ProblemUnrobots].
func robotsProblem(item frontier.Item, err error) *Page {
	page := &Page{Item: item, FetchedAt: time.Now(), Problem: ProblemUnrobots, Detail: err.Error()}
	cause := errors.Unwrap(err)
	if busy, ok := errors.AsType[*robotsBusy](err); ok {
		page.Header = http.Header{"Retry-After": {busy.retryAfter}}
	} else if _, answered := errors.AsType[robotsStatus](err); cause != nil && !answered {
		page.Problem, page.Detail = classify(cause)
		page.Detail = "robots.txt: " + page.Detail
	}
	return page
}

// tryLater gives the URL of a transient problem back to the frontier, to be tried again.
func (c *Crawl) tryLater(ctx context.Context, a *arrival) error {
	item := a.turn.item
	item.Tries++
	lost, err := c.release(ctx, a, item)
	if err != nil {
		return err
	}
	c.schedule.done(a, outcome{lost: lost, depth: item.Depth, hosts: []string{a.turn.host.name}})
	return nil
}

// release gives the URL of a turn back to the frontier as item. It reports whether the claim of the
// host was lost.
func (c *Crawl) release(ctx context.Context, a *arrival, item frontier.Item) (lost bool, err error) {
	c.keepRaw(a.page)
	err = c.front.Release(ctx, a.turn.claim, item)
	if err == nil || errors.Is(err, frontier.ErrLost) {
		return err != nil, nil
	}
	return false, fmt.Errorf("release %s: %w", item.URL, err)
}

// keepRaw calls OnAnswer for a page that does not reach the handler.
func (c *Crawl) keepRaw(page *Page) {
	if c.opt.OnAnswer != nil && page.Raw != nil {
		c.opt.OnAnswer(page.Raw)
	}
}

// hand passes an arrival to the handler, and ends its turn.
func (c *Crawl) hand(ctx context.Context, a *arrival) error {
	defer a.bodies.Leave()
	handle := c.handle
	if a.turn.item.Kind == probing {
		handle = c.probed
	}
	o, err := handle(ctx, a)
	if err != nil {
		return err
	}
	c.schedule.done(a, o)
	return nil
}

// handle passes a page to the handler.
func (c *Crawl) handle(ctx context.Context, a *arrival) (o outcome, err error) {
	if err := c.readSitemap(ctx, a.page); err != nil {
		return o, err
	}
	leads, err := LeadsOf(a.page, &c.opt)
	if err != nil {
		return o, err
	}
	t := a.turn
	switch err := c.handler.Handle(ctx, a.page, leads); {
	case errors.Is(err, ErrLookAgain):
		item := t.item
		item.Priority = lookAgainPriority
		if o.lost, err = c.release(ctx, a, item); err != nil {
			return o, err
		}
		o.depth, o.hosts = item.Depth, []string{t.host.name}
	case errors.Is(err, frontier.ErrLost):
		o.lost = true // the new holder fetches the URL and finds its links
	case err != nil:
		return o, err
	default:
		o.depth, o.hosts = leads.depth(), append(leads.hosts(), a.page.Listed.hosts()...)
	}
	if l, ok := c.handler.(Leaver); ok {
		o.alone = l.Leave(t.host.name)
	}
	if !o.lost {
		o.probe, err = c.probe(ctx, t)
	}
	return o, err
}

// counted wraps fetch so that the schedule counts the requests for robots.txt.
func (c *Crawl) counted(fetch robotsFetch) robotsFetch {
	return func(ctx context.Context, robotsURL string) (int, []byte, error) {
		host := frontier.HostOf(robotsURL)
		c.schedule.askRobots(host)
		began := time.Now()
		status, body, err := fetch(ctx, robotsURL)
		_, busy := errors.AsType[*robotsBusy](err)
		c.schedule.gotRobots(host, busy || err == nil && status < 500, time.Since(began))
		return status, body, err
	}
}
