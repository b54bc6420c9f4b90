package view

import (
	"context"
	"sync"
	"time"
)

// A latest holds the last result of a long computation over the whole store. At most one
// computation runs at a time. Requests do not wait for it; they show the last result.
type latest[T any] struct {
	mu      sync.Mutex
	made[T] // guarded by mu
}

// A made holds the last result and the state of the next computation.
type made[T any] struct {
	result T // last result; the zero value if there is none
	state
}

// A state is what pages show of a computation.
type state struct {
	At     time.Time // start of the computation of the last result; zero if there is none
	Making bool
	Failed error // error of the last computation; nil if it succeeded
}

func (l *latest[T]) now() made[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.made
}

// renew calls do with life to compute the next result, and returns after do returns. It does
// nothing if a computation is already running or if life is done.
func (l *latest[T]) renew(life context.Context, do func(context.Context) (T, error)) {
	l.mu.Lock()
	if l.Making || life.Err() != nil {
		l.mu.Unlock()
		return
	}
	l.Making = true
	l.mu.Unlock()
	began := time.Now()
	result, err := do(life)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Making, l.Failed = false, err; err == nil {
		l.result, l.At = result, began
	}
}

// wanted returns the state of l. If there is no result yet, it begins do, unless a crawl in this process is writing to
// the store.
func wanted[T any](v *View, l *latest[T], do func()) made[T] {
	known := l.now()
	if known.At.IsZero() && known.Failed == nil && !known.Making && v.opt.Crawl == nil {
		v.beside.Go(do)
		known.Making = true
	}
	return known
}
