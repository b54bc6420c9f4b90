package cli

import (
	"context"
	"io"
	"sync"
	"time"

	"skink/store"
	"skink/store/remote"
)

// A lender gives short reads access to a store, and keeps the store open between them. A reader of
// a running crawl sees a snapshot, so it is reopened after renewAfter. A store without a writer is
// closed after freeAfter without a read, because no crawl can begin while the store is open for
// reading.
type lender struct {
	name string
	say  io.Writer

	mu   sync.Mutex
	has  *loan // guarded by mu; nil: the store is closed
	free bool  // guarded by mu: a timer for closing the store is running
	said bool  // guarded by mu: the writer of the store was printed
	done bool  // guarded by mu: the lender is closed
}

// A loan is an open store with the number of its readers.
type loan struct {
	*readStore
	users  int
	opened time.Time
	used   time.Time
	old    bool // close it after its last reader
}

const (
	renewAfter = 2 * time.Second // for a reader that sees a snapshot of a running crawl
	freeAfter  = time.Minute     // without a read
)

func newLender(name string, say io.Writer) *lender { return &lender{name: name, say: say} }

// Read calls do with the store.
func (l *lender) Read(ctx context.Context, do func(store.Reader) error) error {
	s, err := l.take(ctx)
	if err != nil {
		return err
	}
	defer l.giveBack(s)
	err = do(s.Reader)
	if err != nil { // the process that has the store may have ended: try to open it again
		l.drop(s)
	}
	return err
}

// take opens the store if it is not open, or if its snapshot is old.
func (l *lender) take(ctx context.Context) (*loan, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return nil, context.Canceled
	}
	if s := l.has; s != nil {
		if _, moment := s.Reader.(*remote.Reader); moment && time.Since(s.opened) > renewAfter {
			l.retire()
		}
	}
	if l.has == nil {
		say := l.say
		if l.said {
			say = io.Discard
		}
		s, err := openToRead(ctx, l.name, say)
		if err != nil {
			return nil, err
		}
		if !l.said {
			warn(l.say, s.loss)
		}
		l.said = true
		l.has = &loan{readStore: s, opened: time.Now()}
		if !l.free {
			l.free = true
			time.AfterFunc(freeAfter, l.giveFree)
		}
	}
	l.has.users++
	return l.has, nil
}

func (l *lender) giveBack(s *loan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.users--
	s.used = time.Now()
	if s.old && s.users == 0 {
		_ = s.close() // it was only read
	}
}

// drop makes the next read open the store again.
func (l *lender) drop(s *loan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.has == s {
		l.retire()
	}
}

// retire closes the store when it has no readers. The caller holds mu.
func (l *lender) retire() {
	s := l.has
	l.has, s.old = nil, true
	if s.users == 0 {
		_ = s.close() // it was only read
	}
}

// giveFree closes the store if there was no read for freeAfter.
func (l *lender) giveFree() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.has != nil && l.has.users == 0 && time.Since(l.has.used) >= freeAfter {
		l.retire()
	}
	if l.free = l.has != nil; l.free {
		time.AfterFunc(freeAfter, l.giveFree)
	}
}

// close closes the store after its last read, and refuses new reads.
func (l *lender) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
	if l.has != nil {
		l.retire()
	}
}
