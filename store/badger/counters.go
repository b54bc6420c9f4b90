package badger

import (
	"context"
	"encoding/json"
	"fmt"

	"skink/frontier"
	"skink/store"
)

// counters are what would take a scan of the store to find out again.
type counters struct {
	Numbers uint64 `json:"numbers"` // none above it was ever given
	Records int64  `json:"records"`
	// URLs by state. Their numbers are the contract's, and do not change.
	URLs  frontier.PerState `json:"urls"`
	Tally store.Tally       `json:"tally"`
}

func (c *counters) encode() ([]byte, error) { return json.Marshal(c) }

// numberBlock is how many numbers are reserved with one write. A number may be
// given and never committed, so it must be known to be gone before it is given;
// a killed process leaves a gap of at most this.
const numberBlock = 1024

// Next gives the next number.
func (s *Store) Next(ctx context.Context) (uint64, error) {
	var num uint64
	s.mu.Lock()
	if s.last < s.counters.Numbers && s.broken == nil && ctx.Err() == nil {
		s.last++
		num = s.last
	}
	s.mu.Unlock()
	if num != 0 {
		return num, nil
	}
	err := s.write(ctx, func(b *batch) error {
		s.last++
		num = s.last
		if num > s.counters.Numbers {
			b.counters().Numbers = num + numberBlock - 1
		}
		return nil
	})
	return num, err
}

// useNumber makes sure that num is not given, if someone numbered by himself.
func (b *batch) useNumber(num uint64) {
	b.s.last = max(b.s.last, num)
	if c := b.counters(); c.Numbers < num {
		c.Numbers = num
	}
}

// returnNumbers gives back what was reserved and not used. The caller holds mu.
func (s *Store) returnNumbers() error {
	if s.broken != nil || s.counters.Numbers == s.last {
		return nil
	}
	s.counters.Numbers = s.last
	return s.writeCounters()
}

func (s *Store) writeCounters() error {
	b := &batch{s: s, txn: s.db.NewTransaction(true), counted: true}
	defer b.txn.Discard()
	return b.flush()
}

// Tally is the number of records of each kind and verdict.
func (s *Store) Tally(ctx context.Context) (store.Tally, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counters.Tally.Clone(), ctx.Err()
}

// Counts is how many URLs are in each state.
func (s *Store) Counts(ctx context.Context) (frontier.Counts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counters.URLs.Counts(), ctx.Err()
}

func decodeCounters(value []byte) (c counters, err error) {
	if err := json.Unmarshal(value, &c); err != nil {
		return c, fmt.Errorf("%w: counters: %v", store.ErrCorrupt, err)
	}
	return c, nil
}
