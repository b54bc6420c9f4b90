package crawler

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"skink/frontier"
)

// # When a host does not answer
//
// It is left alone for a second, then two, four and so on to five minutes, each up to a quarter
// more or less, so that hosts that failed together do not come back together; a Retry-After of the
// host counts up to an hour. A URL that was tried Options.Retries times more is given up. But where
// nobody answers at all (no such name, no connection, no robots.txt) the URL is not to blame. So
// from the second such failure in a row on, no URL is given up for its tries: it waits until the
// host is back. Else a host that is down for a minute would cost one URL after the other.
//
// It does not wait for ever. A host is hopeless if it never answered in this crawl and failed more
// often in a row than Options.Retries, or if it has failed for ten minutes. A hopeless host is
// still asked, at the pace of its back-off, and each URL that fails then is given up, so that the
// reason is on record. But nobody waits for it: a crawl ends when only hopeless hosts are left, and
// what they have pending is still pending when the crawl is resumed. So a seed on a dead host is
// reported after three seconds, a restart of a server in a long crawl costs nothing, and a crawl
// whose own network is gone ends without losing its frontier.
//
// A host whose answers only say that it is busy is left alone after a while, see leave.go.
//
// A URL that failed goes to the end of its level in the frontier, and comes last among the URLs of
// its host that are in hand. So the next request to the host is for another URL. Its answer tells
// whether the host is in trouble or only the first URL. Otherwise several URLs that always fail
// would be fetched in a row. Their failures would look like an outage, and the URLs behind them in
// the queue would wait for its end.
//
// Some failures are the trouble of one page. They do not count against its host, which rests as
// after its first failure. One of them is a status 500. Another is a URL that fails again although
// the host has answered since. That does not hold if the host says that it is busy (429, 503), or if
// nobody answers.
//
// A back-off of ours ends with the run, for whoever starts the crawl again wants to know now. The
// frontier remembers the rest that the host itself asked for.

const (
	firstBackOff  = time.Second
	longestOff    = 5 * time.Minute
	backOffDouble = 9    // doublings until longestOff is passed
	jitterShare   = 0.25 // of a back-off, at most, that it is longer or shorter
	longestRetry  = frontier.MostBlocked
	patience      = 10 * time.Minute // longer than a restart, shorter than anyone wants to watch a crawl do nothing
)

// trouble is what a host's failures in a row amount to.
type trouble struct {
	answered bool      // something, in this crawl
	fails    int       // in a row; those in flight together are one
	since    time.Time // when the first of them ended
	last     time.Time // when the last of them ended
	hopeless bool
}

func (t *trouble) hopeful() bool { return !t.hopeless }

// fail counts a failure that began at a time and ends now.
func (t *trouble) fail(began, now time.Time, retries int) {
	if t.fails == 0 {
		t.since = now
	}
	if t.fails == 0 || began.After(t.last) {
		t.fails++
		t.last = now
	}
	t.hopeless = t.beyondHope(now, retries)
}

// beyondHope says whether nobody need wait for the host.
func (t *trouble) beyondHope(at time.Time, retries int) bool {
	return t.fails > retries && (!t.answered || at.Sub(t.since) > patience)
}

func (t *trouble) backOff() time.Duration {
	return min(firstBackOff<<min(max(t.fails-1, 0), backOffDouble), longestOff)
}

// failed ends the request of a turn that came to a transient problem, and leaves its host alone for
// a while. It says whether to give up the URL.
func (s *schedule) failed(t *turn, page *Page) (giveUp bool) {
	asked := retryAfter(page.Header, page.FetchedAt)
	s.mu.Lock()
	defer s.mu.Unlock()
	h, now, fails := t.host, time.Now(), t.host.fails
	if h.blameless(page) {
		h.well(page.Took)
	} else {
		h.fail(t.began, now, s.opt.Retries)
	}
	h.until = latest(h.until, now.Add(max(s.jittered(h.backOff()), asked)))
	if asked > 0 {
		h.blocked = latest(h.blocked, now.Add(asked))
	}
	if why := h.tooBusy(page, h.fails > fails); why != "" {
		s.abandon(h, why)
	}
	s.free(t)
	if h.alone != "" && !h.hopeless {
		return false // the URL is not to blame
	}
	return h.hopeless || t.item.Tries >= s.opt.Retries && !(unreachable(page) && h.fails > 1)
}

// blameless says whether a transient problem is the trouble of its page, and not of the host. A
// host without failures has answered since any of its URLs failed.
func (h *host) blameless(page *Page) bool {
	switch {
	case page.Status == http.StatusInternalServerError:
		return true
	case page.Status == http.StatusTooManyRequests, page.Status == http.StatusServiceUnavailable, unreachable(page):
		return false
	}
	return page.Item.Tries > 0 && h.answered && h.fails == 0
}

func (s *schedule) jittered(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (1 + jitterShare*(2*s.jitter()-1)))
}

// unreachable says whether a problem is that nobody answers, whatever the URL.
func unreachable(page *Page) bool {
	switch page.Problem {
	case ProblemDNS, ProblemConnect, ProblemUnrobots:
		return true
	}
	return false
}

// retryAfter is how long a server asks to be left alone, as seconds or as a date. A number beyond
// 64 bits is the largest there is, which ParseInt returns with its error.
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
