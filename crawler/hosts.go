package crawler

import (
	"cmp"
	"slices"
	"time"
)

// A HostState describes the progress of a crawl at one host.
type HostState struct {
	Name     string
	Requests int           // requests started, robots.txt included
	Took     time.Duration // time that an answer takes, smoothed; 0: no answer yet
	Rest     time.Duration // between two requests
	Until    time.Time     // no requests before this time; may be past
	Fails    int           // failures in a row
	Hopeless bool          // the crawl does not wait for it, see backoff.go
	Budget   bool          // it reached its --max-host-pages or --max-host-bytes, and it has URLs
	Alone    string        // why this crawl sends it no more requests, see leave.go; "": it does
	Left     bool          // it has URLs to fetch, or may have some
}

// Hosts returns the state of the hosts in memory, sorted by name. Hosts with nothing left to fetch
// are removed from memory after a while.
func (c *Crawl) Hosts() []HostState {
	all := c.schedule.states()
	slices.SortFunc(all, func(a, b HostState) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func (s *schedule) states() []HostState {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]HostState, 0, len(s.hosts))
	for _, h := range s.hosts {
		all = append(all, HostState{
			Name: h.name, Requests: h.requests, Took: h.took, Rest: h.rest(s.opt.MaxDelay), Until: h.until,
			Fails: h.fails, Hopeless: h.hopeless, Budget: (len(h.urls) > 0 || !h.dry) && !s.opt.HostBudget.allows(h.spent, 0),
			Alone: h.alone, Left: len(h.urls) > 0 || !h.dry || h.open > 0,
		})
	}
	return all
}

// A Demand is a host whose robots.txt asks for a longer delay than it gets.
type Demand struct {
	Host  string
	Asked time.Duration
}

// Demanding returns hosts that asked for more than Options.MaxDelay, the longest delay first. It
// returns the first 1000 that were found.
func (c *Crawl) Demanding() []Demand {
	s := c.schedule
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Demand
	for host, asked := range s.demanding {
		all = append(all, Demand{host, asked})
	}
	slices.SortFunc(all, func(a, b Demand) int {
		return cmp.Or(cmp.Compare(b.Asked, a.Asked), cmp.Compare(a.Host, b.Host))
	})
	return all
}

// Fetched returns the total size in bytes of the decoded bodies fetched so far.
func (c *Crawl) Fetched() int64 {
	c.schedule.mu.Lock()
	defer c.schedule.mu.Unlock()
	return c.schedule.bytes
}

// InFlight returns how many URLs are being fetched or processed.
func (c *Crawl) InFlight() int {
	c.schedule.mu.Lock()
	defer c.schedule.mu.Unlock()
	return c.schedule.places.begun
}

// Held returns how many hosts this crawl holds.
func (c *Crawl) Held() int {
	c.schedule.mu.Lock()
	defer c.schedule.mu.Unlock()
	return len(c.schedule.held)
}
