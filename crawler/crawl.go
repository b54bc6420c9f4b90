// Package crawler turns URLs into pages: it fetches what a frontier holds, politely, within a
// scope, and hands every answer to a handler.
//
// Start with [Walk], which does it all in memory:
//
//	err := crawler.Walk(ctx, []string{"https://example.com/"}, crawler.Defaults(), func(p *crawler.Page) (crawler.Links, error) {
//		doc, err := extract.Parse(p.Body, p.Header.Get("Content-Type"))
//		if err != nil || p.Problem != "" {
//			return crawler.Links{}, nil
//		}
//		fmt.Println(p.Item.URL, doc.Title)
//		return crawler.Links{Base: doc.Base, Hrefs: doc.Hrefs()}, nil
//	})
//
// A [Crawl] takes the next URL that is due from the schedule whenever a place on the network is
// free, checks robots.txt and fetches the URL through Colly. A bounded pool of workers passes each
// fetched [Page] to the [Handler], which stores the page and the links on it ([Leads]). After a
// kill, the next run fetches again only the URLs that were under way, see [Options].Connections.
//
// The package does not run scripts, log in, or solve puzzles. It reads only what a server sends to
// every visitor.
package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skink/crawler/wire"
	"skink/frontier"
)

// A Handler processes the pages that a crawl fetches.
type Handler interface {
	// Handle stores the result of a URL. It passes the page's links to leads, and writes in this
	// order, so that a killed crawl loses no URL: first the items of leads, then the page, and last
	// the end of the URL. Several goroutines call it. An error ends the crawl, with two exceptions,
	// for which nothing of the page was written: [frontier.ErrLost] says that another worker holds
	// the page's host by now, and [ErrLookAgain] that the URL must be fetched again.
	Handle(ctx context.Context, p *Page, leads *Leads) error

	// Pages returns the number of pages in the store, for Options.MaxPages.
	Pages() int64
}

// A Crawl is one run over a frontier.
type Crawl struct {
	opt       Options
	front     frontier.Frontier
	handler   Handler
	fetch     func(context.Context, frontier.Item) *Page
	lookup    func(ctx context.Context, host string) (at netip.Addr, known bool) // nil: addresses are not looked up
	close     func()
	peek      func(ctx context.Context, url string) (isSitemap bool) // reads the beginning of the answer
	closeIdle func()                                                 // closes the connections that are not in use
	robots    *robotsCache
	rooms     *wire.Rooms
	schedule  *schedule

	sitemapsMu sync.Mutex
	sitemaps   map[string]int // guarded by sitemapsMu: number of sitemaps queued, by the host that names them
}

// New returns a crawl of the URLs in front, including those added during the crawl. Close it after
// Run.
func New(front frontier.Frontier, opt Options, handler Handler) (*Crawl, error) {
	opt = opt.orDefaults()
	f, err := newFetcher(opt)
	if err != nil {
		return nil, err
	}
	c := newCrawl(front, opt, handler, f.fetch, f.fetchRobots)
	c.close, c.closeIdle = f.close, f.wire.CloseIdle
	f.hop = c.schedule.hop
	c.peek = f.peek
	if opt.PerIP > 0 {
		c.lookup = f.wire.Lookup
	}
	return c, nil
}

func newCrawl(front frontier.Frontier, opt Options, handler Handler, fetch func(context.Context, frontier.Item) *Page, fetchRobots robotsFetch) *Crawl {
	c := &Crawl{opt: opt, front: front, handler: handler, fetch: fetch, rooms: wire.NewRooms(opt.Bodies), sitemaps: map[string]int{}, close: func() {}, closeIdle: func() {}}
	c.schedule = newSchedule(front, opt, handler.Pages)
	c.robots = newRobotsCache(c.counted(fetchRobots), time.Now)
	return c
}

// Close closes the connections and stops the servers of folders.
func (c *Crawl) Close() { c.close() }

// Waiting returns the number of hosts that have URLs to fetch, now or later.
func (c *Crawl) Waiting() int { return c.schedule.waiting() }

// Run crawls until no URL is left that can be fetched within the limits of Options, the handler
// returns an error, or ctx ends. When ctx ends, Run starts no more requests, gives those in flight
// Options.Grace to finish, and returns the error of ctx. Before it returns, it gives all hosts that
// it holds back to the frontier.
func (c *Crawl) Run(ctx context.Context) error {
	c.schedule.load()
	work, cancel := c.withGrace(ctx)
	defer cancel()
	err := c.run(ctx, work, cancel)
	return cmp.Or(err, c.schedule.giveAllBack(context.WithoutCancel(ctx)))
}

// run does the work of Run, except for giving back the hosts.
func (c *Crawl) run(ctx, work context.Context, cancel func()) error {
	var failure failure
	parts, stop := errgroup.WithContext(ctx)
	start := func(part func() error) {
		parts.Go(func() error {
			err := part()
			if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
				failure.keep(err)
				cancel() // pages under way could not be stored
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
			failure.keep(err)
			cancel()
		}
	})
	arrived := make(chan *arrival)
	start(func() error { return c.ask(stop, work, start, arrived) })
	for range max(c.opt.Parallel, 1) {
		start(func() error { return c.work(work, arrived) })
	}
	switch err := parts.Wait(); {
	case failure.err != nil:
		return failure.err
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, ctx.Err())):
		return ctx.Err()
	default:
		return err
	}
}

// A failure keeps the first error that is not the end of a context. Errors that it causes in other
// workers would only hide it.
type failure struct {
	once sync.Once
	err  error // read only after all workers have ended
}

func (f *failure) keep(err error) { f.once.Do(func() { f.err = err }) }

// withGrace returns a context that ends Options.Grace after ctx, or when it is cancelled.
func (c *Crawl) withGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(c.opt.Grace):
			cancel()
		case <-work.Done():
		}
	})
	return work, func() { stop(); cancel() }
}

// ask begins the turns that are due until stop ends or nothing is left. Each turn runs in its own
// goroutine with the context ctx. It sends its page to arrived, unless its URL must have another
// turn.
func (c *Crawl) ask(stop, ctx context.Context, start func(func() error), arrived chan<- *arrival) error {
	defer close(arrived)
	var turns sync.WaitGroup
	defer turns.Wait()
	for {
		t, err := c.schedule.next(stop)
		switch {
		case errors.Is(err, errFinished):
			if more, err := c.sweep(stop); err != nil || !more {
				return err
			}
			continue
		case err != nil:
			return err
		}
		turns.Add(1)
		start(func() error {
			defer turns.Done()
			bodies := c.rooms.Share(t.place.pace == quick)
			a, err := c.visit(wire.WithShare(ctx, bodies), t)
			if a == nil {
				bodies.Leave()
				return err
			}
			a.bodies = bodies
			select {
			case arrived <- a:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}
}

// An arrival is the result of a turn, which a worker processes.
type arrival struct {
	turn   *turn
	page   *Page
	bodies *wire.Share        // must be given back
	ended  func(*turn, *Page) // called when the page is stored, to tell the schedule; nil: the schedule knows already
}

// work processes arrivals until the channel is closed.
func (c *Crawl) work(ctx context.Context, arrived <-chan *arrival) error {
	for a := range arrived {
		if err := c.hand(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// visit fetches the URL of a turn. It returns nil if the URL must have another turn.
func (c *Crawl) visit(ctx context.Context, t *turn) (*arrival, error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest:         func(httptrace.WroteRequestInfo) { c.schedule.sent(t) },
		GotFirstResponseByte: func() { c.schedule.heard(t) },
	})
	ctx, ok := c.locate(ctx, t)
	if !ok {
		return nil, ctx.Err()
	}
	page, err := c.askRobots(ctx, t)
	switch {
	case errors.Is(err, errPutBack):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if !c.schedule.holds(t) {
		c.schedule.drop(t)
		return nil, nil
	}
	ended := c.schedule.unused
	if page == nil {
		if page, err = c.postponed(ctx, t.item); err != nil {
			return nil, err
		}
	}
	if page == nil {
		page, ended = c.fetch(ctx, t.item), c.schedule.answered
		c.schedule.account(t, page)
		c.findSitemaps(ctx, t, page)
		if c.opt.OnPage != nil {
			c.opt.OnPage(page)
		}
	}
	if ctx.Err() != nil { // cut off in the middle: the page says nothing about the URL
		return nil, ctx.Err()
	}
	if page.Transient() {
		return c.later(ctx, t, page)
	}
	return c.arrive(t, page, ended), nil
}

// locate looks up the address of a turn's host, if there is a limit for each address, and reports
// whether the turn may go on. The turn goes on with the returned context.
func (c *Crawl) locate(ctx context.Context, t *turn) (context.Context, bool) {
	if c.lookup == nil || t.host.folder {
		return ctx, true
	}
	if !t.placed {
		if at, known := c.lookup(ctx, t.host.name); known && !c.schedule.locate(t, at) {
			return ctx, false
		}
	}
	crowded, newly := c.schedule.crowded(t.host)
	if newly {
		c.closeIdle()
	}
	if crowded {
		ctx = wire.WithoutReuse(ctx)
	}
	return ctx, true
}

// arrive tells the schedule that the request of a turn has ended, and returns the page for the
// workers. The next page of a host may be requested while a worker processes this one. A folder
// waits until this one is stored: its pages are judged in the order of their links, so that one
// folder always gets the same verdicts (with PerHost 1).
func (c *Crawl) arrive(t *turn, page *Page, ended func(*turn, *Page)) *arrival {
	c.schedule.arrived(t)
	page.Claim = t.claim
	if t.host.folder {
		return &arrival{turn: t, page: page, ended: ended}
	}
	ended(t, page)
	return &arrival{turn: t, page: page}
}

// hand passes a page to the handler, and tells the schedule the result.
func (c *Crawl) hand(ctx context.Context, a *arrival) error {
	defer a.bodies.Leave()
	if a.turn.item.Kind == probing {
		return c.probed(ctx, a)
	}
	if err := c.readSitemap(ctx, a.page); err != nil {
		return err
	}
	leads, err := LeadsOf(a.page, &c.opt)
	if err != nil {
		return err
	}
	err = c.handler.Handle(ctx, a.page, leads)
	lost, again := errors.Is(err, frontier.ErrLost), errors.Is(err, ErrLookAgain)
	if again {
		err = c.lookAgain(ctx, a)
		lost = errors.Is(err, frontier.ErrLost)
	}
	if err != nil && !lost { // if the host was lost, its new holder fetches the URL and finds its links
		return err
	}
	if a.ended != nil {
		a.ended(a.turn, a.page)
	}
	c.leave(a.turn)
	switch {
	case again && !lost:
		if err := c.probe(ctx, a.turn); err != nil {
			return err
		}
		c.schedule.finish(a.turn, a.turn.item.Depth, a.turn.host.name)
		return nil
	case lost:
		c.schedule.lose(a.turn.claim)
		c.schedule.finish(a.turn, 0)
		return nil
	}
	if err := c.probe(ctx, a.turn); err != nil {
		return err
	}
	c.schedule.finish(a.turn, leads.depth(), append(leads.hosts(), a.page.Listed.hosts()...)...)
	return nil
}

// later gives the URL of a transient problem back to the frontier, to be tried again. If its tries
// are used up, it returns the page for the workers.
func (c *Crawl) later(ctx context.Context, t *turn, page *Page) (*arrival, error) {
	if c.schedule.failed(t, page) || t.item.Kind == probing {
		return c.arrive(t, page, func(*turn, *Page) {}), nil // failed has ended its turn
	}
	if c.opt.OnAnswer != nil && page.Raw != nil {
		c.opt.OnAnswer(page.Raw)
	}
	item := t.item
	item.Tries++
	if err := c.front.Release(ctx, t.claim, item); errors.Is(err, frontier.ErrLost) {
		c.schedule.lose(t.claim)
	} else if err != nil {
		return nil, fmt.Errorf("release %s: %w", item.URL, err)
	}
	c.schedule.finish(t, item.Depth, t.host.name)
	return nil, nil
}

var errPutBack = errors.New("its turn has yet to come")

// askRobots returns nil if a URL may be fetched, else a page with the reason. The error errPutBack
// means that the turn is over and the URL waits for another turn.
func (c *Crawl) askRobots(ctx context.Context, t *turn) (*Page, error) {
	if c.opt.IgnoreRobots {
		return nil, nil
	}
	rules, err := c.robots.get(ctx, t.item.URL)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return c.noRobots(t.item, err), nil
	}
	origin, _, _ := strings.Cut(t.item.URL, "://")
	c.schedule.slow(t.host, origin, rules.CrawlDelay(c.opt.UserAgent))
	if !rules.Allowed(c.opt.UserAgent, t.item.URL) {
		return &Page{Item: t.item, FetchedAt: time.Now(), Problem: ProblemRobots, Detail: "robots.txt of " + t.host.name + " does not allow it"}, nil
	}
	if c.schedule.putBack(t) {
		return nil, errPutBack
	}
	return nil, nil
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
