package crawler

import (
	"cmp"
	"time"

	"skink/frontier"
	"skink/internal/line"
)

// A host is what the schedule knows of one authority. The schedule's lock guards it.
type host struct {
	name    string
	claim   frontier.Claim  // zero: it is not held, and not asked
	urls    []frontier.Item // taken, not started
	turns   int             // begun and not ended
	depth   int             // of the next URL, as far as is known while urls is empty
	dry     bool            // the frontier had no more when last asked
	sure    bool            // the frontier has some: it said so
	stirred bool            // it may have got more since it was last asked
	taking  bool            // its URLs are being taken
	leaving bool            // to be returned: nothing more of it is started
	folder  bool            // ours, on disk: it needs no rest
	away    bool            // not there: it is never asked
	alone   string          // why it is left alone for the rest of the crawl, see leave.go; "": it is not

	spot line.Spot[*host] // in the line it waits in

	open    int           // requests in flight
	unsent  int           // of them, still on their way out
	most    int           // requests at once, see atOnce
	delay   time.Duration // between the starts of two requests, as the user or robots.txt says
	took    time.Duration // an answer with a page takes, smoothed
	asked   time.Time     // when the last request was there, or began if it was not sent yet
	awaited *turn         // whose request that was, while its answer has not begun: it is there by asked
	until   time.Time     // left alone until then
	blocked time.Time     // the same, as far as it asked for it

	crawlDelay time.Duration // what a robots.txt asks for, as far as it is granted
	teller     string        // the origin of that robots.txt; "": nobody knows
	first      bool          // comes before others: its robots.txt was just asked for

	requests   int           // started so far
	robots     int           // how often robots.txt was asked for or answered
	robotsTook time.Duration // until it answered for robots.txt, the first time
	located    bool          // its name was looked up
	at         *address      // where that leads; nil: not known, or of no interest
	parked     bool          // waits for a place there
	spent      Spent         // in this crawl, counted if there is a budget

	refused int  // answers that it is busy, those in flight together counted once
	served  bool // it has answered something else for a URL in this crawl

	trouble // with it lately
}

// # How long a host is left alone between two requests
//
// At least as long as the user says, and as robots.txt asks. A server that takes long to answer is
// short of time, so it also gets a pause of restPerAnswer times what its answers take, smoothed
// over the last few. (Heritrix waits five times as long as an answer took, Scrapy's AutoThrottle
// once.) Neither is more than Options.MaxDelay. A user who wants no delay at all, for a server of
// his own, gets none.
//
// The rest counts from the moment at which the last request was there for certain, for if it came
// late and the next one does not, the server sees them closer together than they were sent. Where
// the network or the machine is busy, that is by tens of milliseconds. A request is there when its
// answer begins. A server may take long over an answer, and that is not to slow the crawl down: so
// a request is taken to be there after mostOnTheWay, or a part of the rest, at the latest.
const (
	restPerAnswer = 2
	smoothing     = 4 // an answer counts for a quarter, those before it for the rest
	mostOnTheWay  = 25 * time.Millisecond
	restOnTheWay  = 8 // the part of a rest
)

// rest is the time between the starts of two requests.
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

// onTheWay is how long a request is taken to need to the host at most.
func (h *host) onTheWay(most time.Duration) time.Duration {
	return min(h.rest(most)/restOnTheWay, mostOnTheWay)
}

// rested is when a host has had its rest, and is no longer to be left alone.
func (h *host) rested(most time.Duration) time.Time {
	return latest(h.until, h.asked.Add(h.rest(most)))
}

// ask notes when the host is asked, whenever the answer begins.
func (h *host) ask(at time.Time) { h.asked, h.awaited = at, nil }

// told takes in what robots.txt asks for. A folder takes no delay: the Crawl-delay in a copy of a
// site is for those who ask the site.
func (h *host) told(crawlDelay, least time.Duration) {
	if !h.folder {
		h.crawlDelay, h.delay = crawlDelay, max(crawlDelay, least)
	}
}

// well takes in that the host answered, and how long that took.
func (h *host) well(took time.Duration) {
	h.trouble, h.served = trouble{answered: true}, true
	if h.took == 0 {
		h.took = took
		return
	}
	h.took += (took - h.took) / smoothing
}

// pace is how soon the host is expected to answer.
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

// atOnce is how many requests the host may have at once.
func (h *host) atOnce() int {
	if !h.answered || h.fails > 0 {
		return 1
	}
	return h.most
}

// next is the depth of the host's next URL, as far as is known.
func (h *host) next() int {
	if len(h.urls) > 0 {
		return h.urls[0].Depth
	}
	return h.depth
}

// priority is that of the host's next URL, the usual one while that is not in hand.
func (h *host) priority() int {
	if len(h.urls) > 0 {
		return h.urls[0].Priority
	}
	return 0
}

// idle says whether a host can be forgotten without loss: it has no claim and no state, and could be
// asked at once.
func (h *host) idle(now time.Time, most time.Duration) bool {
	return h.claim == frontier.Claim{} && h.alone == "" && h.turns == 0 && h.spot.Line() == nil && !h.parked && h.fails == 0 && h.spent == Spent{} &&
		!now.Before(h.rested(most))
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// newLine makes a line of hosts.
func newLine(before func(a, b *host) bool) *line.Line[*host] {
	return line.New(before, func(h *host) *line.Spot[*host] { return &h.spot })
}
