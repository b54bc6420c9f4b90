package remote

import (
	"context"
	"crypto/subtle"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// A Snapshot is a store as it was at one moment. It returns pages packed, as they are stored.
// Clients unpack them, which saves work in the process that has the store open.
type Snapshot interface {
	frontier.Reader

	// PackedPages is like [store.Reader.Pages], but returns packed pages. A missing page is a
	// Packed without a record.
	PackedPages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]store.Packed, error)
	// PackedChanges is like [store.Reader.Changes], but yields packed changes.
	PackedChanges(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.PackedChange, error]
	// PackedMembers is like [store.Reader.Members], but yields records as JSON.
	PackedMembers(ctx context.Context, leaders []dedup.Hash) iter.Seq2[[]byte, error]

	End(ctx context.Context) (store.Cursor, error)
	Clusters(ctx context.Context) iter.Seq2[store.Cluster, error]
	Tally(ctx context.Context) (store.Tally, error)
	Meta(ctx context.Context, name string) ([]byte, error)
	store.Dumper

	Close() error
}

type limits struct {
	sessions int           // maximum number of concurrent sessions
	lists    int           // maximum number of open lists in a session
	hello    time.Duration // maximum time for exchanging the secrets
	idle     time.Duration // maximum time between two requests
	answer   time.Duration // maximum time for a client to receive an answer
	age      time.Duration // maximum duration of a session
	grace    time.Duration // time that sessions have to end on their own when the server is closed
}

// A snapshot keeps overwritten data on disk, so a client that hangs must not keep its snapshot
// forever. The limit idle is ten minutes because the command report --complete may compute for
// minutes between two requests.
var defaultLimits = limits{
	sessions: 32, lists: 32,
	hello: 5 * time.Second, idle: 10 * time.Minute, answer: time.Minute, age: time.Hour,
	grace: 2 * time.Second,
}

// A Server gives clients access to the store that this process has open.
type Server struct {
	dir     string
	command string
	take    func() (Snapshot, error)
	limits  limits
	at      address

	listener net.Listener
	ctx      context.Context // all sessions end when ctx is canceled
	cancel   context.CancelFunc
	accepts  sync.WaitGroup
	serving  sync.WaitGroup
	slots    chan struct{} // holds one value for each session
	refusals chan struct{} // holds one value for each client that is being refused
}

// Serve starts a server for clients that read the store in dir. It runs until Close is called.
// command is the command that has the store open; clients show it in messages. Serve calls take
// once for each session. The caller must hold the lock of the store, because Serve replaces files
// that another server left in dir.
func Serve(dir, command string, take func() (Snapshot, error)) (*Server, error) {
	return serve(dir, command, take, defaultLimits)
}

func serve(dir, command string, take func() (Snapshot, error), l limits) (*Server, error) {
	s := &Server{dir: dir, command: command, take: take, limits: l, slots: make(chan struct{}, l.sessions), refusals: make(chan struct{}, l.sessions)}
	if err := leave(dir); err != nil {
		return nil, fmt.Errorf("start the server for readers of the store: %w", err)
	}
	var err error
	if s.listener, err = listen(dir); err != nil {
		return nil, fmt.Errorf("start the server for readers of the store: %w", err)
	}
	s.at = newAddress(s.listener.Addr())
	if err := s.at.write(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("start the server for readers of the store: %w", err), s.listener.Close(), leave(dir))
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.accepts.Go(s.accept)
	return s, nil
}

// listen listens on a Unix socket in dir or, if that is impossible, on a loopback address.
func listen(dir string) (net.Listener, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(abs, socketName)
	l, err := net.Listen("unix", name)
	if err == nil {
		if err = os.Chmod(name, 0o600); err == nil {
			return l, nil
		}
		_ = l.Close() // a loopback address works as well
	}
	l, tcpErr := net.Listen("tcp", "127.0.0.1:0")
	if tcpErr != nil {
		return nil, errors.Join(err, tcpErr)
	}
	return l, nil
}

// Close stops accepting clients and removes the server's files from the folder. Open sessions have
// limits.grace to end on their own. Then their connections are closed, and their clients get an
// error. The caller must close the store afterwards, not before.
func (s *Server) Close() error {
	err := errors.Join(leave(s.dir), s.listener.Close())
	s.accepts.Wait()
	late := time.AfterFunc(s.limits.grace, s.cancel)
	s.serving.Wait()
	late.Stop()
	s.cancel()
	if err != nil {
		return fmt.Errorf("stop serving readers of the store: %w", err)
	}
	return nil
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // probably too many open files, so wait
			select {
			case <-s.ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
			continue
		}
		switch {
		case s.begin(s.slots, func() { s.serve(conn, false) }):
		case s.begin(s.refusals, func() { s.serve(conn, true) }):
		default:
			_ = conn.Close()
		}
	}
}

// begin runs do in a new goroutine if slots has room, and reports whether it did.
func (s *Server) begin(slots chan struct{}, do func()) bool {
	select {
	case slots <- struct{}{}:
	default:
		return false
	}
	s.serving.Go(func() {
		defer func() { <-slots }()
		do()
	})
	return true
}

// serve handles a connection until it ends. An error only closes the connection, because the client
// reports it.
func (s *Server) serve(conn net.Conn, busy bool) {
	defer conn.Close()
	defer context.AfterFunc(s.ctx, func() { conn.Close() })()
	oldest := time.Now().Add(s.limits.age)
	_ = conn.SetDeadline(time.Now().Add(s.limits.hello)) // if this fails, so does the first read or write
	if !s.meet(conn) {
		return
	}
	out := gob.NewEncoder(conn)
	if busy {
		_ = out.Encode(greeting{By: s.command, Busy: true})
		return
	}
	snapshot, err := s.take()
	if err != nil {
		return
	}
	defer snapshot.Close()
	if err := out.Encode(greeting{By: s.command, Moment: time.Now()}); err != nil {
		return
	}
	in := gob.NewDecoder(conn)
	session := newSession(s.ctx, snapshot, s.limits.lists)
	defer session.end()
	for time.Now().Before(oldest) {
		var q request
		_ = conn.SetReadDeadline(time.Now().Add(s.limits.idle))
		if err := in.Decode(&q); err != nil {
			return
		}
		a := session.answer(&q)
		_ = conn.SetWriteDeadline(time.Now().Add(s.limits.answer))
		if err := out.Encode(a); err != nil {
			return
		}
	}
}

// meet exchanges the secrets with a client, and reports whether the client sent the right one.
func (s *Server) meet(conn net.Conn) bool {
	question := make([]byte, secretSize)
	if _, err := io.ReadFull(conn, question); err != nil {
		return false
	}
	if subtle.ConstantTimeCompare(question, []byte(s.at.Question)) != 1 {
		return false
	}
	_, err := io.WriteString(conn, s.at.Answer)
	return err == nil
}
