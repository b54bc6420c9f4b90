package view

import (
	"context"
	"sync"
	"time"
)

// A latest holds a result over the whole store that takes long to compute: the last result, and
// whether the next one is being computed. Requests do not wait for it, and at most one computation
// runs.
type latest[T any] struct {
	mu      sync.Mutex
	made[T] // guarded by mu
}

// A made is the state of a latest.
type made[T any] struct {
	what   T         // the last result; zero: there is none yet
	at     time.Time // when the computation of the last result began
	making bool
	failed error // why the last computation failed; nil: it did not
}

// now returns the current state.
func (l *latest[T]) now() made[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.made
}

// renew computes the next result, unless that is already running, and returns when it is done. The
// end of life ends it.
func (l *latest[T]) renew(life context.Context, do func(context.Context) (T, error)) {
	l.mu.Lock()
	if l.making || life.Err() != nil {
		l.mu.Unlock()
		return
	}
	l.making = true
	l.mu.Unlock()
	began := time.Now()
	what, err := do(life)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.making, l.failed = false, err; err == nil {
		l.what, l.at = what, began
	}
}
