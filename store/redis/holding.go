package redis

import (
	"context"
	"strconv"
	"sync"

	"skink/frontier"
)

// holding is the claims that were given here and have not ended, as far as is known. They
// end with the store, so that others need not wait until they run out.
type holding struct {
	mu     sync.Mutex
	claims map[frontier.Claim]bool // guarded by mu
}

func (h *holding) add(c frontier.Claim) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.claims[c] = true
}

func (h *holding) remove(c frontier.Claim) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.claims, c)
}

// has says whether a claim was given here and has not ended, as far as is known.
func (h *holding) has(c frontier.Claim) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.claims[c]
}

var quitScript = newScript("sums.lua", "heads.lua", "quit.lua")

// quit ends all claims. Their hosts are as they were given.
func (s *Store) quit(ctx context.Context) error {
	s.holding.mu.Lock()
	defer s.holding.mu.Unlock()
	var calls []call
	for c := range s.holding.claims {
		p := partOfHost(c.Host)
		keys := s.hostKeys(p, s.key(p, "t", c.Host))
		calls = append(calls, call{quitScript, keys, []string{c.Host, c.Worker, strconv.FormatUint(c.Token, 10)}})
	}
	clear(s.holding.claims)
	return firstError(s.eval(ctx, calls...))
}

// none says whether nothing is held.
func (h *holding) none() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.claims) == 0
}
