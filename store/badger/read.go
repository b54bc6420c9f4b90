package badger

import (
	"context"
	"fmt"
	"iter"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # Reading
//
// Badger keeps versions: a read-only transaction sees the store as it was when the transaction
// began, regardless of later writes. A reader has such a transaction, so all its results are
// consistent. The reader in a Store has none, and begins one for each call. [Store.Snapshot] creates
// a reader for many calls.
type reader struct {
	s   *Store
	txn *badgerdb.Txn // nil means a new one for each call
}

// in calls fn with a reader that has a transaction.
func (r reader) in(ctx context.Context, fn func(reader) error) error {
	if r.txn != nil {
		return fn(r)
	}
	return r.s.view(ctx, func(txn *badgerdb.Txn) error { return fn(reader{s: r.s, txn: txn}) })
}

// each yields the values that list passes to its last argument. It calls list, with a reader that
// has a transaction, when the loop begins. list must return the errors of that argument.
func each[T any](ctx context.Context, r reader, list func(r reader, yield func(T) error) error) iter.Seq2[T, error] {
	return store.Sequence(func(yield func(T) error) error {
		return r.in(ctx, func(r reader) error { return list(r, yield) })
	})
}

// Pages returns the pages in the order of ids, with nil for an unknown id.
func (r reader) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	if r.txn == nil && want == store.WantRecord && len(ids) == 1 {
		if page := r.s.handedPage(ids[0]); page != nil {
			return []*store.Content{{Record: *page.record}}, ctx.Err()
		}
	}
	packed, err := r.PackedPages(ctx, ids, want)
	if err != nil {
		return nil, err
	}
	pages := make([]*store.Content, len(ids))
	for i := range packed {
		if pages[i], err = packed[i].Unpack(); err != nil {
			return nil, fmt.Errorf("read page %s: %w", ids[i], err)
		}
	}
	return pages, nil
}

func recordAt(txn *badgerdb.Txn, num uint64) (*store.Record, error) {
	r, err := readVisits(txn).stored(num)
	return r.record, err
}

// indexedAt returns how lookups find visit num. It is empty if nothing is stored about that.
func indexedAt(txn *badgerdb.Txn, num uint64) (x indexed, err error) {
	_, err = get(txn, pageKey(keySketch, num), x.decode)
	return x, err
}

// Changes yields the pages committed after a cursor, as they are when the loop begins.
func (r reader) Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error] {
	return store.Unpacked(r.PackedChanges(ctx, after, want), (*store.PackedChange).Unpack)
}

func (r reader) countedAll(ctx context.Context, got int64) error {
	c, err := r.counters(ctx)
	if err == nil && got < c.Records {
		err = fmt.Errorf("read store %s: %w: only %d of %d records can be read", r.s.dir, store.ErrCorrupt, got, c.Records)
	}
	return err
}

// End returns the cursor after the latest visit.
func (r reader) End(ctx context.Context) (store.Cursor, error) {
	if r.txn == nil { // after a failed write, the counters are ahead of what is stored
		return store.CursorAt(r.s.visible.Load()), ctx.Err()
	}
	c, err := r.counters(ctx)
	return store.CursorAt(c.Numbers), err
}

// Meta returns a named value, or nil if it was never set.
func (r reader) Meta(ctx context.Context, name string) (value []byte, err error) {
	err = r.in(ctx, func(r reader) error {
		if value, err = meta(r.txn, name); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		return nil
	})
	return value, err
}

// SetMeta sets a named value.
func (s *Store) SetMeta(ctx context.Context, name string, value []byte) error {
	if err := s.space.Check(); err != nil {
		return err
	}
	return s.write(ctx, func(b *batch) { b.setMeta(name, value) })
}

// SwapMeta sets a named value if its current value equals old.
func (s *Store) SwapMeta(ctx context.Context, name string, old, value []byte) error {
	if err := s.space.Check(); err != nil {
		return err
	}
	changed := false
	err := s.write(ctx, func(b *batch) {
		now, err := meta(b.txn, name)
		b.fail(err)
		if changed = !store.SameMeta(now, old); !changed {
			b.setMeta(name, value)
		}
	})
	if err == nil && changed {
		err = store.ErrChanged
	}
	return err
}

// A Snapshot is the state of the store between two writes. Later writes do not change it. Data that
// is overwritten stays on disk until the snapshot is closed. Only one goroutine at a time may use a
// snapshot.
type Snapshot struct {
	reader
	hosts []frontier.Host // hosts that had pending URLs when the snapshot was taken; the transaction does not include them, because the queue is in memory
}

var _ store.Reader = (*Snapshot)(nil)

// Snapshot returns a snapshot of the store, which the caller must close before the store.
func (s *Store) Snapshot() (*Snapshot, error) {
	s.mu.Lock() // a write may take several transactions, and a snapshot must include all of them or none
	defer s.mu.Unlock()
	if s.broken != nil && s.broken != errReadOnly {
		return nil, fmt.Errorf("read store %s: %w", s.name, s.broken)
	}
	hosts, err := s.hostsLocked()
	if err != nil {
		return nil, fmt.Errorf("read store %s: %w", s.name, err)
	}
	return &Snapshot{reader{s, s.db.NewTransaction(false)}, hosts}, nil
}

// Hosts yields the hosts that had pending URLs when the snapshot was taken.
func (s *Snapshot) Hosts(ctx context.Context) iter.Seq2[frontier.Host, error] {
	return store.Listed(ctx, func() ([]frontier.Host, error) { return s.hosts, nil })
}

// Close lets the store delete the data that it kept for the snapshot.
func (s *Snapshot) Close() error {
	s.txn.Discard()
	return nil
}
