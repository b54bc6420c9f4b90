package crawler

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"skink/crawler/wire"
)

// watch returns a context for the requests of a turn (the fetch of one URL). The context tells the
// schedule when a request was sent and when its response began.
//
// The DNS lookup, the connection setup and the TLS handshake can take longer than the host's delay.
// If the delay were measured from the beginning of the turn, the next request would follow at once
// on the same connection.
func (s *schedule) watch(ctx context.Context, t *turn) context.Context {
	ctx = context.WithValue(ctx, turnKey{}, &unusedTurn{host: t.host.name})
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) {
			s.mu.Lock()
			defer s.mu.Unlock()
			t.host.sent(t.number)
			t.send()
			s.offer(t.host)
			s.changed()
		},
		GotFirstResponseByte: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if t.host.heard(t.number) {
				s.offer(t.host)
				s.changed()
			}
		},
	})
}

type turnKey struct{}

// An unusedTurn says that the schedule has begun a turn for a host, and that no request of the turn
// has been made yet.
type unusedTurn struct {
	host string
	used atomic.Bool
}

// takesTurn reports whether a request to a host is the first one of its turn, and records it.
func takesTurn(ctx context.Context, host string) bool {
	t, ok := ctx.Value(turnKey{}).(*unusedTurn)
	return ok && t.host == host && !t.used.Swap(true)
}

// robotsBegin records that a request for robots.txt has started, so the next request to the host
// waits for its delay.
func (s *schedule) robotsBegin(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.askAside(s.host(name), time.Now())
}

func (s *schedule) robotsEnd(name string, answered bool, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.host(name)
	h.robots++
	if answered {
		h.gotRobots(took)
	}
	s.offer(h)
}

// hop waits until a host may get a request that the schedule has not planned, such as one for the
// target of a redirected robots.txt, and counts the request. It fails if it would have to wait for
// longer than Options.Timeout, or if ctx ends.
func (s *schedule) hop(ctx context.Context, name string) error {
	at, err := s.reserve(name)
	if err != nil {
		return err
	}
	if rest := time.Until(at); rest > 0 {
		return sleep(ctx, nil, rest)
	}
	return ctx.Err()
}

// reserve counts an unplanned request, and returns the time at which the request may start.
func (s *schedule) reserve(name string) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.host(name)
	at := latest(h.rested(), time.Now())
	if s.opt.Timeout > 0 && time.Until(at) > s.opt.Timeout {
		return at, &wire.TimeoutError{Limit: s.opt.Timeout} // do not occupy a connection for that long
	}
	s.askAside(h, at)
	return at, nil
}

// askAside counts an unplanned request that starts at the given time.
func (s *schedule) askAside(h *host, at time.Time) {
	h.ask(at)
	h.requests++
	h.robots++
	s.offer(h)
}
