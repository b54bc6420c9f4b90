package crawler

import (
	"regexp"
	"slices"
	"sync/atomic"
	"time"

	"skink/frontier"
)

// Orders are the changes that users make to a crawl while it runs. They are asked where the options
// are: before each request in [Options.refuse], and for the limits of a host in [Options.rulesOf].
type Orders struct {
	Paused           bool                     // send no new requests
	Include, Exclude []*regexp.Regexp         // in addition to those of the scope
	Blocked          map[string]string        // reasons, by host
	Delay            map[string]time.Duration // by host; robots.txt may ask for a longer one
	Prefer           []string                 // hosts whose URLs are fetched first
	PerHost          map[string]int           // maximum number of simultaneous requests, by host
}

// A Control passes orders to a crawl and to all copies of its options. It is safe for concurrent
// use. A nil Control has no orders.
type Control struct{ now atomic.Pointer[Orders] }

var noOrders Orders

func (c *Control) orders() *Orders {
	if c == nil || c.now.Load() == nil {
		return &noOrders
	}
	return c.now.Load()
}

// Set replaces the orders. A crawl that runs needs [Crawl.Obey].
func (c *Control) Set(o *Orders) { c.now.Store(o) }

// obey gives a standing the limits that its host has now. A shorter delay also ends the wait that a longer
// one began, unless the host has failed or asked for a pause.
func (s *standing) obey(host string) {
	s.look(host)
	s.setCrawlDelay(s.crawlDelay)
	if now := time.Now(); s.fails == 0 && s.until.After(now.Add(s.delay)) {
		s.until = frontier.Latest(s.blocked, now.Add(s.delay))
	}
}

func (s *standing) look(host string) {
	orders := s.opt.Control.orders()
	s.rules, s.preferred = s.opt.rulesOf(host), slices.Contains(orders.Prefer, host)
	_, s.ordered = orders.Delay[host]
}

// Obey replaces the orders of a crawl whose options have a Control. Requests in flight are finished.
func (c *Crawl) Obey(o *Orders) {
	c.opt.Control.Set(o)
	s := c.schedule
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.claims.held {
		h.obey(h.name)
		s.offer(h)
	}
	s.changed()
}
