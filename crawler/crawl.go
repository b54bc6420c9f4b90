// Package crawler fetches the URLs in a frontier politely and within a scope, and passes every page
// to a handler.
//
// Whenever a connection is free, a [Crawl] asks its schedule for the next URL that is due, checks
// robots.txt, and fetches the URL through Colly. A limited number of workers pass each fetched
// [Page] to the [Handler], which stores the page and the links on it ([Leads]). If the process is
// killed, the next run repeats only the fetches that were under way; see [Options].Connections.
//
// The package does not solve CAPTCHAs. It logs in to a host only if the host's settings contain a
// login, and runs the scripts of pages only if Options.Render is set; see package render.
package crawler

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skink/crawler/render"
	"skink/crawler/wire"
	"skink/frontier"
)

// A Crawl fetches the URLs of one frontier, and passes the pages to a [Handler]. It can run only
// once.
type Crawl struct {
	opt       Options
	front     frontier.Frontier
	handler   Handler
	fetch     func(context.Context, frontier.Item) *Page
	lookup    func(ctx context.Context, host string) (at netip.Addr, known bool) // nil means that addresses are not looked up
	close     func()
	peek      func(ctx context.Context, url string) (isSitemap bool)
	closeIdle func()
	addSeed   func(url string)
	browser   drawer // nil if no pages are rendered
	fetchPart func(context.Context, ask) (render.Answer, error)
	parts     *resourceCache
	robots    *robotsCache
	rooms     *wire.Rooms
	schedule  *schedule
	swept     bool // SharedFiles has been called; used only by ask

	sitemapsMu sync.Mutex
	sitemaps   map[string]int // guarded by sitemapsMu: number of sitemaps queued, by the host that lists them
}

// New returns a crawl of the URLs in front, including those added during the crawl. Close it after
// Run.
func New(front frontier.Frontier, opt Options, handler Handler) (*Crawl, error) {
	opt = opt.orDefaults()
	browser, err := newDrawer(&opt)
	if err != nil {
		return nil, err
	}
	f, err := newFetcher(opt)
	if err != nil {
		return nil, err
	}
	c := newCrawl(front, opt, handler, f.fetchAs, f.fetchRobots)
	c.close, c.closeIdle, c.addSeed, c.fetchPart = f.close, f.wire.CloseIdle, f.wire.AddSeed, f.fetchPart
	if browser != nil {
		c.setBrowser(browser)
	}
	f.schedule, f.robots = c.schedule, c.robots
	c.peek = f.peek
	if opt.PerIP > 0 {
		c.lookup = f.wire.Lookup
	}
	return c, nil
}

func newCrawl(front frontier.Frontier, opt Options, handler Handler, fetch func(context.Context, frontier.Item) *Page, fetchRobots robotsFetch) *Crawl {
	c := &Crawl{opt: opt, front: front, handler: handler, fetch: fetch, rooms: wire.NewRooms(opt.Bodies), parts: newResourceCache(opt.Bodies / 2), sitemaps: map[string]int{}, close: func() {}, closeIdle: func() {}}
	c.schedule = newSchedule(front, opt, handler.Pages)
	c.robots = newRobotsCache(c.timed(fetchRobots), time.Now, robotsMemory)
	return c
}

func (c *Crawl) setBrowser(b drawer) {
	c.browser, c.schedule.opt.tabs = b, b.Tabs()
}

// AddSeed adds a seed of the user, given as a canonical URL, to the scope of a crawl that runs.
func (c *Crawl) AddSeed(url string) {
	c.opt.Scope.AddSeed(url)
	c.addSeed(url)
}

// Close closes the connections, and stops the browser and the servers for local folders.
func (c *Crawl) Close() {
	if c.browser != nil {
		c.browser.Close()
	}
	c.close()
}

// Run crawls until no URL is left that can be fetched within the limits of Options, the handler
// returns an error, or ctx ends. When ctx ends, Run starts no more requests, gives those in flight
// Options.Grace to finish, and returns the error of ctx. Before Run returns, it hands all claimed
// hosts back to the frontier.
func (c *Crawl) Run(ctx context.Context) error {
	work, cancel := Late(ctx, c.opt.Grace)
	defer cancel()
	err := c.run(ctx, work, cancel)
	return cmp.Or(err, c.schedule.giveAllBack(context.WithoutCancel(ctx)))
}

// run does the work of Run, but does not return the claimed hosts to the frontier.
func (c *Crawl) run(ctx, work context.Context, cancel func()) error {
	var once sync.Once
	var failure error // the first one; read only after all workers have ended
	fail := func(err error) {
		once.Do(func() { failure = err })
		cancel() // pages under way could not be stored anyway
	}
	parts, stop := errgroup.WithContext(ctx)
	start := func(part func() error) {
		parts.Go(func() error {
			err := part()
			if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
				fail(err)
			}
			return err
		})
	}
	keeping, over := context.WithCancel(work)
	var keeper sync.WaitGroup
	defer keeper.Wait()
	defer over()
	keeper.Go(func() {
		if err := c.schedule.keep(keeping); err != nil {
			fail(err)
		}
	})
	arrived := make(chan *arrival)
	start(func() error { return c.ask(stop, work, start, arrived) })
	for range max(c.opt.Parallel, 1) {
		start(func() error { return c.work(work, start, arrived) })
	}
	switch err := parts.Wait(); {
	case failure != nil:
		return failure
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, ctx.Err())):
		return ctx.Err()
	default:
		return err
	}
}

// Late returns a context that outlives ctx by a grace period, unless the returned function ends it
// first.
func Late(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	late, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		over := time.AfterFunc(grace, end)
		context.AfterFunc(late, func() { over.Stop() })
	})
	return late, func() { stop(); end() }
}

// ask begins a turn (the fetch of one URL) whenever a URL may be fetched, until stop ends or
// nothing is left to fetch. A turn runs in the goroutine of an earlier turn if one is idle, because
// the stack of a new goroutine would have to grow again. Otherwise it runs in a new goroutine.
func (c *Crawl) ask(stop, ctx context.Context, start func(func() error), arrived chan<- *arrival) error {
	defer close(arrived)
	var turns sync.WaitGroup
	defer turns.Wait()
	idle := make(chan *turn)
	defer close(idle)
	for {
		t, err := c.schedule.next(stop)
		switch {
		case errors.Is(err, errFinished), errors.Is(err, errLimit):
			if more, err := c.sweep(stop, errors.Is(err, errFinished)); err != nil || !more {
				return err
			}
			continue
		case err != nil:
			return err
		}
		select {
		case idle <- t:
			continue
		default:
		}
		turns.Add(1)
		start(func() error {
			defer turns.Done()
			for t, more := t, true; more; t, more = <-idle {
				if err := c.deliver(ctx, t, start, arrived); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// deliver fetches the URL of a turn, and sends the page to arrived. It hands over a brief page itself.
// If the turn was undone, it sends nothing.
func (c *Crawl) deliver(ctx context.Context, t *turn, start func(func() error), arrived chan<- *arrival) error {
	bodies := c.rooms.Share(t.pace == quick)
	a, err := c.fetchTurn(wire.WithShare(ctx, bodies), t)
	if a == nil {
		bodies.Release()
		return err
	}
	if a.bodies = bodies; a.page.Brief {
		return c.hand(ctx, a, start)
	}
	select {
	case arrived <- a:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sweep is called at the end, which a page limit may have brought. It reports whether URLs have been queued.
func (c *Crawl) sweep(ctx context.Context, unlimited bool) (more bool, err error) {
	n := 0
	if s, ok := c.handler.(Sweeper); ok && unlimited {
		n, err = s.Sweep(ctx)
	}
	if n == 0 && err == nil && c.opt.SharedFiles != nil && !c.swept {
		c.swept = true
		n, err = c.opt.SharedFiles(ctx)
	}
	if n == 0 || err != nil {
		return false, err
	}
	c.schedule.stir()
	return true, nil
}

func (c *Crawl) work(ctx context.Context, start func(func() error), arrived <-chan *arrival) error {
	for a := range arrived {
		if err := c.hand(ctx, a, start); err != nil {
			return err
		}
	}
	return nil
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
