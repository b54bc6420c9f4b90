package crawler

import (
	"cmp"
	"math"
	"time"

	"skink/frontier"
)

// # The time between two requests to a host
//
// This time, called rest in the code, is at least the delay that the user sets, and at least the
// delay that robots.txt asks for. A server that answers slowly may be overloaded. So the time is
// also at least restPerAnswer times the duration of the host's responses, smoothed over the last
// few. (Heritrix waits five times as long as a response took, and Scrapy's AutoThrottle as long as
// it took.) Options.MaxDelay limits the delays that robots.txt and slow responses cause. If the
// user sets a delay of zero, for their own server, the crawl does not wait.
//
// The time counts from the moment the last request has certainly arrived at the server. If that
// request is delayed on its way and the next one is not, the server sees them closer together than
// they were sent. On a busy network or machine, the difference is tens of milliseconds. A request
// has arrived when its response begins. But a slow response must not slow the crawl down. So a
// request counts as arrived after maxOnTheWay, or after 1/restOnTheWay of the rest if that is
// shorter, even if its response has not begun.
const (
	restPerAnswer = 2
	smoothing     = 4 // the latest response contributes a quarter of the smoothed time
	maxOnTheWay   = 25 * time.Millisecond
	restOnTheWay  = 8
)

// A standing records how a host has behaved in this crawl: the time to wait between two requests,
// whether the host answers, and the amount of data fetched from it. When the host is returned to
// the frontier, most of this is stored for the next worker. The schedule's mutex guards a standing.
type standing struct {
	opt       *Options
	rules     hostRules
	ordered   bool // the delay is an order, which may change at any time
	preferred bool // by order, the URLs of the host are fetched first
	folder    bool // the host is a folder on disk, which needs no delay

	// These fields determine the time of the next request.
	delay      time.Duration // minimum time between the starts of two requests, set by the user or robots.txt
	crawlDelay time.Duration // delay requested by a robots.txt, at most MaxDelay
	teller     string        // scheme of the URL of the robots.txt that set crawlDelay; "" means unknown
	took       time.Duration // response time for pages, smoothed over several responses
	robotsTook time.Duration // duration of the first answered request for robots.txt
	asked      time.Time     // when the last request arrived at the host, or began if it has not been sent yet
	awaited    int           // number of the last request while its response has not begun and asked is only an estimate; 0 otherwise
	until      time.Time     // no requests before this time
	blocked    time.Time     // no requests before this time, because the host's robots.txt or a response asked for a pause

	// These fields describe the host's failures; see backoff.go.
	answered bool      // the host has answered a request in this crawl
	served   bool      // the host has sent a response other than "busy"
	fails    int       // number of consecutive failures; requests in flight together count as one
	since    time.Time // time of the first of these failures
	last     time.Time // time of the last of these failures
	hopeless bool      // the crawl ends without waiting for this host
	refused  int       // number of "busy" responses; requests in flight together count as one

	spent Spent  // number of pages and bytes fetched from the host; counted only if there is a budget
	alone string // reason why this crawl sends the host no more requests; "" if it gets requests
}

func newStanding(opt *Options, host string) standing {
	s := standing{opt: opt}
	s.look(host)
	s.delay = s.rules.delay
	if opt.isFolder(host) {
		s.folder, s.delay = true, 0
	}
	return s
}

func (s *standing) inherit(r frontier.Rest) {
	s.blocked = r.Blocked
	s.until = frontier.Latest(s.until, r.Due())
	if r.Delay > 0 {
		s.setCrawlDelay(s.bounded(r.Delay))
	}
	if r.Took > 0 {
		s.took = r.Took
	}
	if least, most := s.delays(); least > 0 {
		s.until = frontier.Latest(s.until, r.Last.At.Add(max(least, min(r.Last.Delay, most))))
	}
	if t := r.Trouble; t != (frontier.Trouble{}) {
		s.answered, s.fails, s.since, s.last = t.Answered, t.Fails, t.Since, t.Last
		s.hopeless = s.beyondHope(t.Last)
	}
	s.spent = Spent{
		Pages:      max(s.spent.Pages, r.Spent.Pages),
		Bytes:      max(s.spent.Bytes, r.Spent.Bytes),
		Requisites: max(s.spent.Requisites, r.Spent.Requisites),
	}
}

// pass returns the state that the next worker needs to be as polite as this one.
func (s *standing) pass() frontier.Rest {
	next := s.rested()
	if s.ordered && s.fails == 0 { // the next worker may have a shorter delay; it waits from the last request
		next = s.blocked
	}
	return frontier.Rest{
		Next: next, Idle: s.hopeless, Blocked: s.blocked, Delay: s.crawlDelay, Took: s.took, Spent: s.spent,
		Trouble: frontier.Trouble{Answered: s.answered, Fails: s.fails, Since: s.since, Last: s.last},
	}
}

func (s *standing) rest() time.Duration {
	if s.delay == 0 || s.folder {
		return 0
	}
	rest, most := max(s.delay, restPerAnswer*s.took), s.opt.MaxDelay
	if most > 0 && rest > most {
		rest = max(most, s.delay)
	}
	return rest
}

// delays returns the smallest and largest delay after a request by another worker or an earlier
// run; see [frontier.Frontier].Slot. Before a robots.txt has been read, the host may have asked for
// a longer delay.
func (s *standing) delays() (least, most time.Duration) {
	switch {
	case s.folder, s.delay == 0, s.teller != "":
		return s.delay, s.delay + maxOnTheWay
	case s.opt.MaxDelay == 0:
		return s.delay, math.MaxInt64
	}
	return s.delay, max(s.delay, s.opt.MaxDelay)
}

// rested returns the time at which the host may get its next request.
func (s *standing) rested() time.Time { return frontier.Latest(s.until, s.asked.Add(s.rest())) }

// ask sets the time of the host's last request. After that, the start of a response to an earlier
// request does not change this time.
func (s *standing) ask(at time.Time) { s.asked, s.awaited = at, 0 }

// sent records that the request with this number was sent, and estimates when it will arrive at the
// host.
func (s *standing) sent(number int) {
	s.asked, s.awaited = time.Now().Add(min(s.rest()/restOnTheWay, maxOnTheWay)), number
}

// heard records that the response to the request with this number has begun, so the request must
// have arrived. It returns true if the request arrived earlier than sent estimated.
func (s *standing) heard(number int) (sooner bool) {
	now := time.Now()
	if s.awaited != number || s.asked.Before(now) {
		return false
	}
	s.ask(now)
	return true
}

// told records the delay requested by one of the host's robots.txt files. A host can have two, one
// for http and one for https; origin is the scheme. The longer delay counts, and only the file that
// set it can reduce it. It returns true if the file asks for more than MaxDelay.
func (s *standing) told(origin string, delay time.Duration) (tooLong bool) {
	d := s.bounded(delay)
	if d >= s.crawlDelay || s.teller == origin || s.teller == "" {
		s.teller = origin
		s.setCrawlDelay(d)
	}
	return d < delay && !s.folder
}

// setCrawlDelay sets the delay that robots.txt asks for. A folder has no delay, because the
// Crawl-delay in a copy of a site is meant for crawlers of the site.
func (s *standing) setCrawlDelay(d time.Duration) {
	if !s.folder {
		s.crawlDelay, s.delay = d, max(d, s.rules.delay)
	}
}

// bounded limits a requested delay to MaxDelay.
func (s *standing) bounded(delay time.Duration) time.Duration {
	if s.opt.MaxDelay > 0 {
		return min(delay, s.opt.MaxDelay)
	}
	return delay
}

// well records that the host answered a request, and the duration of the request.
func (s *standing) well(took time.Duration) {
	s.answered, s.served = true, true
	s.fails, s.since, s.last, s.hopeless = 0, time.Time{}, time.Time{}, false
	if s.took == 0 {
		s.took = took
		return
	}
	s.took += (took - s.took) / smoothing
}

func (s *standing) gotRobots(took time.Duration) {
	if !s.answered {
		s.answered, s.robotsTook = true, took
	}
}

func (s *standing) pace() pace {
	switch {
	case s.fails > 0:
		return failing
	case s.folder:
		return quick
	case !s.answered, cmp.Or(s.took, s.robotsTook) > slowAnswer:
		return slow
	}
	return quick
}

func (s *standing) atOnce() int {
	if !s.answered || s.fails > 0 {
		return 1
	}
	return s.rules.perHost
}

func (s *standing) spend(p *Page) {
	if s.rules.budget == (Budget{}) {
		return
	}
	if p.Item.Kind == frontier.Requisite {
		s.spent.Requisites += int64(len(p.Body))
		return
	}
	if p.Problem == "" && p.Location == "" {
		s.spent.Pages++
	}
	s.spent.Bytes += int64(len(p.Body))
}

// affords reports whether the host's budget allows another request. The argument open is the
// number of requests in flight.
func (s *standing) affords(open int) bool { return s.rules.budget.allows(s.spent, open) }
