package crawler

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"skink/frontier"
)

// A host that answers slowly gets requests less often, up to MaxDelay, and more often again when it
// is quick. If the user sets a delay of zero, it stays zero.
func TestScheduleAdapts(t *testing.T) {
	for _, c := range []struct {
		name  string
		delay time.Duration
		most  time.Duration
		takes []float64 // durations of the answers, in seconds
		want  []float64 // times of the requests, in seconds
	}{
		{"a quick host", time.Second, time.Minute, []float64{.1, .1, .1, .1}, []float64{0, 1, 2, 3}},
		{"a slow host rests twice what it takes", time.Second, time.Minute, []float64{4, 4, 4, 4}, []float64{0, 8, 16, 24}},
		{"it recovers by quarters", time.Second, time.Minute, []float64{4, 0, 0, 0}, []float64{0, 8, 14, 18.5}},
		{"up to MaxDelay", time.Second, 5 * time.Second, []float64{4, 4, 4}, []float64{0, 5, 10}},
		{"never less than what was asked for", 10 * time.Second, 5 * time.Second, []float64{4, 4, 4}, []float64{0, 10, 20}},
		{"no delay", 0, time.Minute, []float64{4, 4, 4}, []float64{0, 4, 8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(urls("a.test", len(c.takes))...)
				n := -1
				w.takes = func(string) time.Duration {
					n++
					return time.Duration(c.takes[n] * float64(time.Second))
				}
				err := w.run(t.Context(), func(o *Options) { o.Delay, o.MaxDelay, o.IgnoreRobots = c.delay, c.most, true })
				if err != nil {
					t.Fatal(err)
				}
				same(t, "asked at", w.at("a.test"), c.want)
			})
		})
	}
}

// The delay counts from the time at which a request was sent. Even if connecting takes longer than
// the delay, two requests must not be close together, on the same connection or on several.
func TestScheduleCountsFromTheWire(t *testing.T) {
	for _, perHost := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(urls("a.test", 12)...)
			n := 0
			w.connects = func(string) time.Duration {
				n++
				return []time.Duration{3 * time.Second, 0, 1500 * time.Millisecond}[n%3]
			}
			w.takes = func(string) time.Duration { return 2500 * time.Millisecond }
			if err := w.run(t.Context(), func(o *Options) { o.Delay, o.MaxDelay, o.PerHost = time.Second, time.Second, perHost }); err != nil {
				t.Fatal(err)
			}
			same(t, "pages", w.Pages(), 12)
			for i, r := range w.sent {
				if i > 0 && r.at-w.sent[i-1].at < time.Second {
					t.Errorf("per host %d: %s was sent %v after the one before", perHost, r.url, r.at-w.sent[i-1].at)
				}
			}
		})
	}
}

// The delay counts from the beginning of the answer to the last request, because the request may
// have arrived late. But it never counts from much later than the request was sent, because the
// answer may just be slow.
func TestScheduleCountsFromTheArrival(t *testing.T) {
	for _, c := range []struct {
		name    string
		delay   time.Duration
		arrives []time.Duration // time from sending each request to the beginning of its answer
		want    []float64       // times of the requests after the first, in seconds
	}{
		{"at once", time.Second, []time.Duration{0, 0, 0}, []float64{0, 1, 2}},
		{"late", time.Second, []time.Duration{10 * time.Millisecond, 0, 20 * time.Millisecond, 0}, []float64{0, 1.01, 2.01, 3.03}},
		{"a slow page", time.Second, []time.Duration{300 * time.Millisecond, 300 * time.Millisecond, 0}, []float64{0, 1.025, 2.05}},
		{"a short rest", 80 * time.Millisecond, []time.Duration{30 * time.Millisecond, 5 * time.Millisecond, 0}, []float64{0, .09, .175}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(urls("a.test", len(c.arrives))...)
				n := -1
				w.arrives = func(string) time.Duration { n++; return c.arrives[n] }
				err := w.run(t.Context(), func(o *Options) { o.Delay, o.MaxDelay, o.IgnoreRobots = c.delay, c.delay, true })
				if err != nil {
					t.Fatal(err)
				}
				same(t, "asked at", w.at("a.test"), c.want)
			})
		})
	}
}

// A Crawl-delay is obeyed up to MaxDelay. Demanding returns hosts that ask for more.
func TestScheduleDemandingHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(slices.Concat(urls("a.test", 3), urls("b.test", 3), urls("c.test", 2))...)
		w.robots = func(origin string, _ int) (int, string, error) {
			return 200, map[string]string{
				"http://a.test": "User-agent: *\nCrawl-delay: 3600", "http://b.test": "User-agent: *\nCrawl-delay: 20",
				"http://c.test": "User-agent: *\nCrawl-delay: 90",
			}[origin], nil
		}
		c := w.crawl(Options{Parallel: 8, PerHost: 1, Delay: time.Second, MaxDelay: time.Minute, UserAgent: "skink", Grace: time.Second})
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		same(t, "a at", w.at("a.test"), []float64{60, 120, 180})
		same(t, "b at", w.at("b.test"), []float64{20, 40, 60})
		same(t, "demanding", c.Demanding(), []Demand{{"a.test", time.Hour}, {"c.test", 90 * time.Second}})
	})
}

// Hosts that failed at the same time do not get their next requests at the same time.
func TestScheduleJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts = 50
		w := newWorld()
		for h := range hosts {
			w.discover(fmt.Sprintf("http://h%d.test/", h))
		}
		w.answer = func(_ string, n int) *Page {
			if n == 1 {
				return status(503)
			}
			return nil
		}
		opt := Options{Parallel: hosts, PerHost: 1, Retries: 2, IgnoreRobots: true, Grace: time.Second}
		if err := w.newCrawl(w.front, opt, w).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		moments := map[float64]bool{}
		for h := range hosts {
			at := w.at(fmt.Sprintf("h%d.test", h))
			if len(at) != 2 || at[1] < 0.75 || at[1] > 1.25 {
				t.Errorf("h%d asked at %v", h, at)
			}
			moments[at[1]] = true
		}
		if len(moments) < hosts/2 {
			t.Errorf("%d hosts came back at %d different moments", hosts, len(moments))
		}
	})
}

// Of the hosts that are due, the URL nearest to a seed is fetched first. A host that must wait does
// not delay hosts with deeper URLs.
func TestScheduleDepthFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for h, depths := range [][]int{{2, 2, 5}, {0, 0, 1}, {1, 3, 3}} {
			for i, d := range depths {
				w.front.Discover(t.Context(), []frontier.Item{{URL: fmt.Sprintf("http://h%d.test/%d-%d", h, d, i), Depth: d}})
			}
		}
		w.takes = func(string) time.Duration { return time.Millisecond }
		if err := w.run(t.Context(), func(o *Options) { o.Connections, o.IgnoreRobots = 1, true }); err != nil {
			t.Fatal(err)
		}
		var depths []string
		for _, r := range w.asked {
			path := r.url[strings.LastIndexByte(r.url, '/')+1:]
			depths = append(depths, path[:1])
		}
		same(t, "depths", depths, []string{"0", "0", "1", "1", "2", "2", "3", "3", "5"})
	})
}

// The requests to all hosts at one address together are limited. Other hosts and workers do not
// wait for them. The limit does not apply to the only host at an address, and never to loopback.
func TestSchedulePerIP(t *testing.T) {
	shared, alone := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for h := range 20 {
			w.discover(urls(fmt.Sprintf("shared%d.test", h), 5)...)
		}
		w.discover(urls("alone.test", 40)...)
		w.address = func(host string) netip.Addr {
			if host == "alone.test" {
				return alone
			}
			return shared
		}
		w.takes = func(string) time.Duration { return time.Second }
		open := perAddress(w)
		if err := w.run(t.Context(), func(o *Options) { o.Parallel, o.PerHost, o.PerIP, o.IgnoreRobots = 12, 8, 3, true }); err != nil {
			t.Fatal(err)
		}
		same(t, "URLs", len(w.ended), 140)
		same(t, "at once to the shared address", open()[shared], 3)
		same(t, "at once to the other", open()[alone], 8)
		same(t, "took", time.Since(w.start), 34*time.Second) // 100 URLs, with three requests at the same time
	})
}

// perAddress returns a function that returns the largest number of simultaneous requests to each
// address.
func perAddress(w *world) func() map[netip.Addr]int {
	return func() map[netip.Addr]int {
		// Requests last a second and start at whole seconds.
		now := map[string]map[netip.Addr]int{}
		most := map[netip.Addr]int{}
		for _, r := range w.asked {
			second := fmt.Sprint(int(r.at.Seconds()))
			if now[second] == nil {
				now[second] = map[netip.Addr]int{}
			}
			at := w.address(frontier.HostOf(r.url))
			now[second][at]++
			most[at] = max(most[at], now[second][at])
		}
		return most
	}
}

// A host that has spent its budget gets no more requests, and its pending URLs stay pending. Other
// hosts are not affected. Pages of earlier crawls count.
func TestScheduleHostBudget(t *testing.T) {
	for _, c := range []struct {
		name   string
		budget Budget
		spent  map[string]Spent
		want   map[string]int
	}{
		{"pages", Budget{Pages: 4}, nil, map[string]int{"a.test": 4, "b.test": 4, "c.test": 2}},
		{"pages, some of them before", Budget{Pages: 4}, map[string]Spent{"a.test": {Pages: 3}, "b.test": {Pages: 9}}, map[string]int{"a.test": 1, "c.test": 2}},
		{"bytes", Budget{Bytes: 250}, nil, map[string]int{"a.test": 3, "b.test": 3, "c.test": 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(slices.Concat(urls("a.test", 10), urls("b.test", 10), urls("c.test", 2))...)
				w.takes = func(string) time.Duration { return time.Second }
				w.answer = func(string, int) *Page { return &Page{Status: 200, Body: make([]byte, 100)} }
				err := w.run(t.Context(), func(o *Options) { o.IgnoreRobots, o.HostBudget, o.Spent = true, c.budget, c.spent })
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]int{}
				for _, r := range w.asked {
					got[frontier.HostOf(r.url)]++
				}
				same(t, "pages", got, c.want)
				total := 0
				for n := range maps.Values(got) {
					total += n
				}
				same(t, "pending", w.pending(t), int64(22-total))
			})
		})
	}
}

// URLs that robots.txt forbids and failed URLs do not count against the budget.
func TestScheduleBudgetIsForPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(urls("a.test", 10)...)
		w.answer = func(url string, _ int) *Page {
			if url < "http://a.test/5" {
				return status(404)
			}
			return nil
		}
		if err := w.run(t.Context(), func(o *Options) { o.HostBudget = Budget{Pages: 3} }); err != nil {
			t.Fatal(err)
		}
		same(t, "pages", w.Pages(), 3)
	})
}

func TestScheduleMaxBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for h := range 10 {
			w.discover(urls(fmt.Sprintf("h%d.test", h), 10)...)
		}
		w.takes = func(string) time.Duration { return time.Second }
		w.answer = func(string, int) *Page { return &Page{Status: 200, Body: make([]byte, 1000)} }
		c := w.crawl(Options{Parallel: 4, Connections: 4, PerHost: 1, IgnoreRobots: true, MaxBytes: 10_000, Grace: time.Second})
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := c.Fetched(); got < 10_000 || got > 10_000+4*1000 { // the crawl keeps answers that arrive after the limit was reached
			t.Errorf("%d bytes were fetched", got)
		}
		same(t, "pending", w.pending(t), 100-c.Fetched()/1000)
	})
}

// Hosts without URLs are removed from memory. If such a host gets a URL again, its request still
// waits for the delay.
func TestScheduleForgetsHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts = 3 * firstSweep
		w := newWorld("http://h0.test/")
		w.links = map[string][]string{}
		for h := range hosts - 1 {
			w.links[fmt.Sprintf("http://h%d.test/", h)] = []string{fmt.Sprintf("http://h%d.test/", h+1)}
		}
		w.links[fmt.Sprintf("http://h%d.test/", firstSweep)] = append(w.links[fmt.Sprintf("http://h%d.test/", firstSweep)],
			fmt.Sprintf("http://h%d.test/again", firstSweep-1))
		w.takes = func(string) time.Duration { return time.Millisecond }
		c := w.crawl(Options{Parallel: 2, PerHost: 1, Delay: time.Second, IgnoreRobots: true, Grace: time.Second})
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		same(t, "URLs", len(w.ended), hosts+1)
		if n := len(c.schedule.hosts); n > firstSweep+1000 {
			t.Errorf("%d hosts are remembered of %d", n, hosts)
		}
		spaced(t, w, fmt.Sprintf("h%d.test", firstSweep-1), 1)
	})
}

// The more hosts are claimed, the fewer URLs of each host are in memory.
func TestScheduleTakesLess(t *testing.T) {
	w := newWorld()
	w.discover(urls("a.test", takeBatch+1)...)
	s := newSchedule(w.front, Options{PerHost: 1}, func() int64 { return 0 })
	for i := range maxHeld - 1 {
		s.claims.held[&host{name: fmt.Sprint(i), turns: 1}] = true
	}
	turn, err := s.next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "URLs taken with the first", 1+len(turn.host.urls), maxTaken/maxHeld)
}
