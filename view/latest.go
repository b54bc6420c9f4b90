package view

import (
	"context"
	"sync"
	"time"
)

// A latest holds the last result of a computation over the whole store that takes long. At most one
// computation runs at a time. Requests do not wait for it, but show the last result.
type latest[T any] struct {
	mu      sync.Mutex
	made[T] // guarded by mu
}

// A made is a last result, with the state of the computation of the next one.
type made[T any] struct {
	what   T         // the last result; zero: there is none
	at     time.Time // when the computation of the last result began
	making bool
	failed error // why the last computation failed; nil: it did not
}

// now returns the last result and the state of the computation.
func (l *latest[T]) now() made[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.made
}

// renew calls do to compute the next result and returns when that is done. It does nothing if a
// computation is already running or life is done. do is cancelled when life is done.
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
