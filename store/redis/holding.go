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
	tokens map[hold]uint64 // guarded by mu
	counts map[holder]int  // guarded by mu: of the tokens
}

// A hold is a worker's on a host: it is given anew if a server has lost that it was given.
type hold struct{ worker, host string }

// A holder is a worker in a partition.
type holder struct {
	worker string
	part   partition
}

func newHolding() holding { return holding{tokens: map[hold]uint64{}, counts: map[holder]int{}} }

func holdOf(c frontier.Claim) hold { return hold{c.Worker, c.Host} }

func (h *holding) add(c frontier.Claim) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, held := h.tokens[holdOf(c)]; !held {
		h.counts[holder{c.Worker, partOfHost(c.Host)}]++
	}
	h.tokens[holdOf(c)] = c.Token
}

func (h *holding) remove(c frontier.Claim) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if token, held := h.tokens[holdOf(c)]; held && token == c.Token {
		delete(h.tokens, holdOf(c))
		h.counts[holder{c.Worker, partOfHost(c.Host)}]--
	}
}

// has says whether a claim was given here and has not ended, as far as is known.
func (h *holding) has(c frontier.Claim) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	token, held := h.tokens[holdOf(c)]
	return held && token == c.Token
}

// count is how many hosts of a partition a worker holds, as far as is known.
func (h *holding) count(worker string, p partition) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.counts[holder{worker, p}]
}

// none says whether nothing is held.
func (h *holding) none() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.tokens) == 0
}

var quitScript = newScript("sums.lua", "heads.lua", "quit.lua")

// quit ends all claims. Their hosts are as they were given.
func (s *Store) quit(ctx context.Context) error {
	s.holding.mu.Lock()
	defer s.holding.mu.Unlock()
	var calls []call
	for h, token := range s.holding.tokens {
		p := partOfHost(h.host)
		keys := s.hostKeys(p, s.key(p, "t", h.host))
		calls = append(calls, call{quitScript, keys, []string{h.host, h.worker, strconv.FormatUint(token, 10)}})
	}
	clear(s.holding.tokens)
	clear(s.holding.counts)
	return firstError(s.eval(ctx, calls...))
}
