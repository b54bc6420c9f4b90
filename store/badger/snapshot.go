package badger

import (
	"context"
	"fmt"
	"iter"

	"skink/frontier"
	"skink/store"
)

// A Snapshot is the store as it was at one moment between two writes: all that it
// answers fits together, whatever is written meanwhile. What was overwritten since stays
// on disk until the snapshot is closed. One goroutine at a time may use it.
type Snapshot struct {
	reader
	hosts []frontier.Host // they live in memory, not in what a reader sees of the disk
}

var _ store.Reader = (*Snapshot)(nil)

// Snapshot returns the store as it is now. It is to be closed before the store is.
func (s *Store) Snapshot() (*Snapshot, error) {
	s.mu.Lock() // a write may take several transactions: none is seen without the others
	defer s.mu.Unlock()
	if s.broken != nil && s.broken != errReadOnly {
		return nil, fmt.Errorf("look at store %s: %w", s.name, s.broken)
	}
	now := s.counters
	now.Tally = now.Tally.Clone()
	return &Snapshot{reader{s, s.db.NewTransaction(false), &now}, s.hostsLocked()}, nil
}

// Hosts yields the hosts that had URLs pending.
func (s *Snapshot) Hosts(ctx context.Context) iter.Seq2[frontier.Host, error] {
	return eachHost(ctx, func() []frontier.Host { return s.hosts })
}

// Close gives the moment up.
func (s *Snapshot) Close() error {
	s.txn.Discard()
	return nil
}
