package crawler

import (
	"cmp"
	"time"

	"skink/frontier"
	"skink/internal/priority"
)

// A host is the state of one authority (host and port) in the schedule. The schedule's lock guards
// it.
type host struct {
	name    string
	claim   frontier.Claim  // zero: the host is not held, and gets no requests
	urls    []frontier.Item // taken from the frontier, not started
	turns   int             // turns begun and not ended
	depth   int             // of the next URL, estimated while urls is empty
	dry     bool            // the frontier had no more when last asked
	sure    bool            // the frontier said that it has URLs
	stirred bool            // the frontier may have got URLs since it was last asked
	taking  bool            // its URLs are being taken
	leaving bool            // to be returned: no more turns begin
	folder  bool            // a folder on disk: it needs no rest
	away    bool            // not available in this run: it gets no requests
	alone   string          // why this crawl sends it no more requests, see leave.go; "": it does

	spot priority.Spot[*host] // its position in the line it waits in

	open    int           // requests in flight
	unsent  int           // of them, not yet sent
	most    int           // requests at once, see atOnce
	delay   time.Duration // least time between the starts of two requests, set by the user or robots.txt
	took    time.Duration // time that an answer with a page takes, smoothed
	asked   time.Time     // when the last request arrived there, or began if it was not sent yet
	awaited *turn         // the turn of that request until its answer begins; asked is then an estimate
	until   time.Time     // no requests before this time
	blocked time.Time     // like until, for the rest that the host itself asked for

	crawlDelay time.Duration // delay that a robots.txt asks for, at most MaxDelay
	teller     string        // origin of that robots.txt; "": unknown
	first      bool          // comes before others: its robots.txt was just requested

	requests   int           // started so far
	robots     int           // requests for robots.txt that started, plus those that ended
	robotsTook time.Duration // time of the first answer to a request for robots.txt
	located    bool          // its name was looked up
	at         *address      // its address; nil: unknown, or not needed
	parked     bool          // waits for a place at that address
	spent      Spent         // in this crawl, counted if there is a budget

	refused int  // answers that it is busy; answers to requests in flight together count once
	served  bool // it has answered something else for a URL in this crawl

	trouble // its recent failures
}

// # The rest between two requests to a host
//
// The rest is at least the delay that the user sets and the one that robots.txt asks for. A server
// that takes long to answer is overloaded, so its rest is also at least restPerAnswer times the
// duration of its answers, smoothed over the last few. (Heritrix waits five times as long as an
// answer took, Scrapy's AutoThrottle once.) Options.MaxDelay bounds the delays that robots.txt and
// slow answers cause. If the user sets a delay of zero, for a server of their own, there is no
// rest.
//
// The rest counts from the moment at which the last request has certainly arrived. If that request
// came late and the next one does not, the server sees them closer together than they were sent. On
// a busy network or machine the difference is tens of milliseconds. A request has arrived when its
// answer begins. But a server may take long to answer, and that must not slow the crawl down. So a
// request counts as arrived at the latest after mostOnTheWay, or after 1/restOnTheWay of the rest
// if that is shorter.
const (
	restPerAnswer = 2
	smoothing     = 4 // an answer counts for a quarter, those before it for the rest
	mostOnTheWay  = 25 * time.Millisecond
	restOnTheWay  = 8 // the part of a rest
)

// rest returns the time between the starts of two requests; most bounds it unless delay is longer.
func (h *host) rest(most time.Duration) time.Duration {
	if h.delay == 0 || h.folder {
		return 0
	}
	rest := max(h.delay, restPerAnswer*h.took)
	if most > 0 && rest > most {
		rest = max(most, h.delay)
	}
	return rest
}

// onTheWay returns the time after which a request counts as arrived.
func (h *host) onTheWay(most time.Duration) time.Duration {
	return min(h.rest(most)/restOnTheWay, mostOnTheWay)
}

// rested returns the time at which a host may get its next request.
func (h *host) rested(most time.Duration) time.Time {
	return latest(h.until, h.asked.Add(h.rest(most)))
}

// ask sets the time of the host's last request. The beginning of the answer does not change it any
// more.
func (h *host) ask(at time.Time) { h.asked, h.awaited = at, nil }

// told sets the delay that robots.txt asks for. A folder has no delay: the Crawl-delay in a copy of
// a site is for crawlers of the site.
func (h *host) told(crawlDelay, least time.Duration) {
	if !h.folder {
		h.crawlDelay, h.delay = crawlDelay, max(crawlDelay, least)
	}
}

// well records that the host answered, and how long that took.
func (h *host) well(took time.Duration) {
	h.trouble, h.served = trouble{answered: true}, true
	if h.took == 0 {
		h.took = took
		return
	}
	h.took += (took - h.took) / smoothing
}

// pace returns how soon the host is expected to answer.
func (h *host) pace() pace {
	switch {
	case h.fails > 0:
		return failing
	case h.folder:
		return quick
	case !h.answered, cmp.Or(h.took, h.robotsTook) > slowAnswer:
		return slow
	}
	return quick
}

// atOnce returns how many requests the host may have at once.
func (h *host) atOnce() int {
	if !h.answered || h.fails > 0 {
		return 1
	}
	return h.most
}

// next returns the depth of the host's next URL, estimated while none is in memory.
func (h *host) next() int {
	if len(h.urls) > 0 {
		return h.urls[0].Depth
	}
	return h.depth
}

// priority returns that of the host's next URL, or 0 while none is in memory.
func (h *host) priority() int {
	if len(h.urls) > 0 {
		return h.urls[0].Priority
	}
	return 0
}

// idle reports whether a host can be removed without loss: it has no claim and no state, and could
// be asked at once.
func (h *host) idle(now time.Time, most time.Duration) bool {
	return h.claim == frontier.Claim{} && h.alone == "" && h.turns == 0 && h.spot.Queue() == nil && !h.parked && h.fails == 0 && h.spent == Spent{} &&
		!now.Before(h.rested(most))
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// newLine returns an empty line of hosts.
func newLine(before func(a, b *host) bool) *priority.Queue[*host] {
	return priority.New(before, func(h *host) *priority.Spot[*host] { return &h.spot })
}
