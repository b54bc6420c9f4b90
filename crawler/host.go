package crawler

import (
	"time"

	"skink/frontier"
	"skink/internal/priority"
)

// A host is the state of one authority (host and port) in the schedule. The schedule's mutex guards
// it, except for name and folder, which never change.
type host struct {
	standing

	name    string
	claim   frontier.Claim  // zero: the host is not held, and gets no requests
	urls    []frontier.Item // taken from the frontier, not started
	supply  supply          // what the frontier has beyond urls
	taking  bool            // URLs are being taken from the frontier
	depth   int             // of the next URL, estimated while urls is empty
	leaving bool            // to be returned: no more turns begin
	away    bool            // not available in this run: it gets no requests
	first   bool            // comes before others: its robots.txt was just requested

	turns    int // turns begun and not ended
	open     int // of them, those whose request has not ended
	unsent   int // of them, those whose request was not sent
	requests int // requests started so far
	robots   int // requests for robots.txt that started, plus those that ended

	drawing    int // turns whose page is being drawn
	asides     int // requests of drawn pages that wait or are under way
	asidesOpen int // of them, those under way

	located bool     // its name was looked up
	at      *address // its address; nil: unknown, or not needed
	parked  bool     // waits for a free request at that address

	spot priority.Spot[*host] // its position in the line it waits in
}

// A supply says whether the frontier has URLs of a host that were not taken.
type supply int

const (
	dry   supply = iota // it had no more when last asked
	maybe               // it may have some
	sure                // it said that it has some
)

// due returns when the next URL may start. A host that may or may not have URLs is due at once:
// asking the frontier costs the host nothing, and the crawl may be over.
func (h *host) due() time.Time {
	if len(h.urls) == 0 && h.supply != sure {
		return time.Time{}
	}
	return h.rested()
}

// held reports whether the schedule holds the host.
func (h *host) held() bool { return h.claim != frontier.Claim{} }

// askable reports whether a turn of the host may begin as soon as the host has rested.
func (h *host) askable() bool {
	switch {
	case !h.held(), h.away, h.alone != "", h.leaving, h.taking:
		return false
	case h.open+h.asides >= h.atOnce(), h.unsent > 0 && h.delay > 0, h.drawing > 0 && h.drawing >= h.opt.tabs:
		return false
	case h.turns > 0 && h.nextPriority() >= lookAgainPriority:
		return false
	case len(h.urls) == 0 && h.supply == dry:
		return false
	}
	return h.affords(h.open)
}

// finished reports whether the host gets no more requests in this crawl.
func (h *host) finished() bool { return h.away || h.alone != "" || !h.affords(0) }

// found records that the frontier may have new URLs of the host at a depth.
func (h *host) found(depth int) {
	if h.supply == dry && !h.taking || depth < h.depth {
		h.depth = depth
	}
	h.supply = max(h.supply, maybe)
}

// nextDepth returns the depth of the host's next URL, estimated while none is in memory.
func (h *host) nextDepth() int {
	if len(h.urls) > 0 {
		return h.urls[0].Depth
	}
	return h.depth
}

// nextPriority returns that of the host's next URL, or 0 while none is in memory.
func (h *host) nextPriority() int {
	if len(h.urls) > 0 {
		return h.urls[0].Priority
	}
	return 0
}

// idle reports whether a host can be removed without loss: it has no claim and no state, and could
// be asked at once.
func (h *host) idle(now time.Time) bool {
	return !h.held() && h.alone == "" && h.turns == 0 && h.asides == 0 && h.spot.Queue() == nil && !h.parked && h.fails == 0 && h.spent == Spent{} &&
		!now.Before(h.rested())
}
