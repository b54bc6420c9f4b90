package crawler

import (
	"cmp"
	"math"
	"time"
)

// # How many URLs are fetched and processed at once
//
// The fetch of a URL and the processing of its page (together called a turn; see turn.go) need two
// things, one after the other. Waiting for a response takes a connection and a few kilobytes.
// Processing a page takes a processor.
//
//  1. A connection, until the whole response has arrived or the request has failed. It is used for
//     the DNS lookup, robots.txt if it is not cached, the request and the body. Each turn has a
//     goroutine, which waits. Memory for the body is reserved as it arrives; see rooms.go in
//     package wire.
//  2. One of Options.Parallel workers, which parses, judges and stores the page. A brief page, which has
//     nothing to parse, needs none: the goroutine of its turn stores it, together with others.
//
// Options.Connections limits the turns that have begun but not ended. When a response has arrived,
// its connection is released before the page waits for a worker. A worker never waits for another
// turn, so there is no deadlock. A folder on disk gets its next request only when its previous page
// has been stored. No turn begins while the number of pages waiting for a worker or being processed
// is twice the number of workers. So fetching does not run far ahead of processing.
//
// # Slow hosts
//
// A host occupies a connection for as long as its responses take. Five hundred hanging hosts could
// occupy all connections until their timeouts, and a host that answers in 50 ms would wait for
// them. So each host has a pace. A host is quick if its last responses came within slowAnswer. It
// is slow if they took longer, or if the host has not answered in this crawl. It is failing if its
// last request failed. Each pace leaves connections for quicker hosts; see shares. A host that has
// not answered yet, or whose last request failed, gets only one request at a time, whatever the
// value of Options.PerHost.
//
// The response to the request for robots.txt sets the pace of a host before its first page is
// requested.
//
// Known weaknesses: A quick host that begins to hang occupies connections meant for quick hosts
// until its requests time out. If hosts that have never answered take up all connections for slow
// hosts, other new hosts must wait for their first request.
//
// # When a crawl is stopped
//
// No more turns begin. Turns under way continue for Options.Grace, and the workers process the
// pages that arrive in this time. Then the context of all turns ends. The next run fetches the
// unfinished URLs again.

// A pace is a class of hosts that are expected to answer about equally fast.
type pace int

const (
	quick pace = iota
	slow
	failing
	paces // number of paces
)

// slowAnswer is the longest response time of a quick host. A quarter of the connections is reserved
// for quick hosts. With the default options, that is enough for more than a hundred responses per
// second, about as many as one processor can process.
const slowAnswer = 2 * time.Second

// shares contains, for each pace, how many quarters of the connections its hosts and those of
// slower paces may use together. The hosts of a pace may always use at least one connection.
var shares = [paces]int{quick: 4, slow: 3, failing: 1}

// A capacity counts the turns (URLs being fetched or processed), and compares their number with the
// limits of a crawl.
type capacity struct {
	connections int        // maximum number of turns under way
	ahead       int        // no fetch begins while arrived is at least this value
	begun       int        // number of turns that have begun but not ended
	arrived     int        // number of turns whose page is waiting for a worker or being processed
	asking      [paces]int // number of turns whose request has not ended, by the host's pace
}

func newCapacity(opt *Options) capacity {
	return capacity{connections: cmp.Or(max(opt.Connections, 0), Defaults().Connections), ahead: 2 * max(opt.Parallel, 1)}
}

// free reports whether a turn of a host with pace p may begin if at most limit turns may be under
// way.
func (c *capacity) free(p pace, limit int) bool {
	limit = min(limit, c.connections)
	if c.begun >= limit || c.arrived >= c.ahead {
		return false
	}
	asking := 0
	for q := failing; q > quick; q-- {
		asking += c.asking[q]
		if p >= q && asking >= max(limit*shares[q]/shares[quick], 1) {
			return false
		}
	}
	return true
}

func (c *capacity) begin(of pace) {
	c.begun++
	c.asking[of]++
}

// room returns the number of URLs that this worker may fetch and process at once without exceeding
// Options.MaxPages and MaxBytes. Each of several workers has an equal share of the remaining pages,
// rounded up. So the workers together may exceed MaxPages by one page each, plus pages of other
// workers that have not been counted yet.
func (s *schedule) room() int {
	switch {
	case s.hasAllBytes():
		return 0
	case s.opt.MaxPages > 0:
		workers := int64(max(s.claims.Workers, 1))
		return int(min((max(s.opt.MaxPages-s.pages(), 0)+workers-1)/workers, math.MaxInt32))
	}
	return math.MaxInt32
}

func (s *schedule) hasAllBytes() bool { return s.opt.MaxBytes > 0 && s.bytes >= s.opt.MaxBytes }

// limit sets whether only requisites are fetched from now on.
func (s *schedule) limit(limited bool) {
	if s.opt.limited == limited {
		return
	}
	s.opt.limited = limited
	for _, h := range s.hosts {
		s.claims.doubt(h)
		s.offer(h)
	}
}
