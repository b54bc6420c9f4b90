package badger

import (
	"context"
	"errors"
	"fmt"
	"skink/store/badger/postings"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/store"
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
	refusal error    // why the batch wrote nothing: set if the caller's input is at fault, not the store

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
func (s *Store) write(ctx context.Context, fn func(*batch) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.writeLocked(fn)
}

func (s *Store) writeLocked(fn func(*batch) error) error {
	if s.broken != nil {
		return s.broken
	}
	b := &batch{s: s, txn: s.db.NewTransaction(true), recorded: map[dedup.Hash]uint64{}, posted: map[uint64]uint64{}}
	defer func() { b.txn.Discard() }()
	err := fn(b)
	if b.refusal != nil {
		return b.refusal
	}
	if err == nil {
		err = b.flush()
	}
	if err != nil {
		err = fmt.Errorf("write to store %s: %w", s.name, s.fullError(err))
		s.broken = err
		return err
	}
	s.visible.Store(s.last)
	return nil
}

// refuse records why the batch is abandoned before anything is written, and returns that reason.
// Unlike other errors of a batch, this one leaves the store usable.
func (b *batch) refuse(why error) error {
	b.refusal = why
	return why
}

// room must be called before each operation, with the number of keys and bytes that the operation
// writes. If they do not fit into the current transaction, room commits it and begins another one.
func (b *batch) room(keys, bytes int) error {
	b.keys += int64(keys)
	b.bytes += int64(bytes + keys*keyOverhead)
	if b.keys+2 < b.s.db.MaxBatchCount() && b.bytes+countersRoom < b.s.db.MaxBatchSize() {
		return nil
	}
	if err := b.flush(); err != nil {
		return err
	}
	b.txn = b.s.db.NewTransaction(true)
	b.keys, b.bytes, b.counted = int64(keys), int64(bytes+keys*keyOverhead), false
	return nil
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

func (b *batch) set(key, value []byte) error { return b.txn.Set(key, value) }

func (b *batch) delete(key []byte) error { return b.txn.Delete(key) }

// drop makes room for the deletion of a key, and deletes it.
func (b *batch) drop(key []byte) error {
	if err := b.room(1, 0); err != nil {
		return err
	}
	return b.delete(key)
}

// get calls fn with the value of key and reports whether the key exists. It also finds values that
// the batch has written but not yet committed.
func (b *batch) get(key []byte, fn func(value []byte) error) (bool, error) {
	return get(b.txn, key, fn)
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
