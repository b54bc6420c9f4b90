package crawler

import (
	"math"

	"skink/frontier"
)

// Spent is what was fetched: answers with a page or a file, and the bytes of their bodies, decoded.
type Spent = frontier.Spent

// Budget bounds what is fetched. 0: no bound. What was in flight when a bound was reached is kept,
// so Bytes may be passed by that much; Pages never is.
type Budget Spent

// spend counts an answer of a host.
func (h *host) spend(p *Page) {
	if p.Problem == "" && p.Location == "" {
		h.spent.Pages++
	}
	h.spent.Bytes += int64(len(p.Body))
}

// allows says whether another request may start when so many are in flight.
func (b Budget) allows(s Spent, open int) bool {
	return (b.Pages <= 0 || s.Pages+int64(open) < b.Pages) && (b.Bytes <= 0 || s.Bytes < b.Bytes)
}

// room is how many turns the bounds of a whole crawl allow to be under way here. Each of several
// workers has its share of the pages that remain, rounded up: they may pass the bound by one page
// each, and by those of the others that were not counted yet.
func (s *schedule) room() int {
	switch {
	case s.opt.MaxBytes > 0 && s.bytes >= s.opt.MaxBytes:
		return 0
	case s.opt.MaxPages > 0:
		workers := int64(max(s.unheld.workers, 1))
		return int(min((max(s.opt.MaxPages-s.pages(), 0)+workers-1)/workers, math.MaxInt32))
	}
	return math.MaxInt32
}

// account counts what a turn has brought.
func (s *schedule) account(t *turn, p *Page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += int64(len(p.Body))
	if s.opt.HostBudget != (Budget{}) {
		t.host.spend(p)
	}
}
