package crawler

import "net/netip"

// # Many hosts at one address
//
// A machine may serve a thousand host names, and the delay of each name does not protect it. So
// Options.PerIP bounds the requests in flight to one address as soon as two hosts are known to
// share it. A host that is due while its address is busy waits for a place there. It holds no place
// on the network meanwhile.
//
// A name may have several addresses: [wire.Transport.Lookup] returns the one that represents them
// all. Loopback has no bound: it is this machine, or a test.

// An address is one IP address with the hosts that share it. The schedule's lock guards it.
type address struct {
	key     netip.Addr
	hosts   int     // hosts known to have this address
	open    int     // requests in flight to it
	waiting []*host // hosts that are due and wait for a place, in order of arrival
	crowded bool    // connections to its hosts are not kept open
}

// full reports whether most requests to an address are in flight.
func (a *address) full(most int) bool {
	return a != nil && most > 0 && a.hosts > 1 && a.open >= most
}

// crowded reports whether connections to a host must be closed after each answer, because otherwise
// each of the many hosts at its address would keep one open. newly reports that this is the first
// such call for the address: idle connections may exist already.
func (s *schedule) crowded(h *host) (crowded, newly bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.at == nil || h.at.hosts < 2 || h.at.hosts*s.opt.PerHost <= s.opt.PerIP {
		return false, false
	}
	newly = !h.at.crowded
	h.at.crowded = true
	return true, newly
}

// locate sets the address of a turn's host, and reports whether the turn may go on. If not, it has
// undone the turn, and the URL waits for a place.
func (s *schedule) locate(t *turn, at netip.Addr) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := t.host
	h.located = true
	if !at.IsValid() {
		return true
	}
	if h.at == nil {
		s.settle(h, at)
	}
	if s.opt.PerIP > 0 && h.at.hosts > 1 && h.at.open > s.opt.PerIP {
		s.undo(t)
		return false
	}
	return true
}

// settle sets the address of a host.
func (s *schedule) settle(h *host, at netip.Addr) {
	a := s.addresses[at]
	if a == nil {
		a = &address{key: at}
		s.addresses[at] = a
	}
	a.hosts++
	a.open += h.open
	h.at = a
}

// park puts a host into the queue for a place at its address.
func (s *schedule) park(h *host) {
	h.spot.Leave()
	if !h.parked {
		h.parked = true
		s.parked++
		h.at.waiting = append(h.at.waiting, h)
	}
}

// vacate frees the place of a request and lets the host that has waited longest be asked. A host
// without URLs in memory may turn out to have none, so vacate lets the next host through as well.
func (s *schedule) vacate(a *address) {
	if a == nil {
		return
	}
	a.open--
	for len(a.waiting) > 0 && !a.full(s.opt.PerIP) {
		h := a.waiting[0]
		a.waiting = a.waiting[1:]
		if !h.parked {
			continue // it is no longer waiting
		}
		s.offer(h)
		if h.spot.Queue() == s.ready[h.pace()] && len(h.urls) > 0 {
			break
		}
	}
}

// leaveAddress removes a host from its address.
func (s *schedule) leaveAddress(h *host) {
	if h.at == nil {
		return
	}
	h.at.hosts--
	if h.at.hosts == 0 {
		delete(s.addresses, h.at.key)
	}
}
