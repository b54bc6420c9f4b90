package crawler

import "net/netip"

// # Many hosts at one address
//
// A machine may serve a thousand host names, and a separate delay for each name does not protect
// the machine. So Options.PerIP limits the requests in flight to one address as soon as two hosts
// are known to share it. If a host is due while its address is busy, it waits, and uses no
// connection in the meantime.
//
// A name may have several addresses. [wire.Transport.Lookup] returns the one that represents all of
// them. Loopback addresses have no limit, because they belong to this machine or to a test.

// An address is the state of one IP address and the hosts that share it. The schedule's mutex
// guards it.
type address struct {
	key     netip.Addr
	hosts   int
	open    int     // number of requests in flight
	waiting []*host // hosts that are due but must wait until a request to the address ends; longest wait first
	crowded bool    // many hosts share the address, so connections to it are closed after each response
}

// full reports whether the address has at least limit requests in flight. There is no limit if
// limit is 0, or if only one host has the address.
func (a *address) full(limit int) bool {
	return a != nil && limit > 0 && a.hosts > 1 && a.open >= limit
}

// locate records the IP address of a turn's host, unless it is already known. If the address has as
// many requests in flight as Options.PerIP allows, locate undoes the turn and returns false for ok,
// and the URL waits.
//
// If brief is true, the connection must be closed after the response, because otherwise each of the
// many hosts at the address would keep a connection open. The result newly is true for the first
// such turn at the address. The caller should then close idle connections too.
func (s *schedule) locate(t *turn, at netip.Addr, known bool) (brief, newly, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := t.host
	if known && !t.located {
		h.located = true
		if h.at == nil && at.IsValid() {
			s.setAddress(h, at)
		}
		if at.IsValid() && s.opt.PerIP > 0 && h.at.hosts > 1 && h.at.open > s.opt.PerIP {
			s.undo(t)
			return false, false, false
		}
	}
	if h.at == nil || h.at.hosts < 2 || h.at.hosts*s.opt.maxPerHost() <= s.opt.PerIP {
		return false, false, true
	}
	newly = !h.at.crowded
	h.at.crowded = true
	return true, newly, true
}

func (s *schedule) setAddress(h *host, at netip.Addr) {
	a := s.addresses[at]
	if a == nil {
		a = &address{key: at}
		s.addresses[at] = a
	}
	a.hosts++
	a.open += h.open
	h.at = a
}

// park makes a host wait until one of the requests to its address ends.
func (h *host) park() {
	h.spot.Leave()
	if !h.parked {
		h.parked = true
		h.at.waiting = append(h.at.waiting, h)
	}
}

// vacate records that a request to an address has ended. It then makes waiting hosts ready, in
// order of arrival, until one has URLs in memory. A host without URLs in memory may have none at
// all, and would leave the address idle.
func (s *schedule) vacate(a *address) {
	if a == nil {
		return
	}
	a.open--
	for len(a.waiting) > 0 && !a.full(s.opt.PerIP) {
		h := a.waiting[0]
		a.waiting = a.waiting[1:]
		if !h.parked {
			continue // the host no longer waits in this queue
		}
		s.offer(h)
		if h.spot.Queue() == s.ready[h.pace()] && len(h.urls) > 0 {
			break
		}
	}
}

func (s *schedule) forgetAddress(h *host) {
	if h.at == nil {
		return
	}
	h.at.hosts--
	if h.at.hosts == 0 {
		delete(s.addresses, h.at.key)
	}
}
