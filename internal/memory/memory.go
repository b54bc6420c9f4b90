// Package memory shares out a budget of bytes among those who work at the same time.
//
// Before work that may need much memory, its goroutine takes a [Share] of a [Pool], as large as the
// work can cost at most, and waits until there is room. A share only shrinks. Nobody who holds a
// share waits for more of the same pool, so nobody waits in a circle.
package memory

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Default is the budget of a process, in bytes.
const Default = 1 << 30

// A Pool is a part of the budget. A nil one has room for everything.
type Pool struct {
	size int64
	free *semaphore.Weighted
}

// NewPool makes a pool of so many bytes, at least one.
func NewPool(size int64) *Pool {
	size = max(size, 1)
	return &Pool{size, semaphore.NewWeighted(size)}
}

// Take waits until n bytes are free, first come, first served. Work that is larger than the
// whole pool gets all of it, and so is done alone. The error is that of ctx.
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

// A Share is what somebody holds of a pool. A nil one is nothing. Its methods may be called
// from several goroutines.
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

// Release gives all of it back. It may be called more than once.
func (s *Share) Release() { s.Keep(0) }

// Parts are what the budget of a process is divided into. What is left over, three eighths,
// is for the store, the frontier and the program itself. The files that the store maps come
// on top: the system can take those back.
type Parts struct {
	Reading int64 // trees, texts and shingles of pages, from when they are read until they are stored
	Leaders int64 // shingles of pages that others were compared with
	Bodies  int64 // bodies between fetch and store, as they are kept: while a body is read, it can take three times as much
}

// Divide divides a budget of so many bytes; 0: [Default].
func Divide(budget int64) Parts {
	if budget <= 0 {
		budget = Default
	}
	const enough = 64 << 20 // for leaders: some 8,000 pages of a thousand words
	small := min(budget/16, enough)
	return Parts{Reading: budget / 2, Leaders: small, Bodies: small}
}
