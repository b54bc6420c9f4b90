package crawler

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"skink/frontier"
)

// # When a host does not answer
//
// After a failure, the host gets no requests for a second. After further failures, the back-off is
// two seconds, four and so on, up to five minutes. Each back-off is made up to a quarter longer or
// shorter, so that hosts that failed together do not get their next requests together. A
// Retry-After header is obeyed, up to an hour. The crawl gives up on a URL after Options.Retries
// retries. But if the host cannot be reached at all (no such name, no connection, robots.txt not
// available), the URL is not the cause. So after the second such failure in a row, URLs wait until
// the host answers again. Otherwise the crawl would give up on one URL after another while a host
// is down for a minute.
//
// This wait has a limit. A host is hopeless if it never answered in this crawl and failed more than
// Options.Retries times in a row, or if it has failed for ten minutes. A hopeless host still gets
// requests after each back-off. The crawl gives up on each URL that then fails, so its problem is
// recorded. But the crawl does not wait for a hopeless host. It ends when only hopeless hosts are
// left, and their pending URLs stay pending for the next run. So a seed on a dead host is reported
// after three seconds, a long crawl loses no URLs when a server restarts, and a crawl that loses
// its own network ends without losing its frontier.
//
// # Hosts that get no more requests
//
// A host gets no more requests in a crawl if the [Leaver] decides so. A busy host answers with 429,
// 503, a captcha, or a robots.txt with a status of 500 or above. If the first maxBusy answers in a
// crawl say so, the host gets no more requests either. Requests that are in flight at the same time count as one,
// and the back-offs between the requests add up to 31 seconds. So the crawl waits long enough for a
// server to restart, and spends only half a minute on a server that rejects crawlers. The host's
// URLs stay pending for the next crawl.
//
// # The order after a failure
//
// A URL that failed is put behind the other URLs of its depth in the frontier, and behind the other
// URLs of its host in memory. So the next request to the host is for another URL. Its response
// shows whether the host has a problem, or only the first URL. Without this order, several URLs
// that always fail would be fetched in a row. Their failures would look like an outage, and the
// other URLs would have to wait until it is over.
//
// Some failures concern only one page: a status 500, or a URL that fails again although the host
// has answered in between. They do not count as failures of the host. The back-off after them is
// always the shortest one. The second case does not apply if the host answers that it is busy (429,
// 503), or cannot be reached.
//
// The back-off is not stored for the next run, because a user who starts the crawl again expects a
// request at once. The frontier stores only a wait that the host itself asked for.

const (
	firstBackOff  = time.Second
	longestOff    = 5 * time.Minute
	backOffDouble = 9    // number of doublings after which the back-off exceeds longestOff
	jitterShare   = 0.25 // maximum fraction by which a back-off is made longer or shorter
	longestRetry  = frontier.MaxBlocked
	maxBusy       = 6
	patience      = 10 * time.Minute // longer than a server takes to restart
)

// failed counts a transient problem of a request that started at began, and sets the host's
// back-off. It returns true if the URL must not be tried again.
func (s *standing) failed(page *Page, began time.Time) (giveUp bool) {
	now, before, asked := time.Now(), s.fails, retryAfter(page.Header, page.FetchedAt)
	if s.blameless(page) {
		s.well(page.Took)
	} else {
		s.fail(began, now)
	}
	s.until = frontier.Latest(s.until, now.Add(s.backOff()))
	s.heed(asked)
	s.alone = cmp.Or(s.alone, s.tooBusy(page, s.fails > before))
	if s.alone != "" && !s.hopeless {
		return false // the host gets no more requests in this crawl, so the URL stays pending
	}
	return s.hopeless || page.Item.Tries >= s.opt.Retries && !(unreachable(page) && s.fails > 1)
}

// fail counts a failure of a request that started at began. Failures of requests that were in
// flight together count as one.
func (s *standing) fail(began, now time.Time) {
	if s.fails == 0 {
		s.since = now
	}
	if s.fails == 0 || began.After(s.last) {
		s.fails++
		s.last = now
	}
	s.hopeless = s.beyondHope(now)
}

// beyondHope reports whether the crawl should no longer wait for the host: it has failed more than
// Options.Retries times in a row, and has either never answered in this crawl or failed for longer
// than patience.
func (s *standing) beyondHope(at time.Time) bool {
	return s.fails > s.opt.Retries && (!s.answered || at.Sub(s.since) > patience)
}

func (s *standing) backOff() time.Duration {
	off := min(firstBackOff<<min(max(s.fails-1, 0), backOffDouble), longestOff)
	return time.Duration(float64(off) * (1 + jitterShare*(2*s.opt.jitter()-1)))
}

// blameless reports whether a transient problem concerns only this page and not the host. It does
// if the status is 500, or if the host has answered other requests since the URL last failed.
func (s *standing) blameless(page *Page) bool {
	switch {
	case page.Status == http.StatusInternalServerError:
		return true
	case page.Problem == ProblemCaptcha, page.Status == http.StatusTooManyRequests, page.Status == http.StatusServiceUnavailable, unreachable(page):
		return false
	}
	return page.Item.Tries > 0 && s.answered && s.fails == 0
}

// tooBusy counts responses showing that the host is too busy. It returns the reason why the host
// must get no more requests, or "" if it may get more. If counted is false, the failure does not
// count, because another request was in flight with it.
func (s *standing) tooBusy(page *Page, counted bool) (why string) {
	busy := page.Problem == ProblemCaptcha || page.Status == http.StatusTooManyRequests || page.Status == http.StatusServiceUnavailable || page.Problem == ProblemUnrobots
	if page.Status != 0 && !busy {
		s.served = true
	}
	if !busy || s.served {
		return ""
	}
	if counted {
		s.refused++
	}
	if s.refused < maxBusy && !s.hopeless {
		return ""
	}
	said := "robots.txt could not be fetched"
	switch {
	case page.Problem == ProblemCaptcha:
		said = "captcha"
	case page.Status != 0:
		said = "status " + strconv.Itoa(page.Status)
	}
	return fmt.Sprintf("the server was too busy to respond to %d requests in a row (%s)", s.refused, said)
}

// unreachable reports whether a page has a problem that concerns all URLs of its host: the host
// cannot be reached, or its robots.txt cannot be fetched.
func unreachable(page *Page) bool {
	return page.Problem == ProblemDNS || page.Problem == ProblemConnect || page.Problem == ProblemUnrobots
}

// heed blocks the host for the pause that a response asks for.
func (s *standing) heed(asked time.Duration) {
	if asked > 0 {
		s.blocked = frontier.Latest(s.blocked, time.Now().Add(asked))
		s.until = frontier.Latest(s.until, s.blocked)
	}
}

// pause returns how long a response with an error status asks the crawler to wait, or 0.
func pause(status int, h http.Header) time.Duration {
	if status != http.StatusTooManyRequests && status < http.StatusInternalServerError {
		return 0
	}
	return retryAfter(h, time.Now())
}

// retryAfter returns the wait that a Retry-After header asks for, at most longestRetry, or 0 if
// there is no valid header. The header contains a number of seconds or a date. For a number that
// does not fit in 64 bits, ParseInt returns the largest int64 and an error.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseInt(v, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(max(s, 0), int64(longestRetry/time.Second))) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return min(max(t.Sub(now), 0), longestRetry)
	}
	return 0
}
