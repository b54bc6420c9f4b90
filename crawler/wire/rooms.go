package wire

import (
	"context"
	"io"
	"slices"
	"sync"
)

// # Memory for bodies in flight
//
// A thousand turns may wait on the network, and each body may have megabytes. So a body takes its
// share of a room step by step while it is read. The share is given back when the page is stored,
// or when the turn ends otherwise. All rooms together have one bound. If a body gets no more
// memory, reading stops for now: its server waits, as with a slow line, and the time limit of the
// exchange stands still. The first step of a body is free, so that small pages never wait; the
// number of turns bounds those.
//
// If bodies that need more hold all the memory, none of them would ever end. So the body that has
// waited longest may exceed the bound, one at a time and up to its own limit. It ends by itself or
// at its time limit, and then the next one may. So there is no deadlock.
//
// Slow or unknown hosts have a room of their own, so that their stalled bodies do not block quick
// hosts.
//
// Known weaknesses: only the final size of a body is counted. While a body is read, its buffer can
// be twice as large again. The memory for parsing a page is not counted here: the parser takes
// memory for that, and if there is none, the workers wait, and then the fetches.

const roomStep = 64 << 10

// A room is an amount of memory, in bytes, that the bodies of several answers share.
type room struct {
	most int64

	mu     sync.Mutex
	held   int64   // guarded by mu: sum of all shares
	line   []*wish // guarded by mu: waiting requests for memory, oldest first
	beyond *Share  // guarded by mu: the share that may exceed the limit, because it has waited longest; nil: none
}

// A Share is the memory that the bodies of one turn hold. A nil *Share has no limit.
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

// grow adds bytes to the share, waiting until there is room. The clock of the exchange stands still
// while it waits.
func (s *Share) grow(ctx context.Context, bytes int64, clock *Clock) error {
	w := &wish{s, bytes, make(chan struct{})}
	s.of.want(w)
	select {
	case <-w.granted:
		return nil
	default:
	}
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

// Release gives a share back.
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

// serve grants waiting requests for memory, oldest first, as far as there is room. The caller holds
// the lock. A sharing reads a body, and takes memory from a Share for what it reads.
func (r *room) serve() {
	for len(r.line) > 0 {
		w := r.line[0]
		if r.held+w.bytes > r.most {
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

// A sharing reader reads a body as far as there is room for it.
type sharing struct {
	src  io.Reader
	ctx  context.Context
	by   *Share
	at   *Clock
	left int64 // bytes that may be read before more memory must be taken
}

// within returns a reader of src that takes memory from the share as it reads.
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

// Rooms are the two rooms of a crawl: for quick hosts, and for the others.
type Rooms [2]room

// NewRooms divides a number of bytes into two rooms.
func NewRooms(bytes int64) *Rooms {
	return &Rooms{{most: bytes / 2}, {most: bytes / 2}}
}

// Share returns an empty share of the memory for quick hosts, or of that for the others. It grows as
// a body is read. The caller must give it back.
func (r *Rooms) Share(quick bool) *Share {
	if quick {
		return &Share{of: &r[0]}
	}
	return &Share{of: &r[1]}
}

// Held returns how many bytes the bodies of each room hold.
func (r *Rooms) Held() (quick, others int64) { return r[0].holds(), r[1].holds() }

func (r *room) holds() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

type inShare struct{}

// WithShare returns a context for requests whose bodies take their memory from a share.
func WithShare(ctx context.Context, s *Share) context.Context {
	return context.WithValue(ctx, inShare{}, s)
}

func shareOf(ctx context.Context) *Share {
	s, _ := ctx.Value(inShare{}).(*Share)
	return s
}
