package crawler

import (
	"cmp"
	"slices"
	"time"
)

// A HostState describes the progress of a crawl on one host.
type HostState struct {
	Name     string
	Requests int           // number of requests started, including those for robots.txt
	Took     time.Duration // average response time, weighted toward recent responses; 0 means no response yet
	Rest     time.Duration // minimum time between the starts of two requests
	Until    time.Time     // time before which no requests are sent; may be in the past
	Fails    int           // number of consecutive failures
	Hopeless bool          // whether the crawl ends without waiting for the host; see backoff.go
	Budget   bool          // whether the host has reached its --max-host-pages or --max-host-bytes, and has more URLs
	Alone    string        // reason why this crawl sends the host no more requests; see backoff.go; "" if it gets requests
	Slow     bool          // whether the host takes long to respond, or has not responded yet; see capacity.go
	Left     bool          // whether the host has, or may have, URLs to fetch
}

// Hosts returns the state of the hosts in memory, sorted by name. Hosts without URLs to fetch are
// removed from memory after a while.
func (c *Crawl) Hosts() []HostState {
	return now(c.schedule, func(s *schedule) (all []HostState) {
		for _, h := range s.hosts {
			left := len(h.urls) > 0 || h.supply != dry || h.taking
			all = append(all, HostState{
				Name: h.name, Requests: h.requests, Took: h.took, Rest: h.rest(), Until: h.until,
				Slow: h.pace() == slow, Fails: h.fails, Hopeless: h.hopeless, Budget: left && !h.affords(0), Alone: h.alone, Left: left || h.open > 0,
			})
		}
		slices.SortFunc(all, func(a, b HostState) int { return cmp.Compare(a.Name, b.Name) })
		return all
	})
}

// A Demand is a host whose robots.txt asks for a longer delay than Options.MaxDelay.
type Demand struct {
	Host  string
	Asked time.Duration
}

// Demanding returns the hosts whose robots.txt asks for a longer delay than Options.MaxDelay,
// longest delay first. Only the first 1000 found are included.
func (c *Crawl) Demanding() []Demand {
	return now(c.schedule, func(s *schedule) (all []Demand) {
		for host, asked := range s.demanding {
			all = append(all, Demand{host, asked})
		}
		slices.SortFunc(all, func(a, b Demand) int { return cmp.Or(cmp.Compare(b.Asked, a.Asked), cmp.Compare(a.Host, b.Host)) })
		return all
	})
}

// now returns a value of a schedule as it is now.
func now[T any](s *schedule, of func(*schedule) T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return of(s)
}

// Fetched returns the total size in bytes of the decoded bodies fetched so far.
func (c *Crawl) Fetched() int64 { return now(c.schedule, func(s *schedule) int64 { return s.bytes }) }

// Requests returns the number of requests that count against Options.Rate.
func (c *Crawl) Requests() int64 { return now(c.schedule, func(s *schedule) int64 { return s.sent }) }

// InFlight returns the number of URLs being fetched or processed.
func (c *Crawl) InFlight() int {
	return now(c.schedule, func(s *schedule) int { return s.capacity.begun })
}

// Held returns the number of hosts that this crawl has claimed.
func (c *Crawl) Held() int {
	return now(c.schedule, func(s *schedule) int { return len(s.claims.held) })
}

// A LeftHost is a host to which this crawl has stopped sending requests, with the reason.
type LeftHost struct{ Host, Why string }

// LeftAlone returns the hosts to which this crawl has stopped sending requests, sorted by name.
func (c *Crawl) LeftAlone() (all []LeftHost) {
	for _, h := range c.Hosts() {
		if h.Alone != "" {
			all = append(all, LeftHost{h.Name, h.Alone})
		}
	}
	return all
}

// Waiting returns the number of hosts that have URLs to fetch now or later, or a fetch under way.
func (c *Crawl) Waiting() int {
	return now(c.schedule, func(s *schedule) int {
		n := s.claims.Waiting
		for h := range s.claims.held {
			if h.spot.Queue() != nil || h.parked || h.open > 0 {
				n++
			}
		}
		return n
	})
}

// Paused reports whether the crawl is paused by an order. Then requests under way finish, hosts stay
// claimed, and timeouts keep running.
func (c *Crawl) Paused() bool { return c.opt.Control.orders().Paused }
