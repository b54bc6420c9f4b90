package crawler

import (
	"time"

	"skink/base/priority"
	"skink/frontier"
)

// A host is the state of one authority (host and port) in the schedule. The schedule's mutex guards
// it, except for name and folder, which never change.
type host struct {
	standing

	name    string
	claim   frontier.Claim  // zero if this worker has not claimed the host, which then gets no requests
	urls    []frontier.Item // URLs taken from the frontier that are not being fetched yet
	supply  supply
	taking  bool // whether URLs are being taken from the frontier
	depth   int  // depth of the next URL; an estimate while urls is empty
	leaving bool // no more fetches begin, because the host will be returned to the frontier
	first   bool // the host goes before others, because its robots.txt has just been requested

	turns    int // number of turns under way (URLs being fetched or processed)
	open     int // number of turns whose request has not ended
	unsent   int // number of slots whose request has not been sent yet
	requests int
	robots   int // number of requests for robots.txt that have started, plus the number of those that have ended

	drawing    int // number of the host's pages that a browser is rendering
	asides     int // number of asides, waiting or under way; see slot.go
	asidesOpen int // number of asides under way

	located bool     // the host's name has been looked up in DNS
	at      *address // nil if the address is unknown or not needed
	parked  bool     // the host is waiting for a request to its IP address to end

	spot priority.Spot[*host] // position in the queue where the host is waiting
}

// A supply says whether the frontier is known to have more URLs of a host than are in memory.
type supply int

const (
	dry    supply = iota // the frontier had no more URLs when it was last asked
	maybe                // the frontier may have more URLs
	sure                 // the frontier has reported that it has more URLs
	urgent               // the frontier has requisites, which come before the URLs in memory
)

// due returns the earliest time at which the next URL of the host may be fetched. It returns the
// zero time if the host may have no URLs. In that case the frontier should be asked at once, which
// costs the host nothing and may show that the crawl is over.
func (h *host) due() time.Time {
	if len(h.urls) == 0 && h.supply < sure {
		return time.Time{}
	}
	return h.rested()
}

func (h *host) held() bool { return h.claim != frontier.Claim{} }

// askable reports whether the next fetch from the host may begin as soon as its delay has passed.
func (h *host) askable() bool {
	switch {
	case !h.held(), h.alone != "", h.leaving, h.taking:
		return false
	case h.open+h.asides >= h.atOnce(), h.unsent > 0 && h.delay > 0, h.drawing > 0 && h.drawing >= h.opt.tabs:
		return false
	case h.turns > 0 && h.nextPriority() >= lookAgainPriority:
		return false
	case len(h.urls) == 0 && h.supply == dry:
		return false
	}
	return !h.opt.limited && h.affords(h.open) || h.needsRequisites()
}

func (h *host) finished() bool {
	return h.alone != "" || h.onlyRequisites() && !h.needsRequisites()
}

// onlyRequisites reports whether a page limit has been reached, so the host gets only requests for
// the requisites of fetched pages.
func (h *host) onlyRequisites() bool { return h.opt.limited || !h.affords(0) }

func (h *host) needsRequisites() bool {
	switch {
	case !h.opt.Requisites:
		return false
	case len(h.urls) > 0 && h.urls[0].Kind == frontier.Requisite, h.supply == urgent:
		return true
	}
	return len(h.urls) == 0 && h.supply > dry
}

// mustTake reports whether to take URLs from the frontier before the next fetch, because no URLs
// are in memory, or because requisites should come before the URLs in memory. If many URLs are in
// memory, requisites wait until some of these have been fetched, so that the number of URLs in
// memory stays bounded.
func (h *host) mustTake() bool {
	return len(h.urls) == 0 || h.supply == urgent && h.urls[0].Kind != frontier.Requisite && (len(h.urls) < 2*takeBatch || h.onlyRequisites())
}

// found records that URLs of the host may have been added to the frontier at this depth.
func (h *host) found(depth int) {
	if h.supply == dry && !h.taking || depth < h.depth {
		h.depth = depth
	}
	h.supply = max(h.supply, maybe)
}

// nextDepth returns the depth of the host's next URL. It is an estimate while none of the host's
// URLs are in memory.
func (h *host) nextDepth() int {
	if len(h.urls) > 0 {
		return h.urls[0].Depth
	}
	return h.depth
}

// nextPriority returns the priority of the host's next URL, or 0 if it is unknown.
func (h *host) nextPriority() (p int) {
	if len(h.urls) > 0 {
		p = h.urls[0].Priority
	}
	if h.supply == urgent && h.mustTake() {
		p = min(p, 0) + RequisitePriority
	}
	return p
}

// idle reports whether a host can be removed from memory without loss, because its state would not
// delay or prevent a request.
func (h *host) idle(now time.Time) bool {
	return !h.held() && h.alone == "" && h.turns == 0 && h.asides == 0 && h.spot.Queue() == nil && !h.parked && h.fails == 0 && h.spent == Spent{} &&
		!now.Before(h.rested())
}
