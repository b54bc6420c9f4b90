package wire

import (
	"context"
	"io"
	"slices"
	"sync"
)

// # Memory for bodies
//
// A thousand fetches may be under way at the same time, and each body may take megabytes. So each
// fetch has a share of a limited amount of memory, called a room. The share grows step by step
// while a body is read. It is released when the page is stored, or when the fetch ends without a
// page. If there is no memory for the next step, reading stops. The server then waits as on a slow
// connection, and the time limit of the exchange is suspended. The first step of a body is free, so
// small pages never wait. The number of fetches limits the memory for first steps.
//
// If all the memory belonged to bodies that need more, none of them could be read to its end. So
// the body that has waited longest may exceed the limit of the room, up to its own limit. When it
// has been read, or has reached its time limit, the next body may do so. This prevents a deadlock.
//
// Slow and unknown hosts share a separate room, so their stalled bodies do not block quick hosts.
//
// Known weaknesses: Only the final size of a body is counted. While a body is read, its buffer can
// take up to twice that size in addition. The memory for parsing a page is not counted here; the
// parser reserves it. If there is too little, the workers wait, and then the fetches wait too.

const roomStep = 64 << 10 // number of bytes by which a share grows

// A room is an amount of memory that the bodies of several responses share.
type room struct {
	limit int64 // in bytes

	mu     sync.Mutex
	held   int64   // guarded by mu: sum of all shares in bytes
	line   []*wish // guarded by mu: waiting requests for memory, oldest first
	beyond *Share  // guarded by mu: the share that may exceed the limit, because it has waited longest; nil if there is none
}

// A Share is the memory for the bodies of one fetch, including its redirects. A nil *Share has no
// limit.
type Share struct {
	of    *room
	bytes int64 // guarded by of.mu
}

// A wish is a request for more memory that waits until there is enough.
type wish struct {
	by      *Share
	bytes   int64
	granted chan struct{} // closed when the memory is granted
}

// grow adds bytes to the share, and waits until there is enough memory. The exchange's clock is
// stopped while it waits.
func (s *Share) grow(ctx context.Context, bytes int64, clock *Clock) error {
	w := &wish{s, bytes, make(chan struct{})}
	s.of.want(w)
	clock.stop()
	defer clock.start()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		s.of.forget(w)
		return context.Cause(ctx)
	}
}

func (r *room) want(w *wish) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.beyond == w.by {
		r.grant(w)
		return
	}
	r.line = append(r.line, w)
	r.serve()
}

func (r *room) forget(w *wish) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line = slices.DeleteFunc(r.line, func(other *wish) bool { return other == w })
	r.serve()
}

// Release releases the memory of a share.
func (s *Share) Release() {
	if s == nil {
		return
	}
	r := s.of
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held -= s.bytes
	s.bytes = 0
	if r.beyond == s {
		r.beyond = nil
	}
	r.serve()
}

// serve grants waiting requests for memory, oldest first, as long as there is enough. The caller
// holds mu.
func (r *room) serve() {
	for len(r.line) > 0 {
		w := r.line[0]
		if r.held+w.bytes > r.limit {
			if r.beyond != nil {
				return
			}
			r.beyond = w.by
		}
		r.line = r.line[1:]
		r.grant(w)
	}
}

func (r *room) grant(w *wish) {
	r.held += w.bytes
	w.by.bytes += w.bytes
	close(w.granted)
}

type sharing struct {
	src  io.Reader
	ctx  context.Context
	by   *Share
	at   *Clock
	left int64 // bytes that may be read before the share must grow
}

// within returns a reader that reads src, and grows the share while it does so.
func (s *Share) within(ctx context.Context, src io.Reader, clock *Clock) io.Reader {
	if s == nil {
		return src
	}
	return &sharing{src, ctx, s, clock, roomStep}
}

func (r *sharing) Read(p []byte) (int, error) {
	if r.left == 0 {
		if err := r.by.grow(r.ctx, roomStep, r.at); err != nil {
			return 0, err
		}
		r.left = roomStep
	}
	n, err := r.src.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	return n, err
}

// Rooms are the two rooms of a crawl: one for quick hosts, and one for all other hosts.
type Rooms [2]room

// NewRooms divides a number of bytes equally between two rooms.
func NewRooms(bytes int64) *Rooms {
	return &Rooms{{limit: bytes / 2}, {limit: bytes / 2}}
}

// Share returns an empty share of the memory for quick hosts, or for all other hosts. It grows as a
// body is read. The caller must release it.
func (r *Rooms) Share(quick bool) *Share {
	if quick {
		return &Share{of: &r[0]}
	}
	return &Share{of: &r[1]}
}

// Held returns the number of bytes in use in each room.
func (r *Rooms) Held() (quick, others int64) { return r[0].holds(), r[1].holds() }

func (r *room) holds() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

type inShare struct{}

// WithShare returns a context for requests whose bodies take their memory from s.
func WithShare(ctx context.Context, s *Share) context.Context {
	return context.WithValue(ctx, inShare{}, s)
}
