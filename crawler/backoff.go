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
// The host gets no requests for a second, then two, four and so on up to five minutes. Each
// back-off is up to a quarter longer or shorter, so that hosts that failed together do not come
// back together. A Retry-After of the host counts up to an hour. A URL is given up after
// Options.Retries further tries. But if the host cannot be reached at all (no such name, no
// connection, no robots.txt), the URL is not to blame. So from the second such failure in a row on,
// no URL is given up for its tries: it waits until the host is back. Otherwise a host that is down
// for a minute would lose one URL after the other.
//
// The wait has a limit. A host is hopeless if it never answered in this crawl and failed more than
// Options.Retries times in a row, or if it has failed for ten minutes. A hopeless host still gets
// requests after each back-off, and each URL that fails then is given up, so that its problem is on
// record. But the crawl does not wait for it: it ends when only hopeless hosts are left, and their
// pending URLs stay pending for the next run. So a seed on a dead host is reported after three
// seconds, a restart of a server during a long crawl costs nothing, and a crawl that loses its own
// network ends without losing its frontier.
//
// A host that only answers that it is busy is given up after a while, see leave.go.
//
// A URL that failed goes to the end of its level in the frontier, and comes last among the URLs of
// its host in memory. So the next request to the host is for another URL. Its answer shows whether
// the host has a problem or only the first URL. Without that order, several URLs that always fail
// would be fetched in a row. Their failures would look like an outage, and the URLs behind them
// would wait for its end.
//
// Some failures concern only one page. They do not count against its host, which rests as after a
// first failure. One is a status 500. Another is a URL that fails again although the host has
// answered since. The second does not apply if the host says that it is busy (429, 503) or cannot
// be reached.
//
// The back-off is not kept after the run, because a user who starts the crawl again expects a try
// at once. The frontier keeps only the rest that the host itself asked for.

const (
	firstBackOff  = time.Second
	longestOff    = 5 * time.Minute
	backOffDouble = 9    // doublings that exceed longestOff
	jitterShare   = 0.25 // largest part by which a back-off is longer or shorter
	longestRetry  = frontier.MostBlocked
	patience      = 10 * time.Minute // longer than a restart of a server
)

// trouble describes a host's failures in a row.
type trouble struct {
	answered bool      // it has answered a request in this crawl
	fails    int       // failures in a row; requests in flight together count as one
	since    time.Time // when the first of them ended
	last     time.Time // when the last of them ended
	hopeless bool
}

func (t *trouble) hopeful() bool { return !t.hopeless }

// fail counts a failure of a request that started at began.
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

// beyondHope reports whether the crawl should not wait for the host.
func (t *trouble) beyondHope(at time.Time, retries int) bool {
	return t.fails > retries && (!t.answered || at.Sub(t.since) > patience)
}

func (t *trouble) backOff() time.Duration {
	return min(firstBackOff<<min(max(t.fails-1, 0), backOffDouble), longestOff)
}

// failed ends the request of a turn that had a transient problem, and starts the back-off of its
// host. It reports whether to give up the URL.
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

// blameless reports whether a transient problem concerns only its page, not the host. A host
// without current failures has answered since any of its URLs failed.
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

// unreachable reports whether the problem is that the host cannot be reached, whatever the URL.
func unreachable(page *Page) bool {
	switch page.Problem {
	case ProblemDNS, ProblemConnect, ProblemUnrobots:
		return true
	}
	return false
}

// retryAfter returns the wait that a Retry-After header asks for, in seconds or as a date; 0 if it
// is absent or invalid. For a number beyond 64 bits, ParseInt returns the largest int64 with its
// error.
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
