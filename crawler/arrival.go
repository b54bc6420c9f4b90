package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"skink/crawler/wire"
	"skink/frontier"
)

// # From a URL to a stored page
//
// A turn is the fetch of one URL; see turn.go. fetchTurn looks up the address of the turn's host,
// gets its robots.txt, and fetches the URL. The result is an arrival, which a worker passes to
// hand. hand gives the page to the handler, and ends the turn. fetchTurn and hand report to the
// schedule through four calls, in this order: locate, admit, fetched and done.

type arrival struct {
	turn   *turn
	page   *Page
	asked  bool        // whether the URL was requested; if not, page contains only the reason
	puzzle bool        // the response is a captcha, which a browser may pass by rendering it
	bodies *wire.Share // memory reserved for the body; must be released
}

// fetchTurn fetches the URL of a turn. It returns nil if the turn was undone and the URL will be
// fetched later.
func (c *Crawl) fetchTurn(ctx context.Context, t *turn) (*arrival, error) {
	ctx, ok := c.locate(context.WithValue(ctx, turnKey{}, t), t)
	if !ok {
		return nil, ctx.Err()
	}
	allowed, err := c.permit(ctx, t)
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
	if a.page == nil && t.item.Kind == frontier.Requisite {
		a.page = c.requisite(t)
	}
	if a.page == nil {
		if t.item, err = c.mayConfirm(ctx, t.item); err != nil {
			return nil, err
		}
		a.page, a.asked = c.fetch(ctx, t.item), true
		a.page.Rules, a.page.Signals, a.page.Hidden = c.opt.Rules, allowed.signals, allowed.hidden
		if a.puzzle = c.mayPass(a.page); a.puzzle {
			a.page.Problem, a.page.Detail = "", ""
		}
		c.findSitemaps(ctx, t, a.page)
		if c.opt.OnPage != nil {
			c.opt.OnPage(a.page)
		}
	}
	if !a.asked && c.opt.OnRefused != nil {
		c.opt.OnRefused(a.page)
	}
	a.page.Private = c.opt.IsPrivate(t.item.URL)
	a.page.Claim = t.claim
	switch again, err := c.schedule.fetched(ctx, a); {
	case err != nil:
		return nil, err
	case again:
		return nil, c.tryLater(ctx, a)
	}
	return a, nil
}

// mayConfirm returns an item without its validators if the page must be read, whatever the server sends.
func (c *Crawl) mayConfirm(ctx context.Context, item frontier.Item) (_ frontier.Item, err error) {
	none := frontier.Validators{}
	may := item.Validators != none && item.Rules == c.opt.Rules
	if may && c.opt.MayConfirm != nil {
		may, err = c.opt.MayConfirm(ctx, item.URL)
	}
	if !may {
		item.Validators = none
	}
	return item, err
}

// locate looks up the IP address of a turn's host, if the options limit the number of requests to
// one address. It returns false if the turn was undone because the address is busy. The caller must
// use the returned context for the turn.
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

// release puts the URL back into the frontier as item. It returns true if this worker has lost its
// claim on the host.
func (c *Crawl) release(ctx context.Context, a *arrival, item frontier.Item) (lost bool, err error) {
	c.keepRaw(a.page)
	err = c.front.Release(ctx, a.turn.claim, item)
	if err == nil || errors.Is(err, frontier.ErrLost) {
		return err != nil, nil
	}
	return false, fmt.Errorf("return %s to the queue: %w", item.URL, err)
}

// keepRaw passes the raw response for a page to OnAnswer. It is called for pages that are not
// passed to the handler.
func (c *Crawl) keepRaw(page *Page) {
	if c.opt.OnAnswer != nil && page.Raw != nil {
		c.opt.OnAnswer(page.Raw)
	}
}

// hand passes an arrival to the handler, and then reports its URL as finished. If a browser must
// render the page first, hand uses start to render it in another goroutine, and returns at once.
func (c *Crawl) hand(ctx context.Context, a *arrival, start func(func() error)) error {
	when := c.drawn(a.page)
	if a.puzzle && when != RenderOff {
		when = RenderAlways
	}
	a.page.MayRender = when == RenderAuto
	err := ErrRender
	var o outcome
	if when != RenderAlways {
		o, err = c.handle(ctx, a)
	}
	if errors.Is(err, ErrRender) {
		start(func() error { return c.draw(ctx, a, start) })
		return nil
	}
	defer a.bodies.Release()
	if err != nil {
		return err
	}
	c.schedule.done(a, o)
	return nil
}

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
		o.lost = true // the worker that now has the claim will fetch the URL and find its links
	case err != nil:
		return o, err
	default:
		o.depth, o.hosts = leads.depth(), append(leads.hosts(nil), a.page.Listed.hosts()...)
		if c.opt.Requisites {
			o.requisites = leads.hosts(func(it *frontier.Item) bool { return it.Kind == frontier.Requisite })
		}
	}
	if t.item.Kind == Probing { // the handler may have put pages of the host back into the frontier
		c.keepRaw(a.page)
		o.hosts = []string{t.host.name}
	}
	if l, ok := c.handler.(Leaver); ok {
		o.alone = l.LeaveAlone(t.host.name)
	}
	if !o.lost {
		o.probe, err = c.probe(ctx, t)
	}
	return o, err
}
