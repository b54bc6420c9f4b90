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

// # Hosts that are left alone
//
// A host is left alone for the rest of a crawl if the [Leaver] says so, or if it answers that it is
// busy (429, 503, or a robots.txt with a status from 500) mostBusy times in a row and has answered
// nothing else in this crawl. Requests in flight together count as one, and the back-off between
// them is 31 seconds in all. So a server that is being restarted is waited for, and one that turns
// crawlers away costs half a minute. Its URLs stay pending for the next crawl.
const mostBusy = 6

// A Leaver is a [Handler] that may want a host to be left alone for the rest of the crawl.
type Leaver interface {
	// Leave says why the host of a page that was handled is to be left alone; "": it is not.
	Leave(host string) (why string)
}

// lookAgainPriority is that of URLs that are looked at again: after all others of their host. They
// are begun when nothing else of the host is under way, so that all that came before was handled.
const lookAgainPriority = 96

// ErrLookAgain is returned by a [Handler] that cannot make anything of a page before it has seen
// others of its host. The URL goes to the end of its host's queue.
var ErrLookAgain = errors.New("fetch the page again after the others of its host")

// lookAgain gives back the URL of a page that is to be fetched again.
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

// leave leaves the host of a turn alone if the handler wants that.
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

// abandon leaves a host alone. The caller holds mu.
func (s *schedule) abandon(h *host, why string) {
	h.alone = cmp.Or(h.alone, why)
	s.doubt(h)
	s.offer(h)
}

// tooBusy takes in a failure, and says why the host is to be left alone; "": it is not. counted says
// whether the failure is one more in a row.
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
	said := "robots.txt cannot be had"
	if page.Status != 0 {
		said = "status " + strconv.Itoa(page.Status)
	}
	return fmt.Sprintf("it answered nothing but that it is busy, %d times in a row (%s)", h.refused, said)
}

// A LeftHost is a host that was left alone.
type LeftHost struct{ Host, Why string }

// LeftAlone lists the hosts that were left alone, in order of their names.
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
