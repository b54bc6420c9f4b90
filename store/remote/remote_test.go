package remote

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/internal/tools/storetest"
	"skink/store"
	"skink/store/badger"
)

var ctx = context.Background()

// whole is a store that is its own snapshot.
type whole struct{ store.Store }

func (whole) Close() error { return nil }

func (w whole) PackedPages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]store.Packed, error) {
	pages, err := w.Pages(ctx, ids, want)
	packed := make([]store.Packed, len(pages))
	for i, page := range pages {
		if page != nil {
			packed[i] = packedOf(page)
		}
	}
	return packed, err
}

func (w whole) PackedChanges(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.PackedChange, error] {
	return store.Unpacked(w.Changes(ctx, after, want), func(c *store.Change) (*store.PackedChange, error) {
		return &store.PackedChange{Packed: packedOf(&c.Content), Cursor: c.Cursor}, nil
	})
}

func (w whole) PackedMembers(ctx context.Context, leaders []dedup.Hash) iter.Seq2[[]byte, error] {
	return store.Unpacked(w.Members(ctx, leaders), func(r *store.Record) ([]byte, error) { return json.Marshal(r) })
}

// packedOf returns a page as a store on disk keeps it.
func packedOf(c *store.Content) store.Packed {
	record, err := json.Marshal(&c.Record)
	if err != nil {
		panic(err)
	}
	p := store.Packed{Record: record, Kept: c.Kept, Sketch: c.Sketch}
	if c.Kept {
		p.Text = store.PackMarked([]byte(c.Text), []byte(c.Markdown), c.Headings)
	}
	if c.Links != nil {
		p.Links = store.PackLinks(c.Record.URL, c.Links)
	}
	return p
}

// served is a store that is written to directly. Each read opens a session with a server.
type served struct {
	store.Store
	t   *testing.T
	dir string
}

func serveStore(t *testing.T, s store.Store, take func() (Snapshot, error)) store.Store {
	dir := t.TempDir()
	server, err := Serve(dir, "a test", take, s.SwapMeta)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return &served{s, t, dir}
}

// The promises of a store about reading also hold for a Reader.
func TestServedMemory(t *testing.T) {
	t.Parallel()
	storetest.RunReader(t, func(t *testing.T) store.Store {
		s := storetest.NewMemory()
		return serveStore(t, s, func() (Snapshot, error) { return whole{s}, nil })
	})
}

func TestServedBadger(t *testing.T) {
	t.Parallel()
	storetest.RunReader(t, func(t *testing.T) store.Store {
		s := openBadger(t, t.TempDir())
		return serveStore(t, s, func() (Snapshot, error) { return s.Snapshot() })
	})
}

func openBadger(t *testing.T, dir string) *badger.Store {
	t.Helper()
	s, err := badger.Open(dir, badger.Options{Create: true, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func openReader(t *testing.T, dir string) *Reader {
	t.Helper()
	r, err := Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// through calls ask with a Reader in a new session.
func through[T any](s *served, ask func(*Reader) (T, error)) (T, error) {
	r, err := Open(ctx, s.dir)
	if err != nil {
		s.t.Error(err)
		var none T
		return none, err
	}
	defer r.Close()
	return ask(r)
}

// listThrough reads a list in a new session.
func listThrough[T any](s *served, list func(*Reader) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		_, _ = through(s, func(r *Reader) (bool, error) {
			for v, err := range list(r) {
				if !yield(v, err) {
					break
				}
			}
			return true, nil
		})
	}
}

func (s *served) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	return through(s, func(r *Reader) ([]*store.Content, error) { return r.Pages(ctx, ids, want) })
}

func (s *served) Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error] {
	return listThrough(s, func(r *Reader) iter.Seq2[*store.Change, error] { return r.Changes(ctx, after, want) })
}

func (s *served) End(ctx context.Context) (store.Cursor, error) {
	return through(s, func(r *Reader) (store.Cursor, error) { return r.End(ctx) })
}

func (s *served) Clusters(ctx context.Context) iter.Seq2[store.Cluster, error] {
	return listThrough(s, func(r *Reader) iter.Seq2[store.Cluster, error] { return r.Clusters(ctx) })
}

func (s *served) Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*store.Record, error] {
	return listThrough(s, func(r *Reader) iter.Seq2[*store.Record, error] { return r.Members(ctx, leaders) })
}

func (s *served) Tally(ctx context.Context) (store.Tally, error) {
	return through(s, func(r *Reader) (store.Tally, error) { return r.Tally(ctx) })
}

func (s *served) Meta(ctx context.Context, name string) ([]byte, error) {
	return through(s, func(r *Reader) ([]byte, error) { return r.Meta(ctx, name) })
}

func (s *served) Kept(ctx context.Context, name string) ([]byte, error) {
	return through(s, func(r *Reader) ([]byte, error) { return r.Kept(ctx, name) })
}

func (s *served) Keep(ctx context.Context, name string, value []byte) error {
	_, err := through(s, func(r *Reader) (bool, error) { return true, r.Keep(ctx, name, value) })
	return err
}

func (s *served) State(ctx context.Context, url string) (frontier.State, error) {
	return through(s, func(r *Reader) (frontier.State, error) { return r.State(ctx, url) })
}

func (s *served) URLs(ctx context.Context, state frontier.State) iter.Seq2[string, error] {
	return listThrough(s, func(r *Reader) iter.Seq2[string, error] { return r.URLs(ctx, state) })
}

func (s *served) Dump(ctx context.Context) iter.Seq2[*store.Part, error] {
	return listThrough(s, func(r *Reader) iter.Seq2[*store.Part, error] { return r.Dump(ctx) })
}

func (s *served) Hosts(ctx context.Context) iter.Seq2[frontier.Host, error] {
	return listThrough(s, func(r *Reader) iter.Seq2[frontier.Host, error] { return r.Hosts(ctx) })
}

func (s *served) Counts(ctx context.Context) (frontier.Counts, error) {
	return through(s, func(r *Reader) (frontier.Counts, error) { return r.Counts(ctx) })
}

// A client may read several lists at once, one inside the other. A list that the client stops
// reading does not count toward the limit any more.
func TestListsInLists(t *testing.T) {
	t.Parallel()
	s, dir := storetest.NewMemory(), t.TempDir()
	for n := range 3 * partValues {
		write(t, s, n)
	}
	serveMemory(t, dir, s, defaultLimits)
	r := openReader(t, dir)
	seen := 0
	for c, err := range r.Changes(ctx, "", store.WantText) {
		if err != nil {
			t.Fatal(err)
		}
		for inner, err := range r.Changes(ctx, c.Cursor, store.WantRecord) {
			if err != nil {
				t.Fatal(err)
			}
			if inner.Record.URL == c.Record.URL {
				t.Fatalf("%s comes after itself", c.Record.URL)
			}
			break
		}
		seen++
	}
	if seen != 3*partValues {
		t.Errorf("saw %d of %d changes", seen, 3*partValues)
	}
}

// Errors that callers distinguish by errors.Is can also be distinguished by a client.
func TestErrorsKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, err := Serve(dir, "a test", func() (Snapshot, error) { return broken{whole{storetest.NewMemory()}}, nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	r := openReader(t, dir)
	if _, err := r.Tally(ctx); !errors.Is(err, store.ErrCorrupt) || err.Error() != errBroken.Error() {
		t.Errorf("Tally: %v", err)
	}
	seen := 0
	var last error
	for _, err := range r.Clusters(ctx) {
		seen++
		last = err
	}
	if seen != 2 || !errors.Is(last, store.ErrCorrupt) {
		t.Errorf("Clusters came %d times and ended with %v, want one and then %v", seen, last, store.ErrCorrupt)
	}
	if _, err := r.Counts(ctx); err != nil {
		t.Errorf("after an error: %v", err)
	}
}

var errBroken = fmt.Errorf("read the tally: %w", store.ErrCorrupt)

type broken struct{ whole }

func (broken) Tally(context.Context) (store.Tally, error) { return store.Tally{}, errBroken }
func (broken) Clusters(context.Context) iter.Seq2[store.Cluster, error] {
	return func(yield func(store.Cluster, error) bool) {
		_ = yield(store.Cluster{Members: 1}, nil) && yield(store.Cluster{}, errBroken)
	}
}

func serveMemory(t *testing.T, dir string, s *storetest.Memory, l limits) *Server {
	t.Helper()
	server, err := serve(dir, "a test", func() (Snapshot, error) { return whole{s}, nil }, s.SwapMeta, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server
}

// Only the owner of the socket can connect, and the server removes the socket at the end.
func TestSocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := serveMemory(t, dir, storetest.NewMemory(), defaultLimits)
	wantOwnSocket(t, dir)
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	wantEmpty(t, dir)
	if _, err := Open(ctx, dir); !errors.Is(err, ErrNobody) {
		t.Errorf("Open: %v", err)
	}
}

func wantOwnSocket(t *testing.T, dir string) {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, socketName))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := info.Mode(), fs.ModeSocket|0o600; got != want {
		t.Errorf("the socket has mode %v, want %v", got, want)
	}
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// The server works in a folder whose path is too long for a socket.
func TestLongPath(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the path is too long on this system")
	}
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	server := serveMemory(t, dir, storetest.NewMemory(), defaultLimits)
	wantOwnSocket(t, dir)
	r := openReader(t, dir)
	if !strings.HasPrefix(r.By(), "a test, process ") || time.Since(r.Moment()) > time.Hour {
		t.Errorf("by %q at %v", r.By(), r.Moment())
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	wantEmpty(t, dir)
}

// A process that was killed leaves its socket. The next server replaces it, and a reader that finds
// it gets ErrNobody.
func TestStaleSocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	wantOwnSocket(t, dir)
	if _, err := Open(ctx, dir); !errors.Is(err, ErrNobody) {
		t.Errorf("Open: %v", err)
	}
	serveMemory(t, dir, storetest.NewMemory(), defaultLimits)
	openReader(t, dir)
}

// A reader does not talk to a server with another version of the protocol.
func TestOtherVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err == nil {
			defer conn.Close()
			err = gob.NewEncoder(conn).Encode(greeting{Version: protocolVersion + 1})
		}
		if err != nil {
			t.Error(err)
		}
	}()
	if _, err := Open(ctx, dir); !errors.Is(err, ErrNobody) || !strings.Contains(err.Error(), "another version of skink") {
		t.Errorf("Open: %v", err)
	}
}

// A session without requests is ended after a while, which releases its snapshot. The client then
// gets ErrEnded.
func TestIdleReader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := defaultLimits
	l.idle = time.Millisecond
	closed := make(chan struct{})
	server, err := serve(dir, "a test", func() (Snapshot, error) { return telling{whole{storetest.NewMemory()}, closed}, nil }, nil, l)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	r := openReader(t, dir)
	<-closed
	if _, err := r.Tally(ctx); !errors.Is(err, ErrEnded) {
		t.Errorf("Tally: %v", err)
	}
}

type telling struct {
	whole
	closed chan struct{}
}

func (t telling) Close() error { close(t.closed); return nil }

// The number of simultaneous readers is limited, and when one ends, another can begin.
func TestBusy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := defaultLimits
	l.sessions = 1
	closed := make(chan struct{})
	server, err := serve(dir, "a test", func() (Snapshot, error) { return telling{whole{storetest.NewMemory()}, closed}, nil }, nil, l)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	first := openReader(t, dir)
	if _, err := Open(ctx, dir); !errors.Is(err, ErrBusy) {
		t.Errorf("Open: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	<-closed
}

// When a server is closed, it closes the connections of the remaining readers, which get ErrEnded.
func TestCut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := defaultLimits
	l.grace = 0
	server := serveMemory(t, dir, storetest.NewMemory(), l)
	r := openReader(t, dir)
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Tally(ctx); !errors.Is(err, ErrEnded) {
		t.Errorf("Tally: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, socketName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket: %v", err)
	}
}

// A call whose context ends returns the error of the context.
func TestCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	serveMemory(t, dir, storetest.NewMemory(), defaultLimits)
	r := openReader(t, dir)
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := r.Tally(stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("Tally: %v", err)
	}
	if _, err := r.Tally(ctx); err != nil {
		t.Errorf("the next question: %v", err)
	}
}

// write commits page n. Every third page is a leader, and the two pages after it are its
// duplicates.
func write(t testing.TB, s store.Index, n int) {
	url := func(n int) string { return fmt.Sprintf("https://example.com/%d", n) }
	e := &store.Entry{State: frontier.Fetched, Text: store.Pack([]byte(url(n)))}
	e.Record = store.Record{ID: dedup.HashOf([]byte(url(n))), URL: url(n), Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}, Fetch: store.Fetch{Words: 1}}
	if lead := n - n%3; lead != n {
		e.Record.Verdict, e.Record.Resemblance = dedup.Near, 0.9
		e.Record.Leader, e.Record.DuplicateOf = dedup.HashOf([]byte(url(lead))), url(lead)
	}
	if _, err := s.Commit(ctx, []*store.Entry{e}); err != nil {
		t.Error(err)
	}
}

// While a crawl writes, each reader sees the store at one moment: the counts agree, and the leader
// of every member is there.
func TestOneMoment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openBadger(t, dir)
	server, err := Serve(dir, "a test", func() (Snapshot, error) { return s.Snapshot() }, s.SwapMeta)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	const pages, readers, rounds = 600, 3, 8
	written := make(chan struct{})
	go func() {
		defer close(written)
		for n := range pages {
			write(t, s, n)
		}
	}()
	done := make(chan error, readers)
	for range readers {
		go func() {
			for range rounds {
				if err := readMoment(dir); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range readers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	<-written
	if err := readMoment(dir); err != nil {
		t.Error(err)
	}
}

// readMoment reads all data of a store, and checks that it is consistent.
func readMoment(dir string) error {
	r, err := Open(ctx, dir)
	if err != nil {
		return err
	}
	defer r.Close()
	var seen store.Tally
	for c, err := range r.Changes(ctx, "", store.WantText) {
		if err != nil {
			return err
		}
		if seen.Add(&c.Record); c.Text != c.Record.URL {
			return fmt.Errorf("text of %s is %q", c.Record.URL, c.Text)
		}
	}
	tally, err := r.Tally(ctx)
	if err != nil {
		return err
	}
	members := int64(0)
	for c, err := range r.Clusters(ctx) {
		if err != nil {
			return err
		}
		leader, err := r.Pages(ctx, []dedup.Hash{c.Leader}, store.WantRecord)
		if err != nil || leader[0] == nil {
			return fmt.Errorf("leader %s: %v, %v", c.Leader, leader, err)
		}
		for m, err := range r.Members(ctx, []dedup.Hash{c.Leader}) {
			if err != nil || m.DuplicateOf != leader[0].Record.URL {
				return fmt.Errorf("member of %s: %+v, %v", leader[0].Record.URL, m, err)
			}
			members++
		}
	}
	if seen.Pages() != tally.Pages() || seen.Near != tally.Near || members != tally.Near {
		return fmt.Errorf("%d records, of them %d near; counted are %d and %d; clusters have %d members", seen.Pages(), seen.Near, tally.Pages(), tally.Near, members)
	}
	return nil
}

// A process that announces itself is named with its number. It hears of each process that asks, and serves no readers.
func TestAnnounce(t *testing.T) {
	dir := t.TempDir()
	if by := Holder(dir); by != "" {
		t.Errorf("nobody is %q", by)
	}
	asked := make(chan bool, 2)
	server, err := Announce(dir, "skink view", func() { asked <- true })
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Holder(dir), fmt.Sprint("skink view, process ", os.Getpid()); got != want {
		t.Errorf("the holder is %q, want %q", got, want)
	}
	if _, err := Open(ctx, dir); !errors.Is(err, ErrNobody) {
		t.Errorf("a reader gets %v", err)
	}
	if err := server.Close(); err != nil || len(asked) != 2 {
		t.Errorf("it heard %d times, want 2: %v", len(asked), err)
	}
}
