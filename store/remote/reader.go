package remote

import (
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"iter"
	"net"
	"slices"
	"sync"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
	"skink/store/disk"
)

var (
	// ErrNobody means that no process serves the store. Either no process has it open, or the
	// process that has it open is starting or ending, refuses this user, or does not serve readers.
	ErrNobody = errors.New("the process that is using the store is not responding")
	// ErrBusy means that the process is already serving as many readers as it can.
	ErrBusy = errors.New("the process that is using the store has too many readers")
	// ErrEnded means that the server process exited or closed the connection.
	ErrEnded = errors.New("the process that was using the store has ended or closed the connection: try again")
)

// A Reader reads a store through the process that has it open. Its methods are safe for concurrent
// use, but requests are sent one at a time. If a context is done during a request, the connection
// is closed, and later calls fail.
type Reader struct {
	disk.Cache // a client can access the folder itself, so it needs no request for cached values

	command string
	moment  time.Time
	conn    net.Conn

	mu    sync.Mutex // held from a request to its answer; guards everything below
	out   *gob.Encoder
	in    *gob.Decoder
	ended []int // lists that are no longer needed; the next request tells the server
	err   error // why the connection is no longer usable; nil while it is usable
}

var _ store.Reader = (*Reader)(nil)

// meetTimeout is the maximum time for starting a session. Normally, a session starts much faster.
const meetTimeout = 5 * time.Second

// Open starts a session with the process that has the store in dir open. The error is ErrNobody or
// ErrBusy if no session is possible.
func Open(ctx context.Context, dir string) (*Reader, error) {
	var conn net.Conn
	err := atSocket(dir, func(path string) (err error) {
		conn, err = (&net.Dialer{Timeout: meetTimeout}).DialContext(ctx, "unix", path)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNobody, err)
	}
	r, err := meet(ctx, conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	r.Cache = disk.Cache(dir)
	return r, nil
}

// Holder returns the command and the process that have the store in dir open, or "" if they do not say. A process that
// only shows the store then closes it.
func Holder(dir string) string {
	var hello greeting
	_ = atSocket(dir, func(path string) error {
		conn, err := net.DialTimeout("unix", path, meetTimeout)
		if err != nil {
			return err
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(meetTimeout)) // if this fails, so does the read
		return gob.NewDecoder(conn).Decode(&hello)
	})
	return hello.By
}

func meet(ctx context.Context, conn net.Conn) (*Reader, error) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(meetTimeout)) // if this fails, so does the first read
	r := &Reader{conn: conn, out: gob.NewEncoder(conn), in: gob.NewDecoder(conn)}
	var hello greeting
	err := r.in.Decode(&hello)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNobody, err)
	case hello.Version != protocolVersion:
		return nil, fmt.Errorf("%w: it is another version of skink (protocol version %d; this version of skink uses %d)", ErrNobody, hello.Version, protocolVersion)
	case hello.Busy:
		return nil, ErrBusy
	case hello.Refused:
		return nil, ErrNobody
	}
	r.command, r.moment = hello.By, hello.Moment
	return r, conn.SetDeadline(time.Time{})
}

// By returns the command and the process that have the store open, such as "skink crawl, process 4121".
func (r *Reader) By() string { return r.command }

// Moment returns the time of the reader's snapshot.
func (r *Reader) Moment() time.Time { return r.moment }

// Close ends the session.
func (r *Reader) Close() error {
	if err := r.conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// ask sends a request and returns the answer. If there is none, it returns an empty answer, which is
// done, and an error.
func (r *Reader) ask(ctx context.Context, q request) (*answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	none := &answer{Done: true}
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if r.err != nil {
		return none, r.err
	}
	q.Ended, r.ended = r.ended, nil
	stop := context.AfterFunc(ctx, func() { r.conn.Close() })
	defer stop()
	a := &answer{}
	err := r.out.Encode(q)
	if err == nil {
		err = r.in.Decode(a)
	}
	if err != nil {
		r.err = fmt.Errorf("%w: %w", err, ErrEnded)
		if ctx.Err() != nil {
			return none, ctx.Err()
		}
		return none, r.err
	}
	return a, a.Fault.error()
}

// leave records that the rest of a list is not needed, so that the next request tells the server.
func (r *Reader) leave(a *answer) {
	if a.Done {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(r.ended, a.List)
}

// inParts yields the values of a list, which it requests part by part. values returns the values in
// a part. If an error occurs, all values before it are yielded first.
func inParts[T any](ctx context.Context, r *Reader, q request, values func(*part) []T) iter.Seq2[T, error] {
	return store.Sequence(func(yield func(T) error) error {
		for q := q; ; {
			a, err := r.ask(ctx, q)
			part := values(&a.Part)
			var failed error
			for i := 0; i < len(part) && failed == nil; i++ {
				if failed = ctx.Err(); failed == nil {
					failed = yield(part[i])
				}
			}
			if err = cmp.Or(failed, err, ctx.Err()); err != nil {
				r.leave(a)
			}
			if err != nil || a.Done {
				return err
			}
			q = request{Verb: askMore, List: a.List}
		}
	})
}

// pagesAtOnce is the maximum number of pages, or of clusters, in one request.
const pagesAtOnce = 256

// Pages returns pages by their IDs. Each request asks for up to pagesAtOnce pages.
func (r *Reader) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	pages := make([]*store.Content, 0, len(ids))
	for some := range slices.Chunk(ids, pagesAtOnce) {
		a, err := r.ask(ctx, request{Verb: askPages, IDs: some, Want: want})
		if err != nil {
			return nil, err
		}
		for i := range a.Part.Pages {
			page, err := a.Part.Pages[i].Unpack()
			if err != nil {
				return nil, err
			}
			pages = append(pages, page)
		}
	}
	if len(pages) != len(ids) {
		return nil, fmt.Errorf("requested %d pages, but received %d", len(ids), len(pages))
	}
	return pages, nil
}

// Changes yields the changes after the given cursor.
func (r *Reader) Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error] {
	q := request{Verb: askChanges, After: after, Want: want}
	packed := inParts(ctx, r, q, func(p *part) []*store.PackedChange { return p.Changes })
	return store.Unpacked(packed, (*store.PackedChange).Unpack)
}

// End returns the cursor after the last change.
func (r *Reader) End(ctx context.Context) (store.Cursor, error) {
	a, err := r.ask(ctx, request{Verb: askEnd})
	return a.Cursor, err
}

// Clusters yields the clusters, largest first.
func (r *Reader) Clusters(ctx context.Context) iter.Seq2[store.Cluster, error] {
	return inParts(ctx, r, request{Verb: askClusters}, func(p *part) []store.Cluster { return p.Clusters })
}

// Members yields the members of the given leaders' clusters. Each request asks for up to
// pagesAtOnce clusters.
func (r *Reader) Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*store.Record, error] {
	return store.Sequence(func(yield func(*store.Record) error) error {
		for some := range slices.Chunk(leaders, pagesAtOnce) {
			packed := inParts(ctx, r, request{Verb: askMembers, IDs: some}, func(p *part) [][]byte { return p.Members })
			if err := store.Forward(store.Unpacked(packed, store.UnpackRecord), yield); err != nil {
				return err
			}
		}
		return nil
	})
}

// Tally returns the number of records of each kind and verdict.
func (r *Reader) Tally(ctx context.Context) (store.Tally, error) {
	a, err := r.ask(ctx, request{Verb: askTally})
	return a.Tally, err
}

// SwapMeta replaces a named value in the store, not in the snapshot; see [store.Meta.SwapMeta].
func (r *Reader) SwapMeta(ctx context.Context, name string, old, value []byte) error {
	_, err := r.ask(ctx, request{Verb: askSwap, Name: name, Old: old, Value: value, IsSet: old != nil})
	return err
}

// Meta returns a named value, or nil if there is none. Gob does not distinguish an empty value from
// nil, so a flag in the answer shows whether the value exists.
func (r *Reader) Meta(ctx context.Context, name string) ([]byte, error) {
	a, err := r.ask(ctx, request{Verb: askMeta, Name: name})
	if err != nil || !a.IsSet {
		return nil, err
	}
	return append([]byte{}, a.Meta...), nil
}

// State returns the state of a URL.
func (r *Reader) State(ctx context.Context, url string) (frontier.State, error) {
	a, err := r.ask(ctx, request{Verb: askState, Name: url})
	return a.State, err
}

// URLs yields the URLs in the given state.
func (r *Reader) URLs(ctx context.Context, state frontier.State) iter.Seq2[string, error] {
	return inParts(ctx, r, request{Verb: askURLs, State: state}, func(p *part) []string { return p.URLs })
}

// Hosts yields the hosts that have pending URLs.
func (r *Reader) Hosts(ctx context.Context) iter.Seq2[frontier.Host, error] {
	return inParts(ctx, r, request{Verb: askHosts}, func(p *part) []frontier.Host { return p.Hosts })
}

// Dump implements [store.Dumper] for the snapshot.
func (r *Reader) Dump(ctx context.Context) iter.Seq2[*store.Part, error] {
	return inParts(ctx, r, request{Verb: askDump}, func(p *part) []*store.Part { return p.Dump })
}

// Counts returns the number of URLs in each state.
func (r *Reader) Counts(ctx context.Context) (frontier.Counts, error) {
	a, err := r.ask(ctx, request{Verb: askCounts})
	return a.Counts, err
}
