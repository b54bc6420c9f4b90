package cli

import (
	"context"
	"io"
	"sync"
	"time"

	"skink/store"
	"skink/store/remote"
)

// A lender keeps a store open for many short reads. If a crawl is writing to the store, a read sees
// a snapshot, so the lender opens a new one after renewAfter. If no process is writing to it, the
// lender closes the store after freeAfter without a read, because a crawl cannot start while the
// store is open for reading.
type lender struct {
	name     string
	messages io.Writer

	mu      sync.Mutex
	current *loan // guarded by mu: the open store; nil means that the store is closed
	free    bool  // guarded by mu: whether a timer that calls giveFree is running
	warned  bool  // guarded by mu: whether messages about opening the store have been printed; they are not repeated
	done    bool  // guarded by mu: whether the lender is closed
}

type loan struct {
	*readStore
	users  int
	opened time.Time
	used   time.Time
	old    bool // whether new readers get another store; the last reader then closes this one
}

const (
	renewAfter = 2 * time.Second // age at which the snapshot of a running crawl is replaced
	freeAfter  = time.Minute     // idle time after which the store is closed
)

func newLender(name string, messages io.Writer) *lender {
	return &lender{name: name, messages: messages}
}

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
// it is closed or if its snapshot is older than renewAfter.
func (l *lender) take(ctx context.Context) (*loan, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return nil, context.Canceled
	}
	if s := l.current; s != nil {
		if _, moment := s.Reader.(*remote.Reader); moment && time.Since(s.opened) > renewAfter {
			l.retire()
		}
	}
	if l.current == nil {
		messages := l.messages
		if l.warned {
			messages = io.Discard
		}
		s, err := openToRead(ctx, l.name, messages)
		if err != nil {
			return nil, err
		}
		if !l.warned {
			warn(l.messages, s.loss)
		}
		l.warned = true
		l.current = &loan{readStore: s, opened: time.Now()}
		if !l.free {
			l.free = true
			time.AfterFunc(freeAfter, l.giveFree)
		}
	}
	l.current.users++
	return l.current, nil
}

func (l *lender) giveBack(s *loan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.users--
	s.used = time.Now()
	if s.old && s.users == 0 {
		_ = s.close() // the store was only read, so an error does no harm
	}
}

// drop makes the lender open the store again for the next read, unless it has already replaced s.
func (l *lender) drop(s *loan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current == s {
		l.retire()
	}
}

// retire makes the lender stop using the open store for new reads. If the store has no readers,
// retire closes it; otherwise the last reader does. The caller must hold mu.
func (l *lender) retire() {
	s := l.current
	l.current, s.old = nil, true
	if s.users == 0 {
		_ = s.close() // the store was only read, so an error does no harm
	}
}

// giveFree is called by a timer. It closes the store if there was no read within freeAfter, and
// otherwise starts the timer again.
func (l *lender) giveFree() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != nil && l.current.users == 0 && time.Since(l.current.used) >= freeAfter {
		l.retire()
	}
	if l.free = l.current != nil; l.free {
		time.AfterFunc(freeAfter, l.giveFree)
	}
}

// close closes the store when its last reader has finished, and makes later calls to Read fail.
func (l *lender) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
	if l.current != nil {
		l.retire()
	}
}
