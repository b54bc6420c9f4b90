package crawler

import (
	"math"

	"skink/frontier"
)

// Spent counts what was fetched: answers with a page or a file, and the bytes of their decoded
// bodies.
type Spent = frontier.Spent

// Budget bounds what is fetched; 0 means no bound. Answers in flight when a bound is reached are
// kept, so Bytes may be exceeded by their size. Pages is never exceeded.
type Budget Spent

// allows reports whether another request may start when open requests are in flight.
func (b Budget) allows(s Spent, open int) bool {
	return (b.Pages <= 0 || s.Pages+int64(open) < b.Pages) && (b.Bytes <= 0 || s.Bytes < b.Bytes)
}

// room returns how many turns Options.MaxPages and MaxBytes allow to be under way here. Each of
// several workers has an equal share of the pages that remain, rounded up. So the workers together
// may exceed MaxPages by one page each, plus pages of other workers that are not counted yet.
func (s *schedule) room() int {
	switch {
	case s.opt.MaxBytes > 0 && s.bytes >= s.opt.MaxBytes:
		return 0
	case s.opt.MaxPages > 0:
		workers := int64(max(s.claims.workers, 1))
		return int(min((max(s.opt.MaxPages-s.pages(), 0)+workers-1)/workers, math.MaxInt32))
	}
	return math.MaxInt32
}
