// Package memory divides a budget of bytes among concurrent work.
//
// Before work that may need much memory, its goroutine takes a [Share] of a [Pool], as large as the
// most that the work can need, and waits until there is room. A share only shrinks. The holder of a
// share never waits for more of the same pool, so there can be no deadlock.
package memory

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Default is the budget of a process, in bytes.
const Default = 1 << 30

// A Pool is a part of the budget. A nil Pool has no limit.
type Pool struct {
	size int64
	free *semaphore.Weighted
}

// NewPool returns a pool of size bytes, or of one byte if size is less.
func NewPool(size int64) *Pool {
	size = max(size, 1)
	return &Pool{size, semaphore.NewWeighted(size)}
}

// Take waits until n bytes are free, first come, first served. If n is larger than the whole pool,
// Take takes all of it, so that such work runs alone. The error is that of ctx.
func (p *Pool) Take(ctx context.Context, n int64) (*Share, error) {
	if p == nil {
		return nil, ctx.Err()
	}
	n = min(max(n, 0), p.size)
	if err := p.free.Acquire(ctx, n); err != nil {
		return nil, err
	}
	return &Share{pool: p, held: n}, nil
}

// A Share is a held part of a pool. A nil Share holds nothing. Several goroutines may call its
// methods.
type Share struct {
	pool *Pool
	mu   sync.Mutex
	held int64 // guarded by mu
}

// Keep gives back all but n bytes.
func (s *Share) Keep(n int64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n = max(n, 0); n < s.held {
		s.pool.free.Release(s.held - n)
		s.held = n
	}
}

// Release gives back all of the share. It may be called more than once.
func (s *Share) Release() { s.Keep(0) }

// Parts are the parts of the budget of a process. The remaining three eighths are for the store,
// the frontier and the program itself. The files that the store maps are not counted: the system
// can take these pages back.
type Parts struct {
	Reading int64 // trees, texts and shingles of pages, from when they are read until they are stored
	Leaders int64 // shingles of pages that others were compared with
	Bodies  int64 // bodies between fetch and store, as they are kept: while a body is read, it can take three times as much
}

// Divide divides a budget of that many bytes; 0: [Default].
func Divide(budget int64) Parts {
	if budget <= 0 {
		budget = Default
	}
	const enough = 64 << 20 // for leaders: some 8,000 pages of a thousand words
	small := min(budget/16, enough)
	return Parts{Reading: budget / 2, Leaders: small, Bodies: small}
}
