package crawler

import "net/netip"

// # Many hosts at one address
//
// A machine that serves a thousand names is one machine. The delay of each name does not spare it,
// so the requests in flight to one address are bounded by Options.PerIP as soon as two hosts are
// known to be there. A host whose turn comes while its address is busy waits for a place there, and
// takes no place on the network.
//
// A name may lead to several addresses: [wire.Transport.Lookup] says which of them stands for all.
// Loopback has no bound: it is this machine, and a test.

// An address is where some hosts are. The schedule's lock guards it.
type address struct {
	key     netip.Addr
	hosts   int     // that are known to be there
	open    int     // requests in flight to it
	waiting []*host // due, but for a place; the first came first
	crowded bool    // its hosts keep no connections
}

// full says whether an address has as many requests as it is to have at once.
func (a *address) full(most int) bool {
	return a != nil && most > 0 && a.hosts > 1 && a.open >= most
}

// crowded says whether connections to a host are to be closed after each answer, because the many
// hosts at its address would else keep one each. newly says that this is found out for the first
// time, so that there may be idle connections already.
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

// locate notes where the host of a turn is, and says whether the turn may go on. If not, the turn
// is over, and its URL waits until there is a place.
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

// settle notes where a host is.
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

// park lets a host wait for a place at its address.
func (s *schedule) park(h *host) {
	h.spot.Leave()
	if !h.parked {
		h.parked = true
		s.parked++
		h.at.waiting = append(h.at.waiting, h)
	}
}

// vacate gives the place of a request to the host that has waited longest. A host that has no URL
// in hand may turn out to have none, so the next host comes along with it.
func (s *schedule) vacate(a *address) {
	if a == nil {
		return
	}
	a.open--
	for len(a.waiting) > 0 && !a.full(s.opt.PerIP) {
		h := a.waiting[0]
		a.waiting = a.waiting[1:]
		if !h.parked {
			continue // it got a place by other ways
		}
		s.offer(h)
		if h.spot.Line() == s.ready[h.pace()] && len(h.urls) > 0 {
			break
		}
	}
}

// leaveAddress forgets that a host is where it is.
func (s *schedule) leaveAddress(h *host) {
	if h.at == nil {
		return
	}
	h.at.hosts--
	if h.at.hosts == 0 {
		delete(s.addresses, h.at.key)
	}
}
