package view

import (
	"context"
	"sync"
	"time"
)

// A latest is something of the whole store that takes long to make: what was made last, and whether
// the next is being made. It is made beside the answers, by one at a time.
type latest[T any] struct {
	mu      sync.Mutex
	made[T] // guarded by mu
}

// A made is what a latest knows.
type made[T any] struct {
	what   T         // zero: none was made
	at     time.Time // when its making began
	making bool
	failed error // why the last could not be made
}

// now is what is known at this moment.
func (l *latest[T]) now() made[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.made
}

// renew makes the next one, if nobody does already, and returns when that is done. life ends it.
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
