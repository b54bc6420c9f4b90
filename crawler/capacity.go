package crawler

import (
	"math"
	"time"
)

// # How many URLs are fetched and processed at once
//
// Waiting for an answer takes a connection and a few kilobytes; processing a page takes a
// processor. So a turn needs two things, one after the other:
//
//  1. A connection, from its beginning until its answer has arrived whole or has failed. That
//     covers the DNS look-up, robots.txt if it is not cached, the request and the body. Each turn
//     has a goroutine, which waits. Memory for the body is allocated as it arrives, see package
//     wire, rooms.go.
//  2. One of Options.Parallel workers, which parses, judges and stores the page.
//
// Options.Connections bounds the turns that have begun and not ended. An answer that has arrived
// gives up its connection before it waits for a worker, and a worker waits for no turn, so there is
// no deadlock. A folder keeps its connection until its page is stored, because its next page is
// requested only then; the worker does not wait for that connection either. No turn begins while
// twice as many pages wait for a worker or have one as there are workers, so that fetching does not
// run ahead of processing.
//
// # Slow hosts
//
// A host holds its connection for as long as its answers take. 500 hosts that hang would hold every
// connection, each until its timeout, and a host that answers in 50 ms would wait for them. So each
// host has a pace. A host is quick if its last answers came within slowAnswer. It is slow if they
// took longer, or if the host has not answered in this crawl. It is failing if it did not answer
// the last time. Each pace leaves connections for quicker hosts, see shares. A host that has not
// answered yet, or failed the last time, has one turn at a time, whatever Options.PerHost says.
//
// The answer to the request for robots.txt sets the pace of a host before its first page is
// requested.
//
// Known weaknesses: a quick host that begins to hang holds a quick host's connection until its
// timeout. If more unknown hosts hang than slow hosts may have connections, the other unknown hosts
// wait with them for their first turn.
//
// # When a crawl is stopped
//
// No more turns begin. Turns under way go on for Options.Grace, and the workers process what
// arrives in that time. Then the context of all turns ends. The next run fetches the unfinished
// URLs again.

// A pace is a class of hosts by how soon they are expected to answer.
type pace int

const (
	quick pace = iota
	slow
	failing
	paces // number of classes
)

// slowAnswer is the longest time in which a quick host answers. A quarter of the connections is
// reserved for quick hosts. With the default options that is enough for more than a hundred answers
// a second, about as many as one processor can process.
const slowAnswer = 2 * time.Second

// shares says for each pace how many quarters of all connections hosts of this pace and of slower
// paces may use together. They may always use at least one connection.
var shares = [paces]int{quick: 4, slow: 3, failing: 1}

// A capacity counts the turns that have begun and not ended, and compares them with the limits of a
// crawl.
type capacity struct {
	connections int        // largest value of begun
	ahead       int        // largest value of arrived: no turn begins while it is reached
	begun       int        // turns that have begun and not ended
	arrived     int        // turns among begun whose page waits for a worker or is being processed
	asking      [paces]int // turns among begun whose request has not ended, by pace of the host
}

func newCapacity(opt *Options) capacity {
	return capacity{connections: positive(opt.Connections, Defaults().Connections), ahead: 2 * max(opt.Parallel, 1)}
}

// free reports whether a turn of a host with this pace may begin. most is an additional limit of
// all turns that have begun and not ended.
func (c *capacity) free(of pace, most int) bool {
	most = min(most, c.connections)
	if c.begun >= most || c.arrived >= c.ahead {
		return false
	}
	asking := 0
	for q := failing; q > quick; q-- {
		asking += c.asking[q]
		if of >= q && asking >= max(most*shares[q]/shares[quick], 1) {
			return false
		}
	}
	return true
}

func (c *capacity) begin(of pace) {
	c.begun++
	c.asking[of]++
}

// room returns how many turns Options.MaxPages and MaxBytes allow to be under way here. Each of
// several workers has an equal share of the pages that remain, rounded up. So the workers together
// may exceed MaxPages by one page each, plus pages of other workers that are not counted yet.
func (s *schedule) room() int {
	switch {
	case s.hasAllBytes():
		return 0
	case s.opt.MaxPages > 0:
		workers := int64(max(s.claims.workers, 1))
		return int(min((max(s.opt.MaxPages-s.pages(), 0)+workers-1)/workers, math.MaxInt32))
	}
	return math.MaxInt32
}

func (s *schedule) hasAllBytes() bool { return s.opt.MaxBytes > 0 && s.bytes >= s.opt.MaxBytes }

// hasAllPages reports whether the crawl ends because of MaxPages alone, so that the requisites of
// its pages may still be fetched.
func (s *schedule) hasAllPages() bool {
	return s.opt.MaxPages > 0 && s.pages() >= s.opt.MaxPages && !s.hasAllBytes()
}

// limit sets whether only requisites are fetched from now on.
func (s *schedule) limit(limited bool) {
	if s.limited == limited {
		return
	}
	s.limited = limited
	for _, h := range s.hosts {
		h.limited = limited
		s.claims.doubt(h)
		s.offer(h)
	}
}
