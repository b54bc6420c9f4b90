package crawler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"skink/frontier"
	"skink/internal/tools/storetest"
)

// both runs two crawls of the same world at the same time.
func both(t *testing.T, w *world, first, second *Crawl) {
	t.Helper()
	var wait sync.WaitGroup
	for _, c := range []*Crawl{first, second} {
		wait.Go(func() {
			if err := c.Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	w.allEnded(t)
}

// allEnded checks that no URL is pending, and that the handler got every URL.
func (w *world) allEnded(t *testing.T) {
	t.Helper()
	same(t, "pending", w.pending(t), int64(0))
	counts, err := w.front.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "handed over", int64(len(w.ended)), counts.Fetched+counts.GivenUp+counts.Failed)
}

// apart fails the test if two requests to a host, by any worker, began less than delay apart.
func apart(t *testing.T, w *world, host string, delay time.Duration) {
	t.Helper()
	var last *request
	for _, r := range w.asked {
		if frontier.HostOf(r.url) != host {
			continue
		}
		if last != nil && r.at-last.at < delay {
			t.Errorf("%s at %v, only %v after %s", r.url, r.at, r.at-last.at, last.url)
		}
		last = &r
	}
}

// If two schedules share a frontier, the delay of every host is respected, whichever schedule sends
// the requests. All URLs of all hosts are fetched, none of them twice. Both schedules end, even if
// one of them has nothing to fetch.
func TestClaimsOfTwoCrawls(t *testing.T) {
	for _, c := range []struct {
		name        string
		hosts, urls int
		delay       time.Duration
	}{
		{"many hosts", 60, 7, time.Second},
		{"one host", 1, 40, time.Second},
		{"hosts that are returned after each page", 10, 4, 10 * time.Second},
		{"without a delay", 20, 50, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.links = map[string][]string{}
				for h := range c.hosts {
					first := fmt.Sprintf("http://h%d.test/0", h)
					w.discover(first)
					for i := range c.urls - 1 { // half of the URLs are known at the start, and one of the crawls discovers the others
						if url := fmt.Sprintf("http://h%d.test/%d", h, i+1); i%2 == 0 {
							w.discover(url)
						} else {
							from := fmt.Sprintf("http://h%d.test/0", (h+1)%c.hosts)
							w.links[from] = append(w.links[from], url)
						}
					}
				}
				w.takes = func(string) time.Duration { return 100 * time.Millisecond }
				opt := Options{Parallel: 4, PerHost: 1, Delay: c.delay, UserAgent: "skink", Grace: time.Second}
				both(t, w, w.crawl(opt), w.crawl(opt))
				same(t, "pages", w.Pages(), int64(c.hosts*c.urls))
				for h := range c.hosts {
					apart(t, w, fmt.Sprintf("h%d.test", h), c.delay)
				}
				for host, n := range w.most {
					if n > 1 {
						t.Errorf("%d requests at once to %s, which had two holders", n, host)
					}
				}
			})
		})
	}
}

// Two crawls end although hosts that never answered have pending URLs.
func TestClaimsOfHopelessHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for h := range 6 {
			w.discover(urls(fmt.Sprintf("dead%d.test", h), 30)...)
		}
		w.discover(urls("live.test", 30)...)
		w.answer = func(url string, _ int) *Page {
			if frontier.HostOf(url) != "live.test" {
				return refused
			}
			return nil
		}
		opt := Options{Parallel: 4, PerHost: 1, Delay: time.Second, Retries: 2, IgnoreRobots: true, Grace: time.Second}
		var wait sync.WaitGroup
		for range 2 {
			wait.Go(func() {
				if err := w.crawl(opt).Run(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		same(t, "pages", w.Pages(), int64(30))
		if took := time.Since(w.start); took > 2*time.Minute {
			t.Errorf("the crawls waited for hosts without hope: %v", took)
		}
	})
}

// A faulty frontier stops answering when cut is set.
type faulty struct {
	frontier.Frontier
	cut atomic.Bool
}

var errCut = errors.New("no connection")

func (f *faulty) Renew(ctx context.Context, claims []frontier.Claim, ttl time.Duration) ([]frontier.Claim, error) {
	if f.cut.Load() {
		<-ctx.Done() // a process stopped by SIGSTOP does not notice the expiry of its claims either
		return nil, ctx.Err()
	}
	return f.Frontier.Renew(ctx, claims, ttl)
}

func (f *faulty) Return(ctx context.Context, c frontier.Claim, rest frontier.Rest) error {
	if f.cut.Load() {
		return errCut
	}
	return f.Frontier.Return(ctx, c, rest)
}

// When the claims of a dead worker have expired, another worker fetches the URLs of its hosts. It
// respects the delays that were recorded when the dead worker claimed them.
func TestClaimsOfADeadWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		const hosts = 20
		for h := range hosts {
			w.discover(urls(fmt.Sprintf("h%d.test", h), 60)...)
		}
		w.takes = func(string) time.Duration { return 10 * time.Millisecond }
		opt := Options{Parallel: 4, PerHost: 1, Delay: time.Second, IgnoreRobots: true, Grace: 0}
		connection := &faulty{Frontier: w.front}
		dying := w.newCrawl(connection, opt, w)
		ctx, kill := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second+500*time.Millisecond, func() {
			connection.cut.Store(true)
			kill()
		})
		if err := dying.Run(ctx); err == nil {
			t.Error("the worker that died says that it did all")
		}
		before := w.pending(t)
		if before == 0 || before == hosts*60 {
			t.Fatalf("%d URLs are pending when the worker dies", before)
		}
		if err := w.crawl(opt).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.allEnded(t)
		for h := range hosts {
			apart(t, w, fmt.Sprintf("h%d.test", h), time.Second)
		}
		if took := time.Since(w.start); took > 10*time.Second+claimTime+80*time.Second {
			t.Errorf("it took %v until the hosts of the dead worker were done", took)
		}
	})
}

// If a worker was stopped until its claims expired, it notices this when it continues. Its pages
// under way are not stored, but another worker fetches them.
func TestClaimsOfAStoppedWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(urls("a.test", 20)...)
		opt := Options{Parallel: 2, PerHost: 1, Delay: time.Second, IgnoreRobots: true, Grace: time.Second}
		connection := &faulty{Frontier: w.front}
		stopped := w.newCrawl(connection, opt, w)
		var once sync.Once
		w.takes = func(url string) time.Duration {
			pause := 10 * time.Millisecond
			if url == "http://a.test/5" {
				once.Do(func() { // the first worker that requests this URL stops until its claim has expired
					connection.cut.Store(true)
					time.AfterFunc(2*claimTime, func() { connection.cut.Store(false) })
					pause = 2 * claimTime
				})
			}
			return pause
		}
		var wait sync.WaitGroup
		wait.Go(func() {
			if err := stopped.Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(6 * time.Second)
		if err := w.crawl(opt).Run(t.Context()); err != nil {
			t.Error(err)
		}
		wait.Wait()
		w.allEnded(t)
		same(t, "pages", w.Pages(), int64(20))
		same(t, "requests for the page it stood still at", w.times["http://a.test/5"], 2)
	})
}

// A frontier may lose a claim, and grant the same crawl a new claim on the host. The URLs that the
// crawl had taken are then taken again, once.
func TestAHostGivenAgain(t *testing.T) {
	front := storetest.NewFrontier()
	s := newSchedule(front, Options{PerHost: 1}, func() int64 { return 0 })
	for token := range uint64(2) {
		s.hold(frontier.Held{Claim: frontier.Claim{Host: "a.test", Worker: s.claims.worker, Token: token + 1}})
		h := s.hosts["a.test"]
		if len(h.urls) != 0 {
			t.Errorf("with claim %d come %d URLs that were taken with the one before", token+1, len(h.urls))
		}
		h.urls = []frontier.Item{{URL: "http://a.test/"}}
	}
}
