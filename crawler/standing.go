package crawler

import (
	"cmp"
	"time"

	"skink/frontier"
)

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
	smoothing     = 4 // the latest answer counts for a quarter of the smoothed time, and those before for the rest
	mostOnTheWay  = 25 * time.Millisecond
	restOnTheWay  = 8 // the part of a rest
)

// A standing holds how a host has behaved in this crawl: how long to wait between two requests,
// whether it answers, and how much was fetched from it. When the host is returned to the frontier,
// most of this is passed on. The schedule's mutex guards it.
type standing struct {
	opt    *Options
	rules  hostRules // what the user chose for the host
	folder bool      // the host is a folder on disk, which needs no delay

	// The rest.
	delay      time.Duration // least time between the starts of two requests, set by the user or robots.txt
	crawlDelay time.Duration // delay that a robots.txt asks for, at most MaxDelay
	teller     string        // origin of the robots.txt that set crawlDelay; "": unknown
	took       time.Duration // time that an answer with a page takes, smoothed over several
	robotsTook time.Duration // time of the first answer to a request for robots.txt
	asked      time.Time     // when the last request arrived at the host, or began if it was not sent yet
	awaited    int           // number of the last request while its answer has not begun, so that asked is an estimate; 0: none
	until      time.Time     // no requests before this time
	blocked    time.Time     // no requests before this time, because the host itself asked for it

	// Its failures, see backoff.go.
	answered bool      // it has answered a request in this crawl
	served   bool      // it has given an answer that does not say that it is busy
	fails    int       // failures in a row; requests in flight together count as one
	since    time.Time // when the first of them ended
	last     time.Time // when the last of them ended
	hopeless bool      // the crawl ends without waiting for this host
	refused  int       // number of answers that say that the host is busy; requests in flight together count once

	spent Spent  // what this crawl fetched from it, counted only if there is a budget
	alone string // why this crawl sends it no more requests; "": it gets requests
}

func newStanding(opt *Options, host string) standing {
	rules := opt.rulesOf(host)
	s := standing{opt: opt, rules: rules, delay: rules.delay}
	if opt.isFolder(host) {
		s.folder, s.delay = true, 0
	}
	return s
}

// inherit takes over what the worker that held the host before has recorded of it.
func (s *standing) inherit(r frontier.Rest) {
	s.blocked = r.Blocked
	s.until = latest(s.until, r.Due())
	if r.Delay > 0 {
		s.setCrawlDelay(s.bounded(r.Delay))
	}
	if r.Took > 0 {
		s.took = r.Took
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

// pass returns what the next holder of the host must know to be polite.
func (s *standing) pass() frontier.Rest {
	return frontier.Rest{
		Next: s.rested(), Idle: s.hopeless, Blocked: s.blocked, Delay: s.crawlDelay, Took: s.took, Spent: s.spent,
		Trouble: frontier.Trouble{Answered: s.answered, Fails: s.fails, Since: s.since, Last: s.last},
	}
}

// rest returns the time between the starts of two requests.
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

// rested returns the time at which the host may get its next request.
func (s *standing) rested() time.Time { return latest(s.until, s.asked.Add(s.rest())) }

// ask sets the time of the host's last request. If the answer to an earlier request begins later,
// that does not change the time any more.
func (s *standing) ask(at time.Time) { s.asked, s.awaited = at, 0 }

// sent records that the request with the given number was sent, and estimates when it arrives at
// the host.
func (s *standing) sent(number int) {
	s.asked, s.awaited = time.Now().Add(min(s.rest()/restOnTheWay, mostOnTheWay)), number
}

// heard records that the answer to the request with the given number begins, so that the request
// must have arrived. It returns true if that is earlier than sent had estimated.
func (s *standing) heard(number int) (sooner bool) {
	now := time.Now()
	if s.awaited != number || s.asked.Before(now) {
		return false
	}
	s.ask(now)
	return true
}

// told records the delay that the robots.txt of an origin asks for. A host can have two such files,
// for http and for https. The longer delay counts, and only the file that set it can reduce it. told
// reports whether the host asks for more than MaxDelay.
func (s *standing) told(origin string, delay time.Duration) (tooLong bool) {
	d := s.bounded(delay)
	if d >= s.crawlDelay || s.teller == origin || s.teller == "" {
		s.teller = origin
		s.setCrawlDelay(d)
	}
	return d < delay && !s.folder
}

// setCrawlDelay sets the delay that robots.txt asks for. A folder has no delay: the Crawl-delay in a
// copy of a site is for crawlers of the site.
func (s *standing) setCrawlDelay(d time.Duration) {
	if !s.folder {
		s.crawlDelay, s.delay = d, max(d, s.rules.delay)
	}
}

// bounded returns a delay that a host asks for, at most MaxDelay.
func (s *standing) bounded(asked time.Duration) time.Duration {
	if s.opt.MaxDelay > 0 {
		return min(asked, s.opt.MaxDelay)
	}
	return asked
}

// well records that the host answered, and how long that took.
func (s *standing) well(took time.Duration) {
	s.answered, s.served = true, true
	s.fails, s.since, s.last, s.hopeless = 0, time.Time{}, time.Time{}, false
	if s.took == 0 {
		s.took = took
		return
	}
	s.took += (took - s.took) / smoothing
}

// gotRobots records that a request for robots.txt was answered.
func (s *standing) gotRobots(took time.Duration) {
	if !s.answered {
		s.answered, s.robotsTook = true, took
	}
}

// pace returns how soon the host is expected to answer.
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

// atOnce returns how many requests the host may have at once.
func (s *standing) atOnce() int {
	if !s.answered || s.fails > 0 {
		return 1
	}
	return s.rules.perHost
}

// spend counts an answer against the budget of the host.
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

// affords reports whether the budget of the host allows another request when open requests are in
// flight.
func (s *standing) affords(open int) bool { return s.rules.budget.allows(s.spent, open) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
