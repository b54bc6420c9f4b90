package crawler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"skink/frontier"
)

// manyHosts returns a world with a number of hosts, and a number of URLs for each host.
func manyHosts(hosts, urlsEach int) *world {
	w := newWorld()
	for h := range hosts {
		w.discover(urls(fmt.Sprintf("h%d.test", h), urlsEach)...)
	}
	return w
}

// runLater starts a crawl after a while, and runs it until ctx ends.
func runLater(ctx context.Context, t *testing.T, wait *sync.WaitGroup, after time.Duration, c *Crawl) {
	wait.Go(func() {
		time.Sleep(after)
		if err := c.Run(ctx); err != nil && !(ctx.Err() != nil && errors.Is(err, ctx.Err())) {
			t.Error(err)
		}
	})
}

// Workers start while another worker has claimed all hosts, and end later. Each worker soon has its
// share of the hosts. The delay of every host is respected, whichever worker sends the requests.
func TestShareOfHosts(t *testing.T) {
	for _, c := range []struct {
		name    string
		perHost int
		delay   time.Duration
		takes   time.Duration
	}{
		{"hosts that rest", 1, time.Second, 100 * time.Millisecond},
		{"hosts that always answer", 4, 0, 300 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const hosts, each = 40, 300
				w := manyHosts(hosts, each)
				w.takes = func(string) time.Duration { return c.takes }
				opt := Options{Parallel: 4, PerHost: c.perHost, Delay: c.delay, UserAgent: "skink", Grace: time.Second}
				var crawls []*Crawl
				for range 4 {
					crawls = append(crawls, w.crawl(opt))
				}
				brief, stop := context.WithCancel(t.Context())
				var wait sync.WaitGroup
				runLater(t.Context(), t, &wait, 0, crawls[0])
				runLater(t.Context(), t, &wait, 3*time.Second, crawls[1])
				runLater(brief, t, &wait, 6*time.Second, crawls[2])
				runLater(brief, t, &wait, 6*time.Second, crawls[3])
				hold := func(when time.Duration, want ...int) {
					time.Sleep(when - time.Since(w.start))
					for i, n := range want {
						if got := crawls[i].Held(); got < n-1 || got > n+n/shareSlack {
							t.Errorf("after %v worker %d holds %d hosts, want about %d", when, i, got, n)
						}
					}
				}
				hold(2500*time.Millisecond, hosts)
				hold(5500*time.Millisecond, hosts/2, hosts/2)
				hold(8500*time.Millisecond, hosts/4, hosts/4, hosts/4, hosts/4)
				stop()
				hold(9*time.Second+frontier.Present+2*pollOthers, hosts/2, hosts/2)
				wait.Wait()
				w.allEnded(t)
				same(t, "pages", w.Pages(), int64(hosts*each))
				for h := range hosts {
					apart(t, w, fmt.Sprintf("h%d.test", h), c.delay)
				}
				for host, n := range w.most {
					if n > c.perHost {
						t.Errorf("%d requests at once to %s", n, host)
					}
				}
			})
		})
	}
}

// A single worker claims all hosts, and is as fast as a worker without a share.
func TestShareOfALoneWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts, each = 40, 20
		w := manyHosts(hosts, each)
		w.takes = func(string) time.Duration { return 100 * time.Millisecond }
		c := w.crawl(Options{Parallel: 4, PerHost: 1, Delay: time.Second, IgnoreRobots: true, UserAgent: "skink"})
		time.AfterFunc(5*time.Second, func() { same(t, "hosts that it holds", c.Held(), hosts) })
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.allEnded(t)
		if took := time.Since(w.start); took > each*time.Second {
			t.Errorf("it took %v, want the %d rests of a host", took, each-1)
		}
	})
}

// Hosts that one worker discovers are shared with workers that had nothing to fetch.
func TestShareOfWhatIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts, each, workers = 30, 20, 3
		w := newWorld("http://seed.test/")
		w.links = map[string][]string{}
		for h := range hosts {
			w.links["http://seed.test/"] = append(w.links["http://seed.test/"], urls(fmt.Sprintf("h%d.test", h), each)...)
		}
		w.takes = func(string) time.Duration { return 100 * time.Millisecond }
		var crawls []*Crawl
		var wait sync.WaitGroup
		for range workers {
			c := w.crawl(Options{Parallel: 4, PerHost: 1, Delay: time.Second, IgnoreRobots: true, UserAgent: "skink"})
			crawls = append(crawls, c)
			runLater(t.Context(), t, &wait, 0, c)
		}
		time.Sleep(5 * time.Second)
		for i, c := range crawls {
			if got, want := c.Held(), hosts/workers; got < want-1 || got > want+want/shareSlack {
				t.Errorf("worker %d holds %d hosts, want about %d", i, got, want)
			}
		}
		wait.Wait()
		w.allEnded(t)
		same(t, "pages", w.Pages(), int64(1+hosts*each))
		if took := time.Since(w.start); took > (each+4)*time.Second {
			t.Errorf("it took %v, want little more than the %d rests of a host", took, each-1)
		}
	})
}
