package cli

import (
	"context"
	"io"
	"sync"
	"time"

	"skink/store"
	"skink/store/remote"
)

// A lender lends a store to those who look at it for a moment, again and again. It has the store
// open between two looks that follow each other soon. A reader that asks a running crawl sees one
// moment of it, so it is renewed. A store that nobody writes to is given free when nobody has
// looked for a while, for no crawl can begin as long as it is being read.
type lender struct {
	name string
	say  io.Writer

	mu   sync.Mutex
	has  *loan // guarded by mu; nil: the store is closed
	free bool  // guarded by mu: somebody looks whether it can be given free
	said bool  // guarded by mu: people know who writes to the store
	done bool  // guarded by mu: nothing is lent any more
}

// A loan is an open store and how many look at it.
type loan struct {
	*readStore
	users  int
	opened time.Time
	used   time.Time
	old    bool // it is closed when its last user is gone
}

const (
	renewAfter = 2 * time.Second // of a reader that sees one moment of a running crawl
	freeAfter  = time.Minute     // without a look
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
	if err != nil { // the process that has the store may have ended, and another reader may be had
		l.drop(s)
	}
	return err
}

// take opens the store if it is not open, or if what it shows is old.
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

// drop lets the next look open the store anew.
func (l *lender) drop(s *loan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.has == s {
		l.retire()
	}
}

// retire closes the store when nobody looks at it. The caller holds mu.
func (l *lender) retire() {
	s := l.has
	l.has, s.old = nil, true
	if s.users == 0 {
		_ = s.close() // it was only read
	}
}

// giveFree closes the store if nobody has looked at it for a while.
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

// close lends nothing any more.
func (l *lender) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
	if l.has != nil {
		l.retire()
	}
}
