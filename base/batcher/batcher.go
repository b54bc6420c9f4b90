// Package batcher combines concurrent calls.
package batcher

import (
	"context"
	"sync"
)

// A Batcher combines concurrent calls into one batch, which takes one transaction or one round trip
// to a server. Only one batch runs at a time. If two could run, batches would be half as large. On
// PostgreSQL, the server would need 50% more time for each page.
type Batcher[Q, A any] struct {
	do func(calls [][]Q) ([][]A, error)

	mu      sync.Mutex
	running bool          // whether a goroutine runs batches; guarded by mu
	waiting []*call[Q, A] // calls that are not in a batch yet; guarded by mu
}

// New returns a Batcher. do returns, for each call of a batch, one answer for each question.
func New[Q, A any](do func(calls [][]Q) ([][]A, error)) *Batcher[Q, A] { return &Batcher[Q, A]{do: do} }

type call[Q, A any] struct {
	asks    []Q
	answers []A
	err     error
	done    chan struct{}
}

// MaxTogether is the maximum number of questions in a batch of several calls. A call with more
// questions forms its own batch.
const MaxTogether = 128

// Ask returns the answers to one call. If ctx is done first, Ask returns the error of ctx, but the
// batch continues.
func (b *Batcher[Q, A]) Ask(ctx context.Context, asks []Q) ([]A, error) {
	c := &call[Q, A]{asks: asks, done: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, c)
	first := !b.running
	b.running = true
	b.mu.Unlock()
	switch {
	case first && ctx.Done() == nil: // the call need not be left early, and a new goroutine would have to grow its stack
		b.runNext()
	case first:
		go b.run()
	}
	select {
	case <-c.done:
		return c.answers, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run runs batches until no call waits.
func (b *Batcher[Q, A]) run() {
	for calls := b.next(); calls != nil; calls = b.next() {
		b.answer(calls)
	}
}

// runNext runs the next batch. Another goroutine runs those after it.
func (b *Batcher[Q, A]) runNext() {
	b.answer(b.next())
	if calls := b.next(); calls != nil {
		go func() {
			b.answer(calls)
			b.run()
		}()
	}
}

func (b *Batcher[Q, A]) answer(calls []*call[Q, A]) {
	all := make([][]Q, len(calls))
	for i, c := range calls {
		all[i] = c.asks
	}
	answers, err := b.do(all)
	for i, c := range calls {
		if c.err = err; err == nil {
			c.answers = answers[i]
		}
		close(c.done)
	}
}

// next removes the calls for the next batch from waiting and returns them. If there are none, it
// returns nil, and the caller must run no more batches.
func (b *Batcher[Q, A]) next() []*call[Q, A] {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, size := 0, 0
	for n < len(b.waiting) && (n == 0 || size+len(b.waiting[n].asks) <= MaxTogether) {
		size += len(b.waiting[n].asks)
		n++
	}
	if n == 0 {
		b.running = false
		return nil
	}
	calls := b.waiting[:n:n]
	b.waiting = b.waiting[n:]
	return calls
}
