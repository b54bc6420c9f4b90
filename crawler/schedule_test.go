package crawler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"skink/crawler/folder"
	"skink/crawler/wire"
	"skink/frontier"
	"skink/internal/tools/storetest"
)

// A world is a fake web without a network. A test sets its answers and their durations, by the
// clock of a synctest bubble. It is also the handler of its crawl, and records all requests and all
// handled pages.
type world struct {
	answer   func(url string, n int) *Page // answer to the nth request for a URL, counted from 1; nil means status 200
	robots   func(origin string, n int) (status int, body string, err error)
	takes    func(url string) time.Duration // duration of a request; nil means no time
	links    map[string][]string
	connects func(url string) time.Duration // time before a request is sent; nil means no time
	arrives  func(url string) time.Duration // time from sending a request to the beginning of its answer; nil means no time
	address  func(host string) netip.Addr   // address of a host; nil means that hosts are not looked up

	front *storetest.Frontier
	start time.Time

	mu    sync.Mutex
	asked []request        // guarded by mu: all requests in order, including robots.txt, with the times at which they began
	sent  []request        // guarded by mu: the same requests with the times at which they were sent
	times map[string]int   // guarded by mu: number of requests for each URL
	open  map[string]int   // guarded by mu: number of requests in flight, by host
	most  map[string]int   // guarded by mu: largest value of open, by host
	ended map[string]*Page // guarded by mu: handled pages
	pages int64            // guarded by mu
}

type request struct {
	url string
	at  time.Duration // time since the start
}

// newWorld returns a world with some URLs in its frontier. Unless robots is set, no host has a
// robots.txt.
func newWorld(urls ...string) *world {
	w := &world{front: storetest.NewFrontier(), start: time.Now(), times: map[string]int{}, open: map[string]int{}, most: map[string]int{}, ended: map[string]*Page{}}
	w.discover(urls...)
	return w
}

func (w *world) discover(urls ...string) {
	for _, u := range urls {
		w.front.Discover(context.Background(), []frontier.Item{{URL: u}})
	}
}

// run crawls the world without delays, with the options that change sets.
func (w *world) run(ctx context.Context, change func(*Options)) error {
	opt := Options{Parallel: 8, PerHost: 1, Retries: 2, Grace: 10 * time.Second, UserAgent: "skink"}
	if change != nil {
		change(&opt)
	}
	return w.crawl(opt).Run(ctx)
}

// crawl returns a crawl of the world, without jitter.
func (w *world) crawl(opt Options) *Crawl {
	opt.jitter = func() float64 { return 0.5 }
	c := w.newCrawl(w.front, opt, w)
	if w.address != nil {
		c.lookup = func(_ context.Context, host string) (netip.Addr, bool) { return w.address(host), true }
	}
	return c
}

// newCrawl returns a crawl whose requests take slots of their hosts.
func (w *world) newCrawl(front frontier.Frontier, opt Options, h Handler) *Crawl {
	var c *Crawl
	fetch := func(ctx context.Context, it frontier.Item) *Page {
		began := time.Now()
		ctx, leave, err := c.schedule.slot(ctx, &ask{url: it.URL, purpose: purposeOf(it)})
		if err != nil {
			return &Page{Item: it, FetchedAt: began, Problem: ProblemReset}
		}
		defer leave(&wire.Exchange{})
		return w.fetch(ctx, it)
	}
	fetchRobots := func(ctx context.Context, url string) (int, []byte, error) {
		ctx, leave, err := c.schedule.slot(ctx, &ask{url: url, purpose: forRobots})
		if err != nil {
			return 0, nil, err
		}
		defer leave(&wire.Exchange{})
		return w.fetchRobots(ctx, url)
	}
	c = newCrawl(front, opt, h, fetch, fetchRobots)
	return c
}

func (w *world) fetch(ctx context.Context, it frontier.Item) *Page {
	began := time.Now()
	n := w.request(ctx, it.URL)
	if ctx.Err() != nil {
		return &Page{Item: it, Problem: ProblemReset}
	}
	page := &Page{Status: 200}
	if w.answer != nil {
		if p := w.answer(it.URL, n); p != nil {
			page = p
		}
	}
	answer := *page
	answer.Item, answer.FetchedAt, answer.Took = it, time.Now(), time.Since(began)
	return &answer
}

func (w *world) fetchRobots(ctx context.Context, url string) (int, []byte, error) {
	n := w.request(ctx, url)
	if ctx.Err() != nil {
		return 0, nil, ctx.Err()
	}
	if w.robots == nil {
		return 404, nil, nil
	}
	status, body, err := w.robots(strings.TrimSuffix(url, "/robots.txt"), n)
	return status, []byte(body), err
}

// request records a request, and waits for its duration.
func (w *world) request(ctx context.Context, url string) (n int) {
	host := frontier.HostOf(url)
	w.mu.Lock()
	w.asked = append(w.asked, request{url, time.Since(w.start)})
	w.times[url]++
	n = w.times[url]
	w.open[host]++
	w.most[host] = max(w.most[host], w.open[host])
	w.mu.Unlock()
	if w.connects != nil {
		select {
		case <-time.After(w.connects(url)):
		case <-ctx.Done():
		}
	}
	w.mu.Lock()
	w.sent = append(w.sent, request{url, time.Since(w.start)})
	w.mu.Unlock()
	if trace := httptrace.ContextClientTrace(ctx); trace != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
		if w.arrives != nil {
			time.Sleep(w.arrives(url))
		}
		trace.GotFirstResponseByte()
	}
	if w.takes != nil {
		select {
		case <-time.After(w.takes(url)):
		case <-ctx.Done():
		}
	}
	w.mu.Lock()
	w.open[host]--
	w.mu.Unlock()
	return n
}

func (w *world) Handle(ctx context.Context, p *Page, leads *Leads) error {
	for _, u := range w.links[p.Item.URL] {
		w.discover(u)
		leads.Items = append(leads.Items, frontier.Item{URL: u})
	}
	if err := w.front.End(ctx, storetest.Ending{Claim: p.Claim, URL: p.Item.URL, State: p.End()}); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended[p.Item.URL] != nil {
		return fmt.Errorf("%s was handed over twice", p.Item.URL)
	}
	w.ended[p.Item.URL] = p
	if p.Problem == "" {
		w.pages++
	}
	return nil
}

// rest stores the state of a host in the frontier, as if another worker had returned the host.
func (w *world) rest(t *testing.T, host string, rest frontier.Rest) {
	t.Helper()
	grant, err := w.front.Claim(t.Context(), "before", 1<<20, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range grant.Hosts {
		leave := h.Host.Rest
		if h.Host.Name == host {
			leave = rest
		}
		if err := w.front.Return(t.Context(), h.Claim, leave); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) Pages() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pages
}

// at returns the times at which the requests to a host began, without robots.txt, in seconds.
func (w *world) at(host string) (seconds []float64) {
	for _, r := range w.asked {
		if frontier.HostOf(r.url) == host && !strings.HasSuffix(r.url, "/robots.txt") {
			seconds = append(seconds, r.at.Seconds())
		}
	}
	return seconds
}

func (w *world) pending(t *testing.T) int64 {
	t.Helper()
	counts, err := w.front.Counts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return counts.Pending
}

// urls returns n URLs of a host.
func urls(host string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("http://%s/%d", host, i))
	}
	return all
}

func status(code int, header ...string) *Page {
	p := &Page{Status: code, Header: http.Header{}}
	if code >= 400 {
		p.Problem = ProblemStatus
	}
	for i := 0; i < len(header); i += 2 {
		p.Header.Set(header[i], header[i+1])
	}
	return p
}

var refused = &Page{Problem: ProblemConnect, Detail: "connection refused"}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

// The delay between the starts of two requests to a host is always respected, including requests
// for robots.txt. It does not depend on how long answers take, how many connections are allowed, or
// how many pages wait for a slow robots.txt.
func TestScheduleDelay(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			perHost, parallel := 1+rng.IntN(4), 1+rng.IntN(12)
			w := newWorld()
			for h := range 4 {
				w.discover(urls(fmt.Sprintf("h%d.test", h), 20)...)
				w.discover(fmt.Sprintf("https://h%d.test/safe", h)) // the same host with another robots.txt
			}
			w.robots = func(origin string, _ int) (int, string, error) {
				switch origin {
				case "http://h1.test":
					return 200, "User-agent: *\nCrawl-delay: 3\n", nil
				case "http://h2.test":
					return 200, "User-agent: *\nDisallow: /1\n", nil
				}
				return 404, "", nil
			}
			var mu sync.Mutex
			w.takes = func(string) time.Duration {
				mu.Lock()
				defer mu.Unlock()
				return time.Duration(rng.IntN(5000)) * time.Millisecond
			}
			w.links = map[string][]string{"http://h0.test/3": append(urls("h1.test", 30), urls("h4.test", 5)...)}
			if err := w.run(t.Context(), func(o *Options) { o.Delay, o.PerHost, o.Parallel = time.Second, perHost, parallel }); err != nil {
				t.Fatal(err)
			}
			for h := range 5 {
				host := fmt.Sprintf("h%d.test", h)
				spaced(t, w, host, perHost)
			}
			if got, want := len(w.ended), 4*21+10+5; got != want {
				t.Errorf("%d URLs ended, want %d", got, want)
			}
		})
	}
}

func spaced(t *testing.T, w *world, host string, perHost int) {
	t.Helper()
	if w.most[host] > perHost {
		t.Errorf("%s had %d requests at once, want %d at most", host, w.most[host], perHost)
	}
	var last *request
	delay := time.Second
	for _, r := range w.asked {
		if frontier.HostOf(r.url) != host {
			continue
		}
		if last != nil && r.at-last.at < delay {
			t.Errorf("%s at %v, only %v after %s", r.url, r.at, r.at-last.at, last.url)
		}
		if r.url == "http://h1.test/0" { // from here on, the delay in its robots.txt applies
			delay = 3 * time.Second
		}
		last = &r
	}
}

func TestScheduleSlowHostDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(append(urls("slow.test", 5), urls("fast.test", 30)...)...)
		w.takes = func(url string) time.Duration {
			if strings.Contains(url, "slow") {
				return time.Minute
			}
			return 0
		}
		if err := w.run(t.Context(), func(o *Options) { o.Delay, o.Parallel, o.PerHost = time.Second, 6, 5 }); err != nil {
			t.Fatal(err)
		}
		fast := w.at("fast.test")
		same(t, "the fast host was through after", fast[len(fast)-1], 30.0) // one second for robots.txt, and one for each page
	})
}

// Hosts get requests alternately, however many URLs they have.
func TestScheduleIsFair(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			for h := range 4 {
				w.discover(urls(fmt.Sprintf("h%d.test", h), 10*(h+1))...)
			}
			w.takes = func(string) time.Duration { return 10 * time.Millisecond }
			if err := w.run(t.Context(), func(o *Options) { o.Connections, o.Delay, o.IgnoreRobots = 1, delay, true }); err != nil {
				t.Fatal(err)
			}
			for i := 0; i < 40; i += 4 {
				turn := map[string]bool{}
				for _, r := range w.asked[i : i+4] {
					turn[frontier.HostOf(r.url)] = true
				}
				if len(turn) != 4 {
					t.Errorf("delay %v: requests %d to %d went to %v", delay, i, i+3, slices.Sorted(maps.Keys(turn)))
				}
			}
		})
	}
}

// The URLs of a preferred host are fetched first, even if they are further from the seeds than others. Its
// delay is kept.
func TestSchedulePrefers(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(slices.Concat(urls("a.test", 9), urls("b.test", 9))...)
			for i := range 9 {
				w.front.Discover(t.Context(), []frontier.Item{{URL: fmt.Sprintf("http://deep.test/%d", i), Depth: 5}})
			}
			control := &Control{}
			control.Set(&Orders{Prefer: []string{"deep.test"}})
			w.takes = func(string) time.Duration { return 10 * time.Millisecond }
			if err := w.run(t.Context(), func(o *Options) { o.Connections, o.Delay, o.IgnoreRobots, o.Control = 1, delay, true, control }); err != nil {
				t.Fatal(err)
			}
			for i, at := range w.at("deep.test") {
				if want := float64(i) * max(delay, 10*time.Millisecond).Seconds(); at < want || at > want+0.02 {
					t.Errorf("delay %v: request %d of the preferred host was sent after %v s, want %v", delay, i, at, want)
				}
			}
		})
	}
}

// A page that robots.txt forbids does not delay the next request to its host.
func TestScheduleForbiddenCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(append(urls("a.test", 500), "http://a.test/open")...)
		w.robots = func(string, int) (int, string, error) {
			return 200, "User-agent: *\nDisallow: /\nAllow: /open\n", nil
		}
		if err := w.run(t.Context(), func(o *Options) { o.Delay = time.Second }); err != nil {
			t.Fatal(err)
		}
		same(t, "requests", w.asked, []request{{"http://a.test/robots.txt", 0}, {"http://a.test/open", time.Second}})
	})
}

// The crawl ends at once after the last page, and does not wait for the delay of its host.
func TestScheduleEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("http://a.test/")
		w.links = map[string][]string{"http://a.test/": {"http://a.test/"}}
		w.robots = func(string, int) (int, string, error) { return 200, "User-agent: *\nCrawl-delay: 60", nil }
		if err := w.run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		same(t, "took", time.Since(w.start), time.Minute) // the delay between robots.txt and the page
	})
}

func TestScheduleBackOff(t *testing.T) {
	down := func(from, to float64) func(w *world) func(string, int) *Page {
		return func(w *world) func(string, int) *Page {
			return func(string, int) *Page {
				if s := time.Since(w.start).Seconds(); s >= from && s < to {
					return refused
				}
				return nil
			}
		}
	}
	always := func(p *Page) func(*world) func(string, int) *Page {
		return func(*world) func(string, int) *Page { return func(string, int) *Page { return p } }
	}
	first := func(k int, p *Page) func(*world) func(string, int) *Page {
		return func(*world) func(string, int) *Page {
			return func(_ string, n int) *Page {
				if n <= k {
					return p
				}
				return nil
			}
		}
	}
	date := time.Date(2000, 1, 1, 0, 0, 30, 0, time.UTC).Format(http.TimeFormat) // 30 s after the start time of a bubble
	for _, c := range []struct {
		name   string
		urls   int
		answer func(*world) func(string, int) *Page
		robots bool // robots.txt is requested and answered
		want   []float64
		failed int
		left   int64
	}{
		{"a dead seed is reported after three tries", 1, always(refused), false, []float64{0, 1, 3}, 1, 0},
		{"of a dead host one URL is given up, the others are left", 5, always(refused), false, []float64{0, 1, 3}, 1, 4},
		{"503, then 200", 1, first(1, status(503)), true, []float64{0, 1}, 0, 0},
		{"always 503", 1, always(status(503)), true, []float64{0, 1, 3}, 1, 0},
		{"503 for all: after maxBusy the host is left alone, and nothing is given up", 8, always(status(503)), true, []float64{0, 1, 3, 7, 15, 31}, 0, 8},
		{"429 for all, as often", 8, always(status(429)), true, []float64{0, 1, 3, 7, 15, 31}, 0, 8},
		{"503 for all at first: it is waited for", 2, first(1, status(503)), true, []float64{0, 1, 3, 3}, 0, 0},
		{"a time limit is tried again", 1, first(2, &Page{Problem: ProblemTimeout}), true, []float64{0, 1, 3}, 0, 0},
		{"a 404 is not", 1, always(status(404)), true, []float64{0}, 1, 0},
		{"a 500 rests a second, without end to the others", 3, always(status(500)), true, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, 3, 0},
		{"Retry-After in seconds", 1, first(1, status(429, "Retry-After", "7")), true, []float64{0, 7}, 0, 0},
		{"Retry-After as a date", 1, first(1, status(503, "Retry-After", date)), true, []float64{0, 30}, 0, 0},
		{"Retry-After below the back-off", 1, first(1, status(503, "Retry-After", "0")), true, []float64{0, 1}, 0, 0},
		{"Retry-After of a day", 1, first(1, status(503, "Retry-After", "86400")), true, []float64{0, 3600}, 0, 0},
		{"Retry-After beyond any number", 1, first(1, status(503, "Retry-After", "9000000000000000000")), true, []float64{0, 3600}, 0, 0},
		{"Retry-After beyond 64 bits", 1, first(1, status(503, "Retry-After", "99999999999999999999")), true, []float64{0, 3600}, 0, 0},
		{"Retry-After of less than nothing", 1, first(1, status(503, "Retry-After", "-99999999999999999999")), true, []float64{0, 1}, 0, 0},
		{"Retry-After that is none", 1, first(1, status(503, "Retry-After", "soon")), true, []float64{0, 1}, 0, 0},
		{"down for a minute: nothing is lost", 4, down(0, 60), true, []float64{0, 1, 3, 7, 15, 31, 63, 63, 63, 63}, 0, 0},
		{"down for good: after ten minutes one is given up", 3, down(0, 1e9), true, []float64{0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811}, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(urls("a.test", c.urls)...)
				w.answer = c.answer(w)
				if err := w.run(t.Context(), func(o *Options) { o.IgnoreRobots = !c.robots }); err != nil {
					t.Fatal(err)
				}
				same(t, "requests at", w.at("a.test"), c.want)
				failed := 0
				for _, p := range w.ended {
					if p.Problem != "" {
						failed++
					}
				}
				same(t, "given up", failed, c.failed)
				same(t, "pending", w.pending(t), c.left)
			})
		})
	}
}

// URLs that always fail cost some seconds each. All other URLs of their host are fetched, even if
// they are farther from a seed.
func TestScheduleURLsThatAlwaysFail(t *testing.T) {
	const bad, near, far = 4, 20, 500
	for _, c := range []struct {
		name  string
		fails *Page
		took  time.Duration
	}{
		// The back-off is 1, 2, 4 and 8 s while the failures may concern the whole host. After
		// that, other URLs are fetched before the failed ones are tried again, and each try costs a
		// second.
		{"answers that break off", &Page{Status: 200, Problem: ProblemReset}, (15 + 2*bad) * time.Second},
		{"no answer in time", &Page{Problem: ProblemTimeout}, (15 + 2*bad) * time.Second},
		{"a proxy that cannot reach what is behind it", status(502), (15 + 2*bad) * time.Second},
		// With this status the whole host counts as failing. But it answers other URLs between two
		// rounds of tries.
		{"busy", status(503), 3 * 15 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(urls("a.test", near)...)
				for i := range bad {
					w.discover(fmt.Sprintf("http://a.test/bad/%d", i))
				}
				for i := range far {
					w.front.Discover(t.Context(), []frontier.Item{{URL: fmt.Sprintf("http://a.test/far/%d", i), Depth: 1}})
				}
				w.answer = func(url string, _ int) *Page {
					if strings.Contains(url, "/bad/") {
						return c.fails
					}
					return nil
				}
				if err := w.run(t.Context(), func(o *Options) { o.IgnoreRobots = true }); err != nil {
					t.Fatal(err)
				}
				same(t, "took", time.Since(w.start), c.took)
				same(t, "pages", w.Pages(), near+far)
				same(t, "URLs that ended", len(w.ended), near+far+bad)
			})
		})
	}
}

// After an answer, the failures of a host are counted from zero again.
func TestScheduleForgives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(urls("a.test", 3)...)
		bad := map[int]bool{1: true, 2: true, 3: true, 5: true, 6: true}
		n := 0
		w.answer = func(string, int) *Page {
			n++
			if bad[n] {
				return refused
			}
			return nil
		}
		if err := w.run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		same(t, "requests at", w.at("a.test"), []float64{0, 1, 3, 7, 7, 8, 10, 10})
		same(t, "pages", w.Pages(), 3)
	})
}

// If several requests in flight fail together, they count as one failure.
func TestScheduleCountsOutagesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(urls("a.test", 8)...)
		w.takes = func(string) time.Duration { return 100 * time.Millisecond }
		w.answer = func(string, int) *Page {
			if s := time.Since(w.start).Seconds(); s > .1 && s < 1 {
				return refused
			}
			return nil
		}
		if err := w.run(t.Context(), func(o *Options) { o.PerHost, o.IgnoreRobots = 8, true }); err != nil {
			t.Fatal(err)
		}
		// The first page is answered, and the other seven fail. After the back-off, one is tried
		// again, and when it is answered, the others follow.
		same(t, "requests began at", w.at("a.test"), []float64{0, .1, .1, .1, .1, .1, .1, .1, 1.2, 1.3, 1.3, 1.3, 1.3, 1.3, 1.3})
		same(t, "pages", w.Pages(), 8)
	})
}

// The robots.txt of a host is requested again with each try, after the back-off of the host,
// because its first failure may have been temporary.
func TestScheduleRobotsOutOfReach(t *testing.T) {
	for _, c := range []struct {
		name   string
		fails  int
		status int
		err    error
		want   string // times of the requests for robots.txt
		pages  int64
	}{
		{"503 once", 1, 503, nil, "[0s 1s]", 5},
		{"refused twice", 2, 0, errors.New("what the system said"), "[0s]", 0}, // an unknown error counts as invalid HTTP, which is not retried
		{"503 for good", 1e9, 503, nil, "[0s 1s 3s]", 0},
		{"429 twice", 2, 429, nil, "[0s 1s 3s]", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(urls("a.test", 5)...)
				w.robots = func(_ string, n int) (int, string, error) {
					if n <= c.fails {
						return c.status, "", c.err
					}
					return 404, "", nil
				}
				if err := w.run(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				var at []time.Duration
				for _, r := range w.asked {
					if strings.HasSuffix(r.url, "/robots.txt") {
						at = append(at, r.at)
					}
				}
				same(t, "robots.txt asked at", fmt.Sprint(at), c.want)
				same(t, "pages", w.Pages(), c.pages)
			})
		})
	}
}

// While a crawl continues because of other hosts, a hopeless host still gets requests after each
// back-off.
func TestScheduleHopelessHostMayComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(append(urls("late.test", 10), urls("busy.test", 200)...)...)
		w.answer = func(url string, _ int) *Page {
			if strings.Contains(url, "late") && time.Since(w.start) < time.Minute {
				return refused
			}
			return nil
		}
		if err := w.run(t.Context(), func(o *Options) { o.Delay, o.IgnoreRobots = time.Second, true }); err != nil {
			t.Fatal(err)
		}
		same(t, "the late host was asked at", w.at("late.test"), []float64{0, 1, 3, 7, 15, 31, 63, 64, 65, 66, 67, 68})
		same(t, "pages", w.Pages(), 206) // the URLs requested at 3, 7, 15 and 31 s were given up
		same(t, "took", time.Since(w.start), 199*time.Second)
	})
}

// If the crawler's own network is down, a resumed crawl of many hosts ends soon, and gives up at
// most one URL of each host.
func TestScheduleOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for h := range 50 {
			w.discover(urls(fmt.Sprintf("h%d.test", h), 100)...)
		}
		w.answer = func(string, int) *Page { return &Page{Problem: ProblemDNS} }
		if err := w.run(t.Context(), func(o *Options) { o.IgnoreRobots = true }); err != nil {
			t.Fatal(err)
		}
		same(t, "took", time.Since(w.start), 3*time.Second)
		same(t, "pending", w.pending(t), 50*99)
	})
}

// If the https server of a host never answers and its http server does, the crawl ends
// nevertheless, and fetches all http URLs.
func TestScheduleHalfAHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("https://a.test/", "http://a.test/")
		for i := range 20 {
			w.discover(fmt.Sprintf("https://a.test/%d", i), fmt.Sprintf("http://a.test/%d", i))
		}
		w.answer = func(url string, _ int) *Page {
			if strings.HasPrefix(url, "https:") {
				return refused
			}
			return nil
		}
		if err := w.run(t.Context(), func(o *Options) { o.IgnoreRobots = true }); err != nil {
			t.Fatal(err)
		}
		same(t, "pages", w.Pages(), 21)
		if d := time.Since(w.start); d > 20*time.Minute {
			t.Errorf("took %v", d)
		}
	})
}

func TestScheduleResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(urls("a.test", 3)...)
		w.rest(t, "a.test", frontier.Rest{Blocked: time.Now().Add(100 * time.Second), Delay: 5 * time.Second})
		if err := w.run(t.Context(), func(o *Options) { o.IgnoreRobots = true }); err != nil {
			t.Fatal(err)
		}
		same(t, "requests at", w.at("a.test"), []float64{100, 105, 110})
	})
}

// A Retry-After is stored for the next run, but the crawler's own back-off is not.
func TestScheduleRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("http://a.test/", "http://b.test/", "http://a.test/2", "http://b.test/2")
		w.answer = func(url string, _ int) *Page {
			if strings.Contains(url, "a.test") {
				return status(503, "Retry-After", "600")
			}
			return status(503)
		}
		w.robots = func(string, int) (int, string, error) { return 200, "User-agent: *\nCrawl-delay: 2", nil }
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if err := w.run(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		for h, err := range w.front.Hosts(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]float64{"a.test": 602, "b.test": 0}[h.Name]
			got := 0.0
			if !h.Rest.Blocked.IsZero() {
				got = h.Rest.Blocked.Sub(w.start).Seconds()
			}
			same(t, h.Name+" is blocked until", got, want)
			same(t, h.Name+" has a delay of", h.Rest.Delay, 2*time.Second)
		}
	})
}

// A folder on disk has no delay, even if its robots.txt has a Crawl-delay.
func TestScheduleFolderHasNoDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(urls("docs.localhost", 100)...)
		w.robots = func(string, int) (int, string, error) { return 200, "User-agent: *\nCrawl-delay: 10", nil }
		err := w.run(t.Context(), func(o *Options) { o.Delay, o.Folders = time.Second, []folder.Site{{Host: "docs.localhost"}} })
		if err != nil {
			t.Fatal(err)
		}
		same(t, "took", time.Since(w.start), 0)
	})
}

func TestScheduleMaxPages(t *testing.T) {
	for _, most := range []int64{1, 5, 20, 34} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			for h := range 5 {
				w.discover(urls(fmt.Sprintf("h%d.test", h), 10)...)
			}
			w.takes = func(string) time.Duration { return 100 * time.Millisecond }
			w.answer = func(url string, _ int) *Page {
				if strings.HasSuffix(url, "/3") || strings.HasSuffix(url, "/7") || strings.HasPrefix(url, "http://h4") {
					return status(404)
				}
				return nil
			}
			if err := w.run(t.Context(), func(o *Options) { o.MaxPages, o.PerHost, o.Parallel = most, 4, 16 }); err != nil {
				t.Fatal(err)
			}
			same(t, "pages", w.Pages(), min(most, 32)) // four hosts have 8 pages each
		})
	}
}

// When a crawl is stopped, requests in flight may finish within Options.Grace. URLs that do not
// finish in time are not recorded, and all other URLs stay pending.
func TestScheduleStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(append(urls("quick.test", 50), urls("slow.test", 3)...)...)
		w.takes = func(url string) time.Duration {
			if strings.Contains(url, "slow") {
				return 60 * time.Second
			}
			return 5 * time.Second
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(12*time.Second, cancel)
		if err := w.run(ctx, func(o *Options) { o.IgnoreRobots = true }); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that the context ended", err)
		}
		same(t, "took", time.Since(w.start), 22*time.Second) // the run is stopped after 12 s, and Grace is 10 s
		same(t, "pages", w.Pages(), 3)                       // these pages arrive after 5, 10 and 15 s
		same(t, "asked", len(w.asked), 4)
		same(t, "pending", w.pending(t), 50)
	})
}

// broken is a handler that cannot store pages.
type broken struct{ *world }

func (f broken) Handle(context.Context, *Page, *Leads) error {
	return errors.New("the disk is full")
}

// An error of the handler ends the crawl at once, even if requests are in flight.
func TestScheduleHandlerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("http://a.test/", "http://b.test/")
		w.takes = func(url string) time.Duration {
			if strings.Contains(url, "b.test") {
				return time.Hour
			}
			return time.Second
		}
		opt := Options{Parallel: 4, PerHost: 1, IgnoreRobots: true, Grace: time.Minute}
		err := w.newCrawl(w.front, opt, broken{w}).Run(t.Context())
		same(t, "error", err, errors.New("the disk is full"))
		same(t, "took", time.Since(w.start), time.Second)
	})
}

func TestScheduleWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("http://quick.test/", "http://slow.test/", "http://slow.test/2")
		w.takes = func(url string) time.Duration {
			if strings.Contains(url, "quick") {
				return time.Second
			}
			return 2 * time.Second
		}
		opt := Options{Parallel: 2, PerHost: 1, IgnoreRobots: true, Grace: time.Minute}
		c := w.newCrawl(w.front, opt, w)
		time.AfterFunc(500*time.Millisecond, func() { same(t, "hosts while both are asked", c.Waiting(), 2) })
		time.AfterFunc(1500*time.Millisecond, func() { same(t, "hosts while the slow one is asked", c.Waiting(), 1) })
		time.AfterFunc(3500*time.Millisecond, func() { same(t, "hosts while its last URL is asked", c.Waiting(), 1) })
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		same(t, "hosts at the end", c.Waiting(), 0)
	})
}

// Many workers discover and finish URLs of many hosts in random order and in real time. Each URL is
// fetched exactly once. If a wake-up was missed, this test would hang.
func TestScheduleStress(t *testing.T) {
	const hosts, each = 20, 60
	w := newWorld("http://h0.test/0")
	w.links = map[string][]string{}
	rng := rand.New(rand.NewPCG(1, 1))
	for h := range hosts {
		for i := range each {
			from := fmt.Sprintf("http://h%d.test/%d", h, i)
			to := []string{fmt.Sprintf("http://h%d.test/%d", h, (i+1)%each), fmt.Sprintf("http://h%d.test/%d", (h+1)%hosts, i)}
			for range rng.IntN(3) {
				to = append(to, fmt.Sprintf("http://h%d.test/%d", rng.IntN(hosts), rng.IntN(each)))
			}
			w.links[from] = to
		}
	}
	w.answer = func(url string, n int) *Page {
		if strings.HasSuffix(url, "9") {
			return status(404)
		}
		return nil
	}
	if err := w.run(t.Context(), func(o *Options) { o.Parallel, o.PerHost = 64, 3 }); err != nil {
		t.Fatal(err)
	}
	same(t, "URLs ended", len(w.ended), hosts*each)
	for url, n := range w.times {
		if n != 1 {
			t.Errorf("%s was asked for %d times", url, n)
		}
	}
	for host, n := range w.most {
		if n > 3 {
			t.Errorf("%s had %d requests at once", host, n)
		}
	}
}
