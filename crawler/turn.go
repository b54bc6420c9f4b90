package crawler

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"skink/frontier"
)

// A turn is the fetch of one URL of a host, from the decision to fetch it until its page is stored.
// The schedule's mutex guards the fields after began.
type turn struct {
	slot         // of the first request
	used    bool // whether a request has taken the slot
	item    frontier.Item
	claim   frontier.Claim // the claim on the host when the fetch began
	located bool           // whether the host's IP address was looked up before the fetch began
	pace    pace           // the host's pace when the fetch began
	began   time.Time

	answered bool // whether its request has ended
	arrived  bool // whether the page is waiting for a worker or being processed
	robots   int  // value of host.robots when the fetch began
}

// # The progress of a turn
//
//	begun ──▶ answered ──▶ ended
//
// next begins a turn. It is answered when fetched gets its page, and ended when done reports that
// the page has been stored. A turn of a folder on disk is answered only in done. locate and admit
// may undo a turn, which then ends as if it had not begun.

// begin begins a turn for the first of the host's URLs in memory.
func (s *schedule) begin(h *host, now time.Time) *turn {
	h.requests++
	t := &turn{slot: slot{host: h, number: h.requests}, item: h.urls[0], claim: h.claim, located: h.located, pace: h.pace(), began: now, robots: h.robots}
	h.urls, h.first = h.urls[1:], false
	h.turns++
	h.open++
	h.unsent++
	if h.at != nil {
		h.at.open++
	}
	s.capacity.begin(t.pace)
	s.offer(h)
	return t
}

// A permission says whether a URL may be fetched.
type permission struct {
	robotsAnswer
	refusal *Page // page that says why the URL must not be fetched; nil if it may be fetched
}

// admit reports whether a turn may continue with its permission. If it returns false, it has undone
// the turn, for one of two reasons: the claim on the host was lost, or a request for the host's
// robots.txt began or ended after the turn had begun. In the second case the delay counts from that
// request, so all turns that waited for the same robots.txt must wait for the delay.
func (s *schedule) admit(t *turn, p permission) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := t.host
	if p.used {
		if scheme, _, _ := strings.Cut(t.item.URL, "://"); h.told(scheme, p.delay) && len(s.demanding) < maxNamed {
			s.demanding[h.name] = p.delay
		}
		s.offer(h)
	}
	late := p.used && p.refusal == nil && h.delay > 0 && h.robots != t.robots
	if late {
		h.first = true
	}
	if late || t.claim != h.claim {
		s.undo(t)
		return false
	}
	return true
}

// fetched records the result of a turn. If fetched returns true, the URL must be tried again, and
// the caller puts it back into the frontier and calls done. Otherwise the caller passes the page to
// a worker. If ctx has ended, fetched returns its error, and the page must not be used, because the
// request may have been cut off. A brief page needs no worker.
//
// The next page of a host may be requested while a worker is processing this one. For a folder on
// disk, it is requested only after this one has been stored. So the pages of a folder are judged in
// the order of their links, and always get the same verdicts (if PerHost is 1).
func (s *schedule) fetched(ctx context.Context, a *arrival) (again bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := a.turn
	if a.asked {
		s.bytes += int64(len(a.page.Body))
		t.host.spend(a.page)
	}
	if err := cmp.Or(ctx.Err(), s.broken); err != nil {
		return false, err
	}
	switch {
	case a.page.Transient():
		giveUp := t.host.failed(a.page, t.began)
		s.free(t)
		if !giveUp && t.item.Kind != Probing {
			return true, nil
		}
	case a.puzzle: // whether the host has answered is known after rendering
		s.free(t)
	case !t.host.folder:
		s.answer(a)
	}
	if a.page.Brief = a.page.Confirmed() && !t.host.folder && s.capacity.connections > 1; !a.page.Brief {
		t.arrived = true
		s.capacity.arrived++
	}
	return false, nil
}

// refused records that the rendered page of a turn is a captcha. It reports whether the URL must be
// tried again, as fetched does.
func (s *schedule) refused(a *arrival) (again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := a.turn
	t.host.spot.Leave() // vacate must not find the host in a queue under an outdated key
	giveUp := t.host.failed(a.page, t.began)
	s.offer(t.host)
	return !giveUp && t.item.Kind != Probing
}

// An outcome describes what a handled page changes in the schedule.
type outcome struct {
	lost  bool     // the claim on the host was lost, so another worker may have claimed it
	alone string   // reason why the host must get no more requests; "" means that it may get more
	probe string   // URL to request next from the host, because the [Prober] needs the response; "" means none
	depth int      // depth of the URLs added to the frontier
	hosts []string // hosts of the URLs added to the frontier

	requisites []string // hosts of the requisites added to the frontier; hosts contains them too
}

func (s *schedule) done(a *arrival, o outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, h := a.turn, a.turn.host
	if !t.answered {
		s.answer(a)
	}
	h.spot.Leave() // leave the queue before the host's key in it changes
	h.alone = cmp.Or(h.alone, o.alone)
	switch {
	case t.claim != h.claim:
	case o.lost:
		s.letGo(h)
	case o.probe != "":
		h.urls = append([]frontier.Item{{URL: o.probe, Depth: t.item.Depth, Kind: Probing}}, h.urls...)
	}
	s.end(t)
	for _, name := range o.hosts {
		h := s.hosts[name]
		if h == nil || !h.held() {
			s.claims.stale = true
			continue
		}
		h.found(o.depth)
		if slices.Contains(o.requisites, name) {
			h.supply = urgent
		}
		s.offer(h)
	}
	s.changed()
}

// undo ends a fetch as if it had not begun. Its URL becomes the host's next URL again.
func (s *schedule) undo(t *turn) {
	if h := t.host; t.claim == h.claim {
		h.urls = append([]frontier.Item{t.item}, h.urls...)
	}
	s.free(t)
	s.end(t)
}

// answer ends the request of a successful fetch.
func (s *schedule) answer(a *arrival) {
	if a.asked {
		a.turn.host.well(a.page.Took)
	}
	s.free(a.turn)
}

// free records that a turn's request has ended, so the host may get another one.
func (s *schedule) free(t *turn) {
	h := t.host
	h.spot.Leave() // vacate must not find the host in a queue under an outdated key
	t.send()
	t.answered = true
	s.capacity.asking[t.pace]--
	h.open--
	s.vacate(h.at)
	s.offer(h)
	s.changed()
}

// end ends a fetch whose request has already ended.
func (s *schedule) end(t *turn) {
	if t.arrived {
		s.capacity.arrived--
	}
	s.capacity.begun--
	t.host.turns--
	s.claims.doubt(t.host)
	s.offer(t.host)
}
