package postgres

import (
	"context"
	"sync"
)

// A batcher does calls that wait at the same time together, in one round trip. It has one batch under
// way: with two, batches are half as large, and the server works half as long again for a page.
type batcher[Q, A any] struct {
	do func(calls [][]Q) ([][]A, error) // answers each question of each call

	mu      sync.Mutex
	running bool          // guarded by mu
	waiting []*call[Q, A] // guarded by mu
}

type call[Q, A any] struct {
	asks    []Q
	answers []A
	err     error
	done    chan struct{}
}

// mostTogether bounds the questions of one batch, unless a single call has more.
const mostTogether = 128

// ask returns the answers to one call. If ctx ends first, the batch goes on without it.
func (b *batcher[Q, A]) ask(ctx context.Context, asks []Q) ([]A, error) {
	c := &call[Q, A]{asks: asks, done: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, c)
	if !b.running {
		b.running = true
		go b.run()
	}
	b.mu.Unlock()
	select {
	case <-c.done:
		return c.answers, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run does batches until no call waits.
func (b *batcher[Q, A]) run() {
	for calls := b.next(); calls != nil; calls = b.next() {
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
}

// next takes the calls of the next batch from those that wait; nil: none does, and run ends.
func (b *batcher[Q, A]) next() []*call[Q, A] {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, size := 0, 0
	for n < len(b.waiting) && (n == 0 || size+len(b.waiting[n].asks) <= mostTogether) {
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
