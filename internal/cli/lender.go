package cli

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"skink/store"
	"skink/store/remote"
)

// A lender keeps a store open for many short reads. If a crawl is writing to the store, a read sees
// a snapshot, so the lender replaces it after renewAfter. If no process is writing to it, the lender
// closes the store after freeAfter without a read, because a crawl cannot start while the store is
// open for reading. If another process asks who has the store, it closes it as soon as no read goes on.
type lender struct {
	name, by string // the store, and what other processes are told about this one

	mu       sync.Mutex
	messages io.Writer // guarded by mu: takes the messages about opening the store, which are not repeated
	current  *loan     // guarded by mu: the open store; nil means that the store is closed
	done     bool      // guarded by mu: whether the lender is closed
}

type loan struct {
	*readStore
	users int
	lent  *time.Timer // ends the loan; see lender.drop
	old   bool        // whether new readers get another store; the last reader then closes this one
}

const (
	renewAfter = 2 * time.Second // age at which the snapshot of a running crawl is replaced
	freeAfter  = time.Minute     // idle time after which the store is closed
)

// Read opens the store if necessary, and calls read with it. If read fails, the next Read opens the
// store again.
func (l *lender) Read(ctx context.Context, read func(store.Reader) error) error {
	s, err := l.take(ctx)
	if err != nil {
		return err
	}
	defer l.giveBack(s)
	err = read(s.Reader)
	if err != nil { // the snapshot came from another process, which may have ended; open the store again for the next read
		l.drop(s)
	}
	return err
}

// take returns the open store, and counts the caller as one of its readers. It opens the store if
// it is closed.
func (l *lender) take(ctx context.Context) (*loan, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return nil, context.Canceled
	}
	if l.current == nil {
		if err := l.open(ctx); err != nil {
			return nil, err
		}
	}
	l.current.users++
	return l.current, nil
}

// open opens the store. The caller must hold mu.
func (l *lender) open(ctx context.Context) error {
	s, err := openToRead(ctx, l.name, l.messages)
	if err != nil {
		return err
	}
	warn(l.messages, s.loss)
	l.messages = io.Discard
	opened, lasts := &loan{readStore: s}, freeAfter
	if opened.isSnapshot() {
		lasts = renewAfter
	}
	opened.lent = time.AfterFunc(lasts, func() { l.drop(opened) })
	l.current = opened
	if opened.isSnapshot() || isShared(l.name) {
		return nil
	}
	if server, err := remote.Announce(l.name, l.by, func() { opened.lent.Reset(0) }); err == nil { // otherwise, other processes wait for freeAfter
		free := s.close
		s.close = func() error { return errors.Join(server.Close(), free()) }
	}
	return nil
}

func (s *loan) isSnapshot() bool {
	_, remote := s.Reader.(*remote.Reader)
	return remote
}

func (l *lender) giveBack(s *loan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	if s.old {
		_ = s.close() // the store was only read, so an error does no harm
	} else if !s.isSnapshot() {
		s.lent.Reset(freeAfter)
	}
}

// drop makes the lender open the store again for the next read, unless it has already replaced s.
// If s has no readers, drop closes it; otherwise the last reader does.
func (l *lender) drop(s *loan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s == nil || l.current != s {
		return
	}
	l.current, s.old = nil, true
	if s.lent.Stop(); s.users == 0 {
		_ = s.close() // the store was only read, so an error does no harm
	}
}

// close closes the store when its last reader has finished, and makes later calls to Read fail.
func (l *lender) close() {
	l.mu.Lock()
	l.done = true
	s := l.current
	l.mu.Unlock()
	l.drop(s)
}
