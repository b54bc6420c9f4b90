package badger

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/store"
	"skink/store/badger/postings"
)

// A batch writes a sequence of operations into the store. It puts as many operations as fit into
// one transaction, which makes a commit cheap, and then begins another transaction. It keeps the
// operations in order, and never splits one between two transactions: before an operation writes,
// it calls room with the amount of data that it will write.
//
// The counters are written with each transaction that changes them, so they are exact whenever the
// process ends. Lookups find what a transaction adds to the index after it is committed.
type batch struct {
	s       *Store
	txn     *badgerdb.Txn
	keys    int64
	bytes   int64
	counted bool     // whether the transaction changes the counters
	gone    []uint64 // visits whose data the transaction replaces
	// err is the first error. From then on the batch reads and writes nothing, so its methods need not
	// return errors. They may still change the data in memory: then write marks the store as broken, unless
	// the batch was refused.
	err     error
	refused bool // whether err is the fault of the caller's input, not of the store

	postings []postings.Posted // what the transaction adds to the index
	// recorded contains the visit numbers of the pages that the transaction adds to the index, by
	// page id. The index finds these pages only after the transaction is committed.
	recorded map[dedup.Hash]uint64
	// posted maps each index key that this batch has used to the last visit indexed under it.
	posted map[uint64]uint64
}

const (
	// keyOverhead is an upper bound on the number of bytes that badger adds for each key when it
	// estimates the size of a transaction.
	keyOverhead = 32
	// countersRoom is the number of bytes of each transaction that are reserved for the counters.
	// The counters usually take a few hundred bytes, and more if there are many kinds of errors.
	countersRoom = 64 << 10
)

// write runs fn with a new batch and commits the batch. If that fails, all later writes return the
// same error, because the data in memory may then differ from the disk. Reopening the store
// restores the state after the last committed transaction.
func (s *Store) write(ctx context.Context, fn func(*batch)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.writeLocked(fn)
}

func (s *Store) writeLocked(fn func(*batch)) error {
	if s.broken != nil {
		return s.broken
	}
	b := &batch{s: s, txn: s.db.NewTransaction(true), recorded: map[dedup.Hash]uint64{}, posted: map[uint64]uint64{}}
	defer func() { b.txn.Discard() }()
	if fn(b); b.err == nil {
		b.err = b.flush()
	}
	switch {
	case b.refused:
		return b.err
	case b.err != nil:
		s.broken = fmt.Errorf("write to store %s: %w", s.name, s.fullError(b.err))
		return s.broken
	}
	s.visible.Store(s.last)
	return nil
}

// refuse abandons the batch before anything is written. Unlike other errors of a batch, this one
// leaves the store usable.
func (b *batch) refuse(why error) { b.err, b.refused = why, true }

// fail records an error, unless there was one before.
func (b *batch) fail(err error) { b.err = cmp.Or(b.err, err) }

// room must be called before each operation, with the number of keys and bytes that the operation
// writes. If they do not fit into the current transaction, room commits it and begins another one.
func (b *batch) room(keys, bytes int) {
	b.keys += int64(keys)
	b.bytes += int64(bytes + keys*keyOverhead)
	if b.err != nil || b.keys+2 < b.s.db.MaxBatchCount() && b.bytes+countersRoom < b.s.db.MaxBatchSize() {
		return
	}
	if b.err = b.flush(); b.err == nil {
		b.txn = b.s.db.NewTransaction(true)
		b.keys, b.bytes, b.counted = int64(keys), int64(bytes+keys*keyOverhead), false
	}
}

func (b *batch) flush() error {
	if b.s.beforeFlush != nil {
		if err := b.s.beforeFlush(); err != nil {
			return err
		}
	}
	if b.s.texts != nil {
		if err := b.s.texts.flush(); err != nil {
			return err
		}
	}
	if b.counted {
		if err := b.txn.Set([]byte{keyCounters}, store.AppendStruct(nil, &b.s.counters)); err != nil {
			return err
		}
	}
	if err := b.s.commit(b.txn); err != nil {
		return err
	}
	b.s.index.Forget(b.gone)
	b.gone = nil
	err := b.s.index.Post(b.postings)
	b.postings = b.postings[:0]
	clear(b.recorded)
	return err
}

// counters returns the store's counters for modification. They are written with the transaction.
func (b *batch) counters() *counters {
	b.counted = true
	return &b.s.counters
}

// set sets the value of a key with the given user metadata.
func (b *batch) set(key, value []byte, meta byte) {
	if b.err == nil {
		b.err = b.txn.SetEntry(badgerdb.NewEntry(key, value).WithMeta(meta))
	}
}

func (b *batch) delete(key []byte) {
	if b.err == nil {
		b.err = b.txn.Delete(key)
	}
}

// put makes room for a key, and sets its value.
func (b *batch) put(key, value []byte) {
	b.room(1, len(value))
	b.set(key, value, 0)
}

// drop makes room for the deletion of a key, and deletes it.
func (b *batch) drop(key []byte) {
	b.room(1, 0)
	b.delete(key)
}

// get calls fn with the value of key and reports whether the key exists. It also finds values that
// the batch has written but not yet committed.
func (b *batch) get(key []byte, fn func(value []byte) error) (found bool) {
	if b.err == nil {
		found, b.err = get(b.txn, key, fn)
	}
	return found
}

// get calls fn with the value of key and reports whether the key exists. The value is valid until
// fn returns.
func get(txn *badgerdb.Txn, key []byte, fn func(value []byte) error) (bool, error) {
	item, err := txn.Get(key)
	if errors.Is(err, badgerdb.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, item.Value(fn)
}

func (s *Store) view(ctx context.Context, fn func(*badgerdb.Txn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.db.View(fn)
}

// # Stale verdicts
//
// A verdict is valid as long as no page has been indexed, since the mark of its lookup, under one
// of the keys that were looked up. A commit checks this for each key of each page, and nearly
// always there is no such page.

// stale reports whether an entry's verdict may no longer hold because, since the entry's mark, a
// page was indexed under one of the entry's hashes or keys, or the entry's leader was visited
// again.
func (b *batch) stale(e *store.Entry) bool {
	mark := e.Basis.Mark.Place()
	for _, h := range e.Basis.Hashes {
		if b.postedSince(postings.Mixed(filterKey(h), postings.Hash), mark) {
			return true
		}
	}
	for _, key := range e.Basis.Keys {
		if b.postedSince(postings.Mixed(key, postings.Band), mark) {
			return true
		}
	}
	return mark != 0 && e.Record.Follows() && mark != b.s.last && b.known(e.Record.Leader).num > mark
}

// postedSince reports whether a page may have been indexed after mark under key, a hash from
// [postings.Mixed].
func (b *batch) postedSince(key, mark uint64) bool {
	return b.posted[key] > mark || b.s.index.PostedSince(key, mark)
}
