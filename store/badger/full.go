package badger

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/store"
	"skink/store/disk"
)

// # A full disk
//
// A store stops writing before the disk is full; see disk.Space. If another program fills the disk
// faster than the store notices, badger cannot allocate a file that it is about to map; see package
// disk. A transaction that finds the disk full returns the error. But badger's own goroutines,
// which write tables, retry forever, and then neither a transaction nor a call to Close returns.
// The store learns of their failure from badger's log messages. From then on, the store waits at
// most patience for each call to badger. If the call has not returned by then, the store leaves its
// files as a killed process would. The next process to open the store finds all committed data.

// patience is how long a store waits for a call to badger after badger has found the disk full.
// During that time, a compaction or another program may free enough space for the call to succeed.
const patience = 3 * time.Second

type fullness struct {
	met  chan struct{} // closed when one of badger's goroutines first finds the disk full
	once sync.Once
}

func newFullness() *fullness { return &fullness{met: make(chan struct{})} }

// hear closes met if the arguments of a log message from badger include the error for a full disk.
func (f *fullness) hear(a []any) {
	for _, v := range a {
		if err, ok := v.(error); ok && disk.Full(err) {
			f.once.Do(func() { close(f.met) })
		}
	}
}

// wait returns the result of do. If badger has found the disk full and do does not return within
// patience, wait returns ENOSPC and leaves do running.
func (f *fullness) wait(do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-f.met:
	}
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		return syscall.ENOSPC
	}
}

func (s *Store) commit(txn *badgerdb.Txn) error { return s.full.wait(txn.Commit) }

// fullError turns the system's error for a full disk into [store.ErrFull]. It returns other errors
// unchanged.
func (s *Store) fullError(err error) error {
	if err == nil || errors.Is(err, store.ErrFull) || !disk.Full(err) {
		return err
	}
	return fmt.Errorf("%s: %w: %w; free some disk space, and run the command again", s.name, store.ErrFull, disk.Damage(err))
}
