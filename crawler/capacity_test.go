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

	"skink/crawler/wire"
	"skink/frontier"
)

// crowd adds n hosts to the world, and gives them names that begin with name. It returns a function
// that reports whether a URL belongs to one of these hosts.
func (w *world) crowd(name string, n, urlsEach int) (theirs func(url string) bool) {
	for h := range n {
		w.discover(urls(fmt.Sprintf("%s%d.test", name, h), urlsEach)...)
	}
	return func(url string) bool { return strings.HasPrefix(frontier.HostOf(url), name) }
}

// between returns the number of pages of a host that were requested between two times.
func (w *world) between(host string, from, to time.Duration) (n int) {
	for _, at := range w.at(host) {
		if at >= from.Seconds() && at < to.Seconds() {
			n++
		}
	}
	return n
}

// A host that may get ten requests per second gets at least nine, from the first second on, even if
// many other hosts are slow.
func TestScheduleSlowHosts(t *testing.T) {
	const minutes, perSecond = 5, 10
	for _, c := range []struct {
		name   string
		hosts  int
		takes  time.Duration
		fails  bool
		change func(*Options)
	}{
		{"nobody else", 0, 0, false, nil},
		{"500 hosts that hang", 500, 30 * time.Second, true, nil},
		{"64 hosts that hang", 64, 30 * time.Second, true, nil},
		{"500 hosts that hang, with more connections to each", 500, 30 * time.Second, true, func(o *Options) { o.PerHost = 8 }},
		{"500 hosts that hang, without robots.txt", 500, 30 * time.Second, true, func(o *Options) { o.IgnoreRobots = true }},
		{"50 hosts that take ten seconds", 50, 10 * time.Second, false, nil},
		{"500 hosts that take ten seconds", 500, 10 * time.Second, false, nil},
		{"a single worker", 500, 30 * time.Second, true, func(o *Options) { o.Parallel = 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				slow := w.crowd("slow", c.hosts, 30)
				w.discover(urls("good.test", minutes*60*perSecond)...)
				w.takes = func(url string) time.Duration {
					if slow(url) {
						return c.takes
					}
					return 50 * time.Millisecond
				}
				w.answer = func(url string, _ int) *Page {
					if slow(url) && c.fails {
						return &Page{Problem: ProblemTimeout}
					}
					return nil
				}
				w.robots = func(origin string, _ int) (int, string, error) {
					if slow(origin) && c.fails {
						return 0, "", &wire.TimeoutError{Limit: c.takes}
					}
					return 404, "", nil
				}
				ctx, cancel := context.WithTimeout(t.Context(), minutes*time.Minute)
				defer cancel()
				err := w.run(ctx, func(o *Options) {
					o.Parallel, o.Delay = 16, time.Second/perSecond
					if c.change != nil {
						c.change(o)
					}
				})
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Fatal(err)
				}
				for m := range minutes {
					got := w.between("good.test", time.Duration(m)*time.Minute, time.Duration(m+1)*time.Minute)
					if want := 60 * perSecond * 9 / 10; got < want {
						t.Errorf("minute %d: %d pages, want %d at least", m+1, got, want)
					}
				}
			})
		})
	}
}

func (w *world) crowdStarted(name string) (hosts int) {
	seen := map[string]bool{}
	for _, r := range w.asked {
		if h := frontier.HostOf(r.url); strings.HasPrefix(h, name) {
			seen[h] = true
		}
	}
	return len(seen)
}

// The number of hosts that do not answer exceeds the number of connections for unknown hosts. A
// healthy host waits for its first request, but not for later ones, and every host gets requests.
func TestScheduleMoreSlowHostsThanPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts = 200
		w := newWorld()
		slow := w.crowd("slow", hosts, 5)
		w.discover(urls("good.test", 6000)...)
		w.takes = func(url string) time.Duration {
			if slow(url) {
				return 30 * time.Second
			}
			return 50 * time.Millisecond
		}
		w.answer = func(url string, _ int) *Page {
			if slow(url) {
				return &Page{Problem: ProblemTimeout}
			}
			return nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		err := w.run(ctx, func(o *Options) {
			o.Connections, o.Delay, o.IgnoreRobots = 32, time.Second/10, true
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		first := time.Duration(w.at("good.test")[0] * float64(time.Second))
		if most := hosts / 24 * 30 * time.Second; first > most { // unknown hosts may use 24 of 32 connections
			t.Errorf("the first page was asked for after %v, want %v at most", first, most)
		}
		seconds := int((10*time.Minute - first).Seconds())
		if got, want := len(w.at("good.test")), seconds*10*9/10; got < want {
			t.Errorf("%d pages in %d seconds, want %d at least", got, seconds, want)
		}
		same(t, "slow hosts that were asked", w.crowdStarted("slow"), hosts)
	})
}

// Hosts that become slow get only the connections for slow hosts. They count as quick again when
// they answer quickly.
func TestScheduleMoodyHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts = 40
		w := newWorld()
		moody := w.crowd("moody", hosts, 1000)
		w.discover(urls("good.test", 9000)...)
		slowFrom, slowTo := 2*time.Minute, 7*time.Minute
		w.takes = func(url string) time.Duration {
			if at := time.Since(w.start); moody(url) && at >= slowFrom && at < slowTo {
				return 10 * time.Second
			}
			return 50 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
		defer cancel()
		w.robots = func(origin string, _ int) (int, string, error) {
			if moody(origin + "/") {
				return 200, "User-agent: *\nCrawl-delay: 1", nil
			}
			return 404, "", nil
		}
		opt := Options{Parallel: 4, Connections: 16, PerHost: 1, Delay: time.Second / 10, UserAgent: "skink", Grace: time.Second}
		c := w.crawl(opt)
		time.AfterFunc(5*time.Minute, func() {
			s := c.schedule
			s.mu.Lock()
			defer s.mu.Unlock()
			if most := opt.Connections * shares[slow] / shares[quick]; s.capacity.asking[slow] > most || s.capacity.asking[quick] > 1 {
				t.Errorf("%d slow and %d quick hosts are asked, want %d and 1 at most", s.capacity.asking[slow], s.capacity.asking[quick], most)
			}
		})
		if err := c.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		for m := range 15 {
			from, to := time.Duration(m)*time.Minute, time.Duration(m+1)*time.Minute
			want := 540
			if from == slowFrom {
				want = 270 // hosts that were quick occupy all connections one after the other, each for ten seconds
			}
			if got := w.between("good.test", from, to); got < want {
				t.Errorf("minute %d: %d pages of the good host, want %d at least", m+1, got, want)
			}
		}
		for h := range hosts {
			host := fmt.Sprintf("moody%d.test", h)
			if got := w.between(host, 13*time.Minute, 14*time.Minute); got < 54 {
				t.Errorf("%s: %d pages in a minute when it is quick again", host, got)
			}
		}
	})
}

func TestCapacity(t *testing.T) {
	for _, c := range []struct {
		name                 string
		asking               [paces]int
		arrived, most        int
		quick, slow, failing bool
	}{
		{"nothing is under way", [paces]int{}, 0, 100, true, true, true},
		{"failing hosts have theirs", [paces]int{failing: 4}, 0, 100, true, true, false},
		{"slow hosts have theirs", [paces]int{slow: 12}, 0, 100, true, false, false},
		{"slow and failing hosts have theirs together", [paces]int{slow: 9, failing: 3}, 0, 100, true, false, false},
		{"quick hosts may have all but one", [paces]int{quick: 15}, 0, 100, true, true, true},
		{"all are taken", [paces]int{quick: 16}, 0, 100, false, false, false},
		{"as many wait for a worker as there are", [paces]int{quick: 1}, 4, 100, false, false, false},
		{"few pages are wanted", [paces]int{slow: 3}, 0, 4, true, false, false},
		{"one page is wanted", [paces]int{}, 0, 1, true, true, true},
		{"no page is wanted", [paces]int{}, 0, 0, false, false, false},
	} {
		p := newCapacity(&Options{Parallel: 2, Connections: 16})
		for of, n := range c.asking {
			for range n {
				p.begin(pace(of))
			}
		}
		p.begun, p.arrived = p.begun+c.arrived, c.arrived
		for of, want := range [paces]bool{c.quick, c.slow, c.failing} {
			if got := p.free(pace(of), c.most); got != want {
				t.Errorf("%s: a host of pace %d may have a turn: %v, want %v", c.name, of, got, want)
			}
		}
	}
}

// A time that lies one year ahead, recorded by a wrong clock, does not block a host for a year.
func TestScheduleBlockedByAWrongClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("http://a.test/")
		w.rest(t, "a.test", frontier.Rest{Blocked: time.Now().AddDate(1, 0, 0)})
		if err := w.run(t.Context(), func(o *Options) { o.IgnoreRobots = true }); err != nil {
			t.Fatal(err)
		}
		same(t, "asked at", w.at("a.test"), []float64{longestRetry.Seconds()})
	})
}

// TestCrawlBesideHostsThatHang uses real connections. Many hosts do not answer before all pages of
// a good host were requested. A crawl with two workers requests them nevertheless.
func TestCrawlBesideHostsThatHang(t *testing.T) {
	const hanging, pages = 60, 40
	var mu sync.Mutex
	asked := map[string]bool{} // guarded by mu: requested pages of the good host
	all := make(chan struct{})
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Host, "good.") {
			select {
			case <-all:
			case <-r.Context().Done():
			}
			return
		}
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if known := asked[r.URL.Path]; !known && len(asked) == pages-1 {
			close(all)
		}
		asked[r.URL.Path] = true
	})
	_, port, _ := strings.Cut(host, ":")
	var seeds []string
	allow := []string{"good.localhost:" + port}
	for h := range hanging {
		name := fmt.Sprintf("hangs%d.localhost:%s", h, port)
		allow = append(allow, name)
		seeds = append(seeds, "http://"+name+"/")
	}
	seeds = append(seeds, urls("good.localhost:"+port, pages)...)
	w := newWorld(seeds...)
	opt := Defaults()
	opt.Parallel, opt.Delay, opt.AllowHosts, opt.Timeout = 2, time.Millisecond, allow, time.Minute
	c, err := New(w.front, opt, w)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for url, p := range w.ended {
		if p.Problem == ProblemTimeout {
			t.Errorf("%s hung for %v, and the good host was not through", url, opt.Timeout)
		}
	}
	same(t, "pages", w.Pages(), hanging+pages)
}
