// Package memory divides a budget of bytes among concurrent work.
//
// Before a goroutine does work that may need a lot of memory, it takes a [Share] of a [Pool]. The
// share is the maximum that the work can need, and the goroutine waits until that much of the pool
// is free. After that, the share can only shrink. A goroutine with a share never waits for another
// share of the same pool, so there can be no deadlock.
package memory

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Default is the default memory budget of a process, in bytes.
const Default = 1 << 30

// A Pool is a budget in bytes that shares are taken from. A nil Pool has no limit.
type Pool struct {
	size int64
	free *semaphore.Weighted
}

// NewPool returns a pool of size bytes, or of one byte if size is less than 1.
func NewPool(size int64) *Pool {
	size = max(size, 1)
	return &Pool{size, semaphore.NewWeighted(size)}
}

// Take waits until n bytes are free. Waiting calls are served in order. If n exceeds the size of
// the pool, Take takes the whole pool, so that the work runs alone. Take fails only if ctx is done.
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

// A Share is a part of a pool. A nil Share is empty. Its methods are safe for concurrent use.
type Share struct {
	pool *Pool
	mu   sync.Mutex
	held int64 // guarded by mu
}

// Keep gives bytes back to the pool until n bytes are left. It does nothing if the share is
// smaller.
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

// Release gives the whole share back to the pool. A second call does nothing.
func (s *Share) Release() { s.Keep(0) }

// Shares divides the memory budget of a process, in bytes. The rest, at least three eighths of the
// budget, is for the store, the frontier and the program itself. Memory-mapped store files do not
// count, because the system can reclaim their pages.
type Shares struct {
	Reading int64 // trees, texts and shingles of pages, from when a page is read until it is stored
	Leaders int64 // shingles of cluster leaders, for comparing pages with them
	Bodies  int64 // bodies of pages waiting to be stored; a body that is being read can take three times its size
}

// Divide divides a budget in bytes into parts. A budget of 0 or less means [Default].
func Divide(budget int64) Shares {
	if budget <= 0 {
		budget = Default
	}
	const enough = 64 << 20 // in bytes; enough for the shingles of about 8,000 leaders of a thousand words each
	small := min(budget/16, enough)
	return Shares{Reading: budget / 2, Leaders: small, Bodies: small}
}
