package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http/httptrace"
	"strings"
	"time"

	"skink/crawler/wire"
	"skink/frontier"
)

// # One gate for the time of a request
//
// Every request to a host takes a slot of that host, whatever its purpose. The slot says when the
// request may be sent. Most requests are the first one of a turn (the fetch of one URL), which the
// schedule begins when the host is due. A turn has one slot. All other requests are asides, such as
// the second request of a check, or a file of a rendered page. An aside waits until the host is
// due.
//
// The DNS lookup, the connection setup and the TLS handshake can take longer than the host's delay.
// If the delay were measured from the beginning of the turn, the next request would follow at once
// on the same connection. So the delay counts from the time at which the request was sent, and no
// other request to the host begins before that time.
//
// Each slot is also reserved in the frontier ([frontier.Frontier].Slot). So the delay holds between
// workers that send requests to the same host, and between a run that was killed and the next one.
// A request may be sent later than the reserved time. So the wait is maxOnTheWay longer before and
// after a request by a worker that has not claimed the host.

// A budget of requests is spread over its period, so that of a host is a longer delay. That of the whole crawl
// has a slot of its own, which a request takes before the slot of its host.

// everyHost is the name of the slot of the whole crawl.
const everyHost = "*"

// A slot is the permission for one request to a host. The schedule's mutex guards it.
type slot struct {
	host   *host
	number int  // number of the request among the requests to the host, counted from 1; 0 while an aside waits
	aside  bool // whether the request is not the first one of a turn
	gone   bool // whether the request was sent, or will not be
}

// turnKey is the key of the turn in the context of its requests.
type turnKey struct{}

// slot waits until the host of an ask may get the request. The request must be made with the
// returned context. Call leave with the exchange when the request has ended. slot fails
// if the host is not due within Options.Timeout, or if ctx ends.
func (s *schedule) slot(ctx context.Context, a *ask) (_ context.Context, leave func(*wire.Exchange), err error) {
	if s == nil {
		return ctx, func(*wire.Exchange) {}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.host(frontier.HostOf(a.url))
	t, inTurn := ctx.Value(turnKey{}).(*turn)
	x := &slot{host: h, aside: true, gone: true}
	switch {
	case h.folder:
		h.ask(time.Now())
		return ctx, func(*wire.Exchange) {}, nil // a folder needs no delay
	case inTurn && t.host == h && !t.used:
		t.used, x = true, &t.slot
		h.ask(time.Now())
	case a.purpose == forPart && !h.rules.budget.allows(Spent{Bytes: h.spent.Bytes}, -1):
		return nil, nil, refusal("budget: the host has sent all bytes that --max-host-bytes allows")
	default:
		h.asides++
		s.offer(h)
		err = s.await(ctx, x, a)
	}
	if a.purpose == forRobots {
		h.robots++
	}
	if err == nil {
		err = s.reserve(ctx, h)
	}
	if err != nil {
		s.leave(x, a, &wire.Exchange{})
		return nil, nil, err
	}
	return s.watch(ctx, x), func(got *wire.Exchange) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.leave(x, a, got)
	}, nil
}

// await waits until an aside may begin, and counts it. A request for robots.txt or a login does not
// wait until the host's last request is sent, because a turn may have to wait for its response.
func (s *schedule) await(ctx context.Context, x *slot, a *ask) error {
	h := x.host
	if a.purpose == forPart {
		scheme, _, _ := strings.Cut(a.url, "://")
		h.told(scheme, a.delay)
	}
	for {
		rest := time.Until(h.rested())
		switch {
		case a.purpose == forPart && h.open+h.asidesOpen >= h.atOnce(), a.purpose != forRobots && a.purpose != forLogin && h.unsent > 0 && h.delay > 0:
			rest = 0 // wait for the other request
		case rest <= 0:
			h.asidesOpen++
			h.requests++
			h.unsent++
			h.ask(time.Now())
			x.number, x.gone = h.requests, false
			s.offer(h)
			return nil
		case s.opt.Timeout > 0 && rest > s.opt.Timeout:
			return &wire.TimeoutError{Limit: s.opt.Timeout} // do not occupy a connection for that long
		}
		wake := s.wake
		s.mu.Unlock()
		err := sleep(ctx, wake, rest)
		s.mu.Lock()
		if err != nil {
			return context.Cause(ctx)
		}
	}
}

// reserve reserves the time of a request to a host in the frontier, and waits until that time.
func (s *schedule) reserve(ctx context.Context, h *host) error {
	if err := s.spend(ctx, h); err != nil {
		return err
	}
	if every := s.opt.Rate.Every(); every > 0 {
		for wait := time.Until(s.total); wait > 0; wait = time.Until(s.total) { // one request after another, so few slots are reserved ahead
			if err := s.pause(ctx, wait); err != nil {
				return err
			}
		}
		s.total = time.Now().Add(every)
		wait, err := s.book(ctx, everyHost, every, every)
		s.total = time.Now().Add(wait + every)
		s.sent++
		if err = cmp.Or(err, s.pause(ctx, wait)); err != nil {
			return err
		}
	}
	least, most := h.delays()
	if least == 0 {
		return nil
	}
	if !h.held() {
		least += maxOnTheWay
	}
	wait, err := s.book(ctx, h.name, least, most)
	return cmp.Or(err, s.pause(ctx, wait))
}

// book reserves the next slot with a name in the frontier, and returns how long to wait until then.
func (s *schedule) book(ctx context.Context, name string, least, most time.Duration) (time.Duration, error) {
	s.mu.Unlock()
	wait, err := s.front.Slot(ctx, name, least, most)
	s.mu.Lock()
	if err == nil || ctx.Err() != nil {
		return wait, ctx.Err()
	}
	s.broken = fmt.Errorf("reserve a request to host %s: %w", name, err)
	return 0, s.broken
}

func (s *schedule) pause(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return ctx.Err()
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	return sleep(ctx, nil, wait)
}

// spend records in the frontier what was fetched from a host that has a budget, so that the budget
// also holds if this worker dies. Pages in flight count as fetched. If the claim on the host has
// ended, spend does nothing.
func (s *schedule) spend(ctx context.Context, h *host) error {
	if !h.held() || h.rules.budget == (Budget{}) {
		return nil
	}
	claim, spent := h.claim, h.spent
	spent.Pages += int64(h.open)
	s.mu.Unlock()
	err := s.front.Spend(ctx, claim, spent)
	s.mu.Lock()
	if err == nil || errors.Is(err, frontier.ErrLost) || ctx.Err() != nil {
		return ctx.Err()
	}
	s.broken = err
	return err
}

// watch returns a context that tells the schedule when the request of a slot was sent and when its
// response began.
func (s *schedule) watch(ctx context.Context, x *slot) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) {
			s.mu.Lock()
			defer s.mu.Unlock()
			x.host.sent(x.number)
			x.send()
			s.moved(x.host)
		},
		GotFirstResponseByte: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if x.host.heard(x.number) {
				s.moved(x.host)
			}
		},
	})
}

// send records that the request of a slot was sent, or that the slot has ended without one.
func (x *slot) send() {
	if !x.gone {
		x.gone = true
		x.host.unsent--
	}
}

// leave ends a slot. If the response asks for a pause, the host gets it, whatever was requested.
func (s *schedule) leave(x *slot, a *ask, got *wire.Exchange) {
	h, bytes := x.host, len(got.Body)
	h.heed(pause(got.Status, got.Header))
	x.send()
	if x.aside {
		h.asides--
	}
	if x.aside && x.number > 0 {
		h.asidesOpen--
	}
	switch a.purpose {
	case forRobots:
		h.robots++
	case forPart:
		s.bytes += int64(bytes)
		if h.rules.budget != (Budget{}) {
			h.spent.Bytes += int64(bytes)
		}
	}
	s.moved(h)
}
