package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"skink/base/lru"
	"skink/frontier"
	"skink/internal/tools/storetest"
)

// A slowFrontier needs some time to return URLs, like a disk.
type slowFrontier struct {
	frontier.Frontier
	takes time.Duration
}

func (f slowFrontier) Take(ctx context.Context, c frontier.Claim, n int) ([]frontier.Item, error) {
	time.Sleep(f.takes)
	return f.Frontier.Take(ctx, c, n)
}

// If the delay of a host ends while URLs of this host or another are taken from the frontier, the
// host is neither lost nor checked endlessly. The test uses real time, because the clock of a
// bubble would not advance during the call.
func TestScheduleSlowFrontier(t *testing.T) {
	w := newWorld()
	w.links = map[string][]string{}
	for h := range 4 {
		w.discover(fmt.Sprintf("http://h%d.test/0", h))
		for i := range 20 {
			w.links[fmt.Sprintf("http://h%d.test/%d", h, i)] = []string{fmt.Sprintf("http://h%d.test/%d", h, i+1)}
		}
	}
	opt := Options{Parallel: 3, PerHost: 1, Delay: 3 * time.Millisecond, IgnoreRobots: true, Grace: time.Second}
	c := w.newCrawl(slowFrontier{w.front, 2 * time.Millisecond}, opt, w)
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "URLs", len(w.ended), 4*21)
}

// If more hosts get requests alternately than the cache of robots.txt has room for, each robots.txt
// is still in the cache when its page is fetched.
func TestScheduleManyRobots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts = 100
		w := newWorld()
		for h := range hosts {
			w.discover(urls(fmt.Sprintf("h%d.test", h), 2)...)
		}
		w.takes = func(string) time.Duration { return 100 * time.Millisecond }
		c := w.crawl(Options{Parallel: 4, Connections: 4, PerHost: 1, Delay: time.Second, UserAgent: "skink", Grace: time.Second})
		c.robots.kept = lru.New[string](50*500, (*robotsEntry).weigh) // four requests at the same time take a tenth of a second, so some 40 hosts get a request within the delay
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		same(t, "pages", w.Pages(), 2*hosts)
		if robots := len(w.asked) - 2*hosts; robots > 2*hosts {
			t.Errorf("robots.txt was asked for %d times for %d pages", robots, 2*hosts)
		}
	})
}

// Hosts that exceed the time limit again and again do not slow down hosts that answer.
func TestScheduleDeadHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for h := range 60 {
			w.discover(urls(fmt.Sprintf("dead%d.test", h), 30)...)
		}
		for h := range 20 {
			w.discover(urls(fmt.Sprintf("live%d.test", h), 2000)...)
		}
		w.takes = func(u string) time.Duration {
			if strings.Contains(u, "dead") {
				return 30 * time.Second
			}
			return 100 * time.Millisecond
		}
		w.answer = func(u string, n int) *Page {
			if strings.Contains(u, "dead") {
				return &Page{Problem: ProblemTimeout}
			}
			return nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		err := w.run(ctx, func(o *Options) { o.Parallel, o.Delay, o.IgnoreRobots = 16, time.Second, true })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		late := 0
		for _, r := range w.asked {
			if strings.Contains(r.url, "live") && r.at >= 5*time.Minute {
				late++
			}
		}
		if want := 20 * 5 * 60 * 95 / 100; late < want { // 95% of one page per second for each host
			t.Errorf("%d pages of live hosts in the second five minutes, want %d", late, want)
		}
	})
}

// reopen drops all claims, and all waits that the crawler has imposed itself, as opening a store
// does.
func (w *world) reopen(t *testing.T) {
	t.Helper()
	again := storetest.NewFrontier()
	for url, err := range w.front.URLs(t.Context(), frontier.Pending) {
		if err != nil {
			t.Fatal(err)
		}
		again.Discover(t.Context(), []frontier.Item{{URL: url}})
	}
	before := w.front
	w.front = again
	for h, err := range before.Hosts(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		w.rest(t, h.Name, frontier.Rest{Blocked: h.Rest.Blocked, Delay: h.Rest.Delay})
	}
}

// If the answer for robots.txt has a Retry-After, robots.txt is requested again at that time, even
// if the crawl was stopped in between. No URL is given up because of this.
func TestScheduleRobotsRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("http://a.test/")
		w.robots = func(_ string, n int) (int, string, error) {
			if n == 1 {
				return 0, "", robotsStatus{503, http.Header{"Retry-After": {"600"}}}
			}
			return 404, "", nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := w.run(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		for h := range w.front.Hosts(t.Context()) {
			same(t, "blocked until", h.Rest.Blocked.Sub(w.start), 600*time.Second)
		}
		w.reopen(t)
		if err := w.run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		same(t, "asked", w.asked, []request{{"http://a.test/robots.txt", 0}, {"http://a.test/robots.txt", 600 * time.Second}, {"http://a.test/", 600 * time.Second}})
	})
}

// A shorter Retry-After does not shorten a longer one.
func TestScheduleLongestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(urls("a.test", 2)...)
		w.takes = func(u string) time.Duration { // the answer with the shorter time arrives last
			return map[string]time.Duration{"http://a.test/0": time.Second, "http://a.test/1": 2 * time.Second}[u]
		}
		w.answer = func(u string, _ int) *Page {
			return status(503, "Retry-After", map[string]string{"http://a.test/0": "600", "http://a.test/1": "5"}[u])
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_ = w.run(ctx, func(o *Options) { o.PerHost, o.IgnoreRobots = 2, true })
		for h := range w.front.Hosts(t.Context()) {
			if left := h.Rest.Blocked.Sub(w.start); left < 600*time.Second {
				t.Errorf("blocked for %v", left)
			}
		}
	})
}

// A Crawl-delay that has become shorter is used, and a stored one is limited by the present
// MaxDelay.
func TestScheduleCrawlDelayChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(urls("a.test", 4)...)
		delay := "60"
		w.robots = func(string, int) (int, string, error) { return 200, "User-agent: *\nCrawl-delay: " + delay, nil }
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		_ = w.run(ctx, func(o *Options) { o.Delay, o.MaxDelay = time.Second, time.Minute })
		delay = "2"
		w.reopen(t)
		if err := w.run(t.Context(), func(o *Options) { o.Delay, o.MaxDelay = time.Second, 30*time.Second }); err != nil {
			t.Fatal(err)
		}
		// At 90 s the stored delay is 60 s, limited to 30 s, until the new robots.txt is read.
		same(t, "asked at", w.at("a.test"), []float64{60, 92.025, 94.025, 96.025})
	})
}

// The delay of each host applies to the redirects of a robots.txt.
func TestFetchRobotsHops(t *testing.T) {
	var mu sync.Mutex
	var at []time.Time
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		at = append(at, time.Now())
		mu.Unlock()
		if len(r.URL.Path) < len("/robots.txt")+3 {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusMovedPermanently)
		}
	})
	w := newWorld("http://" + host + "/")
	opt := Defaults()
	opt.Delay, opt.AllowHosts = 400*time.Millisecond, []string{host}
	c, err := New(w.front, opt, w)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "requests", len(at), 5) // four redirects and their last target
	for i := range at[1:] {
		if gap := at[i+1].Sub(at[i]); gap < opt.Delay/2 { // half of the delay is enough here, because a busy machine may notice the first request late
			t.Errorf("request %d came %v after the one before", i+1, gap)
		}
	}
}
