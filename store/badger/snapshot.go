package badger

import (
	"context"
	"fmt"
	"iter"

	"skink/frontier"
	"skink/store"
)

// A Snapshot is the store as it was at one moment between two writes. All of its answers fit
// together, whatever is written meanwhile. What is overwritten meanwhile stays on disk until the
// snapshot is closed. One goroutine at a time may use a snapshot.
type Snapshot struct {
	reader
	hosts []frontier.Host // the queue is in memory, so a reader of the disk does not see them
}

var _ store.Reader = (*Snapshot)(nil)

// Snapshot returns the store as it is now. The caller must close the snapshot before the store.
func (s *Store) Snapshot() (*Snapshot, error) {
	s.mu.Lock() // a write may take several transactions; a snapshot has all of them or none
	defer s.mu.Unlock()
	if s.broken != nil && s.broken != errReadOnly {
		return nil, fmt.Errorf("look at store %s: %w", s.name, s.broken)
	}
	now := s.counters
	now.Tally = now.Tally.Clone()
	return &Snapshot{reader{s, s.db.NewTransaction(false), &now}, s.hostsLocked()}, nil
}

// Hosts yields the hosts that had pending URLs.
func (s *Snapshot) Hosts(ctx context.Context) iter.Seq2[frontier.Host, error] {
	return eachHost(ctx, func() []frontier.Host { return s.hosts })
}

// Close lets the store delete what it kept for the snapshot.
func (s *Snapshot) Close() error {
	s.txn.Discard()
	return nil
}
