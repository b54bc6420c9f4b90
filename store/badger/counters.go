package badger

import (
	"context"

	"skink/frontier"
	"skink/store"
)

// counters hold totals over the whole store, which would otherwise require a scan.
type counters struct {
	Numbers uint64 // number of the latest visit; visits are numbered from 1 in commit order
	Records int64
	// Obsolete is the number of visits with an e key; see keys.go.
	Obsolete int64
	// URLs counts the URLs in each state. The numeric values of the states are part of the stored
	// format and must not change.
	URLs  frontier.PerState
	Tally store.Tally
}

// counters returns the counters as of the start of the reader's transaction, or as they are now.
// They match the data, because every transaction that changes counted data also writes the counters.
func (r reader) counters(ctx context.Context) (c counters, err error) {
	switch {
	case ctx.Err() != nil:
		return c, ctx.Err()
	case r.txn == nil:
		r.s.mu.Lock()
		defer r.s.mu.Unlock()
		return r.s.counters.clone(), nil
	}
	_, err = get(r.txn, []byte{keyCounters}, c.decode)
	return c, err
}

func (c counters) clone() counters {
	c.Tally = c.Tally.Clone()
	return c
}

// Tally returns the number of records of each kind and verdict.
func (r reader) Tally(ctx context.Context) (store.Tally, error) {
	c, err := r.counters(ctx)
	return c.clone().Tally, err
}

// Counts returns the number of URLs in each state.
func (r reader) Counts(ctx context.Context) (frontier.Counts, error) {
	c, err := r.counters(ctx)
	return c.URLs.Counts(), err
}

func (c *counters) decode(value []byte) (err error) {
	*c, err = store.UnpackStruct[counters](value)
	return err
}
