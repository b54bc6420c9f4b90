package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// # Hosts that get no more requests
//
// A host gets no more requests in a crawl if the [Leaver] says so, or if it answers that it is busy
// (429, 503, or a robots.txt with a status from 500) mostBusy times in a row and has given no other
// answer in this crawl. Requests in flight together count as one, and the back-offs between them
// add up to 31 seconds. So the crawl waits for a server that restarts, and spends half a minute on
// one that rejects crawlers. The host's URLs stay pending for the next crawl.
const mostBusy = 6

// A Leaver is a [Handler] that can end the crawl of a host.
type Leaver interface {
	// Leave is called after each handled page of the host. It returns why the host must get no more
	// requests, or "" if it may.
	Leave(host string) (why string)
}

// lookAgainPriority is the priority of URLs that are fetched again: after all others of their host.
// They begin when no other turn of the host is under way, so that all earlier pages are handled by
// then.
const lookAgainPriority = 96

// ErrLookAgain is returned by a [Handler] that must see other pages of the host before this one.
// The URL goes to the end of its host's queue and is fetched again.
var ErrLookAgain = errors.New("fetch the page again after the others of its host")

// lookAgain puts the URL of a page that must be fetched again back into the frontier.
func (c *Crawl) lookAgain(ctx context.Context, a *arrival) error {
	if c.opt.OnAnswer != nil && a.page.Raw != nil {
		c.opt.OnAnswer(a.page.Raw)
	}
	item := a.turn.item
	item.Priority = lookAgainPriority
	if err := c.front.Release(ctx, a.turn.claim, item); err != nil {
		return fmt.Errorf("release %s: %w", item.URL, err)
	}
	return nil
}

// leave stops the crawl of a turn's host if the handler wants that.
func (c *Crawl) leave(t *turn) {
	l, ok := c.handler.(Leaver)
	if !ok {
		return
	}
	if why := l.Leave(t.host.name); why != "" {
		c.schedule.leaveAlone(t.host, why)
	}
}

func (s *schedule) leaveAlone(h *host, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.abandon(h, why)
	s.changed()
}

// abandon stops the crawl of a host. The caller holds mu.
func (s *schedule) abandon(h *host, why string) {
	h.alone = cmp.Or(h.alone, why)
	s.doubt(h)
	s.offer(h)
}

// tooBusy counts a failure. It returns why the host must get no more requests, or "" if it may.
// counted says whether the failure increases the number of failures in a row.
func (h *host) tooBusy(page *Page, counted bool) (why string) {
	busy := page.Status == http.StatusTooManyRequests || page.Status == http.StatusServiceUnavailable || page.Problem == ProblemUnrobots
	if page.Status != 0 && !busy {
		h.served = true
	}
	if !busy || h.served {
		return ""
	}
	if counted {
		h.refused++
	}
	if h.refused < mostBusy && !h.hopeless {
		return ""
	}
	said := "robots.txt could not be fetched"
	if page.Status != 0 {
		said = "status " + strconv.Itoa(page.Status)
	}
	return fmt.Sprintf("it was too busy to answer %d times in a row (%s)", h.refused, said)
}

// A LeftHost is a host that this crawl stopped asking.
type LeftHost struct{ Host, Why string }

// LeftAlone returns the hosts that this crawl stopped asking, sorted by name.
func (c *Crawl) LeftAlone() []LeftHost {
	s := c.schedule
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []LeftHost
	for _, h := range s.hosts {
		if h.alone != "" {
			all = append(all, LeftHost{h.name, h.alone})
		}
	}
	slices.SortFunc(all, func(a, b LeftHost) int { return cmp.Compare(a.Host, b.Host) })
	return all
}
