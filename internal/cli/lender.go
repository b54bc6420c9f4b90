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
	name string
	say  io.Writer

	mu   sync.Mutex
	has  *loan // guarded by mu: the open store; nil means that the store is closed
	free bool  // guarded by mu: a timer that calls giveFree is running
	said bool  // guarded by mu: messages about opening the store were printed, and are not repeated
	done bool  // guarded by mu: the lender is closed
}

// A loan is an open store, with the number of its current readers. The field used is the time at
// which the last reader finished.
type loan struct {
	*readStore
	users  int
	opened time.Time
	used   time.Time
	old    bool // new readers do not get this store; its last reader closes it
}

const (
	renewAfter = 2 * time.Second // age at which a snapshot of a running crawl is replaced by a new one
	freeAfter  = time.Minute     // time without a read after which the store is closed
)

func newLender(name string, say io.Writer) *lender { return &lender{name: name, say: say} }

// Read opens the store if necessary, and calls do with it. If do fails, the next Read opens the
// store again.
func (l *lender) Read(ctx context.Context, do func(store.Reader) error) error {
	s, err := l.take(ctx)
	if err != nil {
		return err
	}
	defer l.giveBack(s)
	err = do(s.Reader)
	if err != nil { // the snapshot came from another process, which may have ended: open the store again for the next read
		l.drop(s)
	}
	return err
}

// take returns the open store and counts the caller as a reader of it. It opens the store if it is
// closed or if its snapshot is older than renewAfter.
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
		_ = s.close() // the store was only read, so an error does no harm
	}
}

// drop makes the lender open the store again for the next read, unless it has already replaced s.
func (l *lender) drop(s *loan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.has == s {
		l.retire()
	}
}

// retire makes the lender stop using the open store for new reads. It closes the store at once if
// the store has no readers; otherwise the last reader closes it. The caller holds mu.
func (l *lender) retire() {
	s := l.has
	l.has, s.old = nil, true
	if s.users == 0 {
		_ = s.close() // the store was only read, so an error does no harm
	}
}

// giveFree is called by a timer. It closes the store if nobody has read it for freeAfter, and
// otherwise starts the timer again.
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

// close closes the store as soon as nobody reads it, and makes later calls of Read fail.
func (l *lender) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
	if l.has != nil {
		l.retire()
	}
}
