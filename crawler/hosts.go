package crawler

import (
	"cmp"
	"slices"
	"time"
)

// A HostState is how a crawl gets on with one host.
type HostState struct {
	Name     string
	Requests int           // started, robots.txt included
	Took     time.Duration // an answer takes, smoothed; 0: none yet
	Rest     time.Duration // between two requests
	Until    time.Time     // left alone until then; may be past
	Fails    int           // in a row
	Hopeless bool          // nobody waits for it, see backoff.go
	Budget   bool          // its budget is spent, and it has URLs
	Alone    string        // why it is left alone for the rest of the crawl, see leave.go; "": it is not
	Left     bool          // it has URLs to fetch, or nobody knows that it has none
}

// Hosts is how the crawl gets on with the hosts it knows of at the moment, in order of their names.
// Hosts with nothing left to fetch are forgotten after a while.
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

// Demanding lists the first of the hosts that asked for more than Options.MaxDelay, the most
// demanding first.
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

// Fetched is the bytes of the bodies fetched so far, decoded.
func (c *Crawl) Fetched() int64 {
	c.schedule.mu.Lock()
	defer c.schedule.mu.Unlock()
	return c.schedule.bytes
}

// InFlight is how many URLs are under way: asked for, or worked on.
func (c *Crawl) InFlight() int {
	c.schedule.mu.Lock()
	defer c.schedule.mu.Unlock()
	return c.schedule.places.begun
}

// Held is how many hosts are claimed by this crawl.
func (c *Crawl) Held() int {
	c.schedule.mu.Lock()
	defer c.schedule.mu.Unlock()
	return len(c.schedule.held)
}
