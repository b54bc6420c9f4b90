package badger

import (
	"context"
	"encoding/json"
	"fmt"

	"skink/frontier"
	"skink/store"
)

// counters hold totals over the whole store, which would otherwise require a scan.
type counters struct {
	Numbers uint64 `json:"numbers"` // number of the latest visit; visits are numbered from 1 in commit order
	Records int64  `json:"records"`
	// Obsolete is the number of visits with an e key; see keys.go.
	Obsolete int64 `json:"obsolete"`
	// URLs counts the URLs in each state. The numeric values of the states are part of the stored
	// format and must not change.
	URLs  frontier.PerState `json:"urls"`
	Tally store.Tally       `json:"tally"`
}

func (c *counters) encode() ([]byte, error) { return json.Marshal(c) }

func (s *Store) writeCounters() error {
	b := &batch{s: s, txn: s.db.NewTransaction(true), counted: true, workspace: s.workspace}
	defer b.txn.Discard()
	return b.flush()
}

// Tally returns the number of records of each kind and verdict.
func (s *Store) Tally(ctx context.Context) (store.Tally, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counters.Tally.Clone(), ctx.Err()
}

func (r reader) Tally(context.Context) (store.Tally, error) {
	c, err := r.counters()
	return c.Tally.Clone(), err
}

// counters returns the counters as of the start of the reader's transaction. They match the data,
// because every transaction that changes counted data also writes the counters.
func (r reader) counters() (c counters, err error) {
	if r.counted != nil {
		return *r.counted, nil
	}
	_, err = get(r.txn, []byte{keyCounters}, func(value []byte) error {
		c, err = decodeCounters(value)
		return err
	})
	return c, err
}

func (r reader) Counts(context.Context) (frontier.Counts, error) {
	c, err := r.counters()
	return c.URLs.Counts(), err
}

// Counts returns the number of URLs in each state.
func (s *Store) Counts(ctx context.Context) (frontier.Counts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counters.URLs.Counts(), ctx.Err()
}

func decodeCounters(value []byte) (c counters, err error) {
	if err := json.Unmarshal(value, &c); err != nil {
		return c, fmt.Errorf("%w: the counters cannot be parsed: %v", store.ErrCorrupt, err)
	}
	return c, nil
}
