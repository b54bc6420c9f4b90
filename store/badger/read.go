package badger

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # Reading
//
// Badger keeps versions: a read-only transaction sees the store as it was when the transaction
// began, regardless of later writes. A reader has such a transaction, so all its results are
// consistent. The methods of Store create a reader for a single call. [Store.Snapshot] creates one
// for many calls.

type reader struct {
	s       *Store
	txn     *badgerdb.Txn
	counted *counters // the counters as of the start of txn; nil means not read yet
}

func (s *Store) read(ctx context.Context, fn func(reader) error) error {
	return s.view(ctx, func(txn *badgerdb.Txn) error { return fn(reader{s: s, txn: txn}) })
}

// each yields the values of list, which it calls with a reader created when the loop begins.
func each[T any](s *Store, ctx context.Context, list func(reader) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := s.read(ctx, func(r reader) error {
			for v, err := range list(r) {
				if !yield(v, err) || err != nil {
					break
				}
			}
			return nil
		})
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// Pages returns the pages in the order of ids, with nil for an unknown id.
func (s *Store) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) (pages []*store.Content, err error) {
	err = s.read(ctx, func(r reader) error {
		pages, err = r.Pages(ctx, ids, want)
		return err
	})
	return pages, err
}

func (r reader) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
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
	var r *store.Record
	_, err := get(txn, pageKey(keyRecord, num), func(value []byte) (err error) {
		r, err = decodeRecord(value)
		return err
	})
	return r, err
}

// sketchAt returns the sketch of visit num, with the id and the text hash of its page.
func sketchAt(txn *badgerdb.Txn, num uint64) (l store.Leader, found bool, err error) {
	found, err = get(txn, pageKey(keySketch, num), func(value []byte) error {
		l, err = decodeSketch(value)
		return err
	})
	return l, found, err
}

var errStop = errors.New("stop")

// Changes yields the pages committed after a cursor, as they are when the loop begins.
func (s *Store) Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error] {
	return each(s, ctx, func(r reader) iter.Seq2[*store.Change, error] { return r.Changes(ctx, after, want) })
}

func (r reader) Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error] {
	return store.Unpacked(ahead(ctx, r.PackedChanges(ctx, after, want)), (*store.PackedChange).Unpack)
}

func (r reader) countedAll(got int64) error {
	c, err := r.counters()
	if err == nil && got < c.Records {
		err = fmt.Errorf("read store %s: %w: only %d of %d records can be read", r.s.dir, store.ErrCorrupt, got, c.Records)
	}
	return err
}

func cursorAt(num uint64) store.Cursor { return store.Cursor(strconv.FormatUint(num, 10)) }

// placeOf is the inverse of cursorAt.
func placeOf(c store.Cursor) (uint64, error) {
	if c == "" {
		return 0, nil
	}
	num, err := strconv.ParseUint(string(c), 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%q is not a cursor of this store", c)
	}
	return num, nil
}

// End returns the cursor after the latest visit.
func (s *Store) End(ctx context.Context) (store.Cursor, error) {
	return cursorAt(s.visible.Load()), ctx.Err()
}

func (r reader) End(context.Context) (store.Cursor, error) {
	c, err := r.counters()
	return cursorAt(c.Numbers), err
}

// Meta returns a named value, or nil if it was never set.
func (s *Store) Meta(ctx context.Context, name string) (value []byte, err error) {
	err = s.read(ctx, func(r reader) error {
		value, err = r.Meta(ctx, name)
		return err
	})
	return value, err
}

func (r reader) Meta(_ context.Context, name string) (value []byte, err error) {
	if value, err = meta(r.txn, name); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return value, nil
}

// SetMeta sets a named value.
func (s *Store) SetMeta(ctx context.Context, name string, value []byte) error {
	if err := s.space.Check(); err != nil {
		return err
	}
	return s.write(ctx, func(b *batch) error { return b.setMeta(name, value) })
}

// SwapMeta sets a named value if its current value equals old.
func (s *Store) SwapMeta(ctx context.Context, name string, old, value []byte) error {
	if err := s.space.Check(); err != nil {
		return err
	}
	changed := false
	err := s.write(ctx, func(b *batch) error {
		now, err := meta(b.txn, name)
		if err != nil {
			return err
		}
		if changed = !store.SameMeta(now, old); changed {
			return nil
		}
		return b.setMeta(name, value)
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
	now := s.counters
	now.Tally = now.Tally.Clone()
	return &Snapshot{reader{s, s.db.NewTransaction(false), &now}, hosts}, nil
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
