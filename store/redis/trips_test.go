package redis

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
	"skink/store/redis/redistest"
)

// A tripCounter counts the round trips that somebody who does one thing after the other waits for.
// Those that are under way at the same time are one: it counts the most that follow each other.
type tripCounter struct {
	mu    sync.Mutex
	trips int       // guarded by mu
	last  time.Time // guarded by mu: the end of the last trip that was counted
}

func (c *tripCounter) flown(began, ended time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if began.After(c.last) {
		c.trips++
		c.last = ended
	}
}

// since is how many trips were counted since the last call.
func (c *tripCounter) since() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, c.trips = c.trips, 0
	return n
}

// A visitor does with each page what the pipeline does: it asks whether the page is known, and what
// is kept of it if it is, looks it up, reads the leaders that it met unless it has them, and
// commits.
type visitor struct {
	t       *testing.T
	s       *Store
	leaders map[dedup.Hash]bool // whose texts were read
}

func (v *visitor) pages(id dedup.Hash, want store.Want) *store.Content {
	v.t.Helper()
	pages, err := v.s.Pages(v.t.Context(), []dedup.Hash{id}, want)
	if err != nil {
		v.t.Fatal(err)
	}
	return pages[0]
}

func (v *visitor) visit(e *store.Entry) {
	v.t.Helper()
	if known := v.pages(e.Record.ID, store.AsTaken); known != nil {
		e.Revisit, e.Replaces = true, known.Record.Began()
		if whole := v.pages(e.Record.ID, store.AsTaken|store.WantText|store.WantSketch|store.WantLinks); whole == nil || !whole.Kept || whole.Sketch == nil {
			v.t.Fatalf("%s: what was kept of it is %v", e.Record.URL, whole)
		}
	}
	ask := store.Ask{ID: e.Record.ID, Hashes: []dedup.Hash{e.Hash}, Keys: e.Keys, Limit: 1000}
	found, err := v.s.Lookup(v.t.Context(), []store.Ask{ask})
	if err != nil {
		v.t.Fatal(err)
	}
	r := &e.Record
	if found[0].Copy != nil {
		r.Verdict, r.Leader, r.Resemblance = dedup.Exact, found[0].Copy.ID, 1
		if found[0].Copy.Follows() {
			if found[0].Followed == nil {
				v.t.Fatalf("%s: whom %s follows is not known", r.URL, found[0].Copy.URL)
			}
			r.Verdict, r.Leader, r.Resemblance = found[0].Copy.Verdict, found[0].Copy.Leader, found[0].Copy.Resemblance
		}
	} else if met := found[0].Leaders; len(met) > 0 {
		for _, l := range met {
			if !v.leaders[l.ID] {
				v.leaders[l.ID] = v.pages(l.ID, store.WantText) != nil
			}
		}
		r.Verdict, r.Leader, r.Resemblance = dedup.Near, met[0].ID, .9
	}
	if r.Follows() {
		e.Keys = nil
	}
	e.Basis = found[0].Basis(ask)
	outcomes, err := v.s.Commit(v.t.Context(), []*store.Entry{e})
	if err != nil || outcomes[0] != store.Written {
		v.t.Fatalf("%s: %v, %v", r.URL, outcomes, err)
	}
}

// A page costs three round trips at most on its way, whatever it is like: to look it up, to compare
// it, and to commit it, which is two steps on a cluster. It shares one with those that were taken together, and one with those
// that were asked for together whether they are known; and where pages were visited before, one
// with some of them for what is kept. The test crawls pages one after the other, each with new
// links to other hosts.
//
// The short form grants each page one more, for machines that are busy.
//
//	SKINK_LONG=full go test -run TestTripsOfAPage -v ./store/redis
func TestTripsOfAPage(t *testing.T) {
	if os.Getenv("SKINK_LONG") == "" {
		t.Skip("SKINK_LONG=short runs it")
	}
	const (
		each   = 128
		taken  = 32
		shares = 3. / taken // to take, to learn the lanes of a host, and to ask what is known
	)
	itself := func(n int) int { return n }
	cases := []struct {
		name   string
		hosts  int // that are crawled in turn
		links  int
		again  bool            // they are visited a second time
		others int             // pages that another worker has committed before
		like   func(n int) int // whose keys a page has
		copies func(n int) int // whose text it has; nil: its own
		follow bool            // the others' pages follow leaders
		most   float64
	}{
		{"unique", 1, 0, false, 0, itself, nil, false, 2 + shares},
		{"unique, with links to many hosts", 1, 30, false, 0, itself, nil, false, 3},
		{"unique, with links to the hosts that are crawled", 8, 30, false, 0, itself, nil, false, 3.5}, // a commit waits for those that are on their way
		{"near one of few leaders", 1, 30, false, 0, func(n int) int { return n % 8 }, nil, false, 3},
		{"near one of many leaders", 1, 30, false, 0, func(n int) int { return n / 2 }, nil, false, 3},
		{"near one of many leaders of another worker", 1, 0, false, each / 2, func(n int) int { return 1000 + n/2 }, nil, false, 3},
		{"each near another leader of another worker", 1, 0, false, each, func(n int) int { return 1000 + n }, nil, false, 3 + shares},
		{"copies of another worker's pages", 1, 0, false, each, itself, func(n int) int { return 1000 + n }, false, 3 + shares},
		{"copies of another worker's pages that follow leaders", 1, 0, false, each, func(n int) int { return 1000 + n }, func(n int) int { return 1000 + n }, true, 3 + shares},
		{"copies of the worker's own pages", 1, 0, false, 0, func(n int) int { return n &^ 7 }, func(n int) int { return n &^ 7 }, false, 2 + shares},
		{"visited again", 1, 0, true, 0, itself, nil, false, 3},
	}
	server, cluster := redistest.Start(t), redistest.StartCluster(t)
	for _, on := range []struct {
		name      string
		far, near string
		more      float64
	}{
		{"a server", redistest.Delayed(t, server.Addr, 2*time.Millisecond), server.Addr, 0}, // so that what is sent at once is under way at once
		{"a cluster", cluster.Addrs(), cluster.Addrs(), 1},
	} {
		for _, c := range cases {
			t.Run(on.name+"/"+c.name, func(t *testing.T) {
				var counter tripCounter
				name := newName()
				s := openNamed(t, on.far, name)
				var all []frontier.Item
				for h := range c.hosts {
					all = append(all, urlsOf(fmt.Sprintf("host%d.example", h), each/c.hosts)...)
				}
				discover(t, s, each, all)
				other := openNamed(t, on.near, name)
				for n := range c.others {
					e := pageOf(fmt.Sprintf("https://other.example/%d", n), 1000+n)
					if !c.follow {
						commitJudged(t, other, e)
						continue
					}
					leader := pageOf(fmt.Sprintf("https://leader.example/%d", n), 2000+n)
					leader.Keys = e.Keys
					commitJudged(t, other, leader)
					(&visitor{t, other, map[dedup.Hash]bool{}}).visit(e)
				}
				g, err := s.Claim(t.Context(), "w", c.hosts, time.Hour)
				if err != nil || len(g.Hosts) != c.hosts {
					t.Fatal(g, err)
				}
				v := &visitor{t, s, map[dedup.Hash]bool{}}
				spend := func() {
					urls := make([][]frontier.Item, c.hosts)
					for n := range each {
						h := n % c.hosts
						if len(urls[h]) == 0 {
							if urls[h], err = s.Take(t.Context(), g.Hosts[h].Claim, taken); err != nil || len(urls[h]) == 0 {
								t.Fatal(urls, err)
							}
						}
						e := linked(urls[h][0].URL, g.Hosts[h].Claim, n, c.like(n), c.links, c.hosts)
						if c.copies != nil {
							original := pageOf(e.Record.URL, c.copies(n))
							e.Hash, e.Record.Hash, e.Text = original.Hash, original.Hash, original.Text
						}
						v.visit(e)
						urls[h] = urls[h][1:]
					}
				}
				s.flown = counter.flown
				spend()
				if c.again {
					if _, err := s.Requeue(t.Context(), all); err != nil {
						t.Fatal(err)
					}
					counter.since()
					spend()
				}
				perPage := float64(counter.since()) / each
				t.Logf("%.2f round trips a page", perPage)
				most := c.most + on.more
				if os.Getenv("SKINK_LONG") != "full" {
					most++ // claims are renewed and buckets split by the clock: on a busy machine more of that falls on a page
				}
				if perPage > most {
					t.Errorf("a page takes %.2f round trips, want %v at most", perPage, most)
				}
			})
		}
	}
}

// linked is a page that is like another: it has its keys, and its own text. It links to URLs that
// nobody knows, of the hosts that are crawled if they are several, else of many others.
func linked(url string, c frontier.Claim, n, like, links, hosts int) *store.Entry {
	if hosts == 1 {
		hosts = 500
	}
	e := pageOf(url, n)
	e.Claim, e.Keys, e.Links = c, pageOf(url, like).Keys, nil
	for i := range links {
		e.Links = append(e.Links, frontier.Item{URL: fmt.Sprintf("https://host%d.example/%d", (n*7+i)%hosts, 1000+n*links+i), Depth: 1})
	}
	return e
}
