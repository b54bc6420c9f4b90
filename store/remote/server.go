package remote

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
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

// A Swap replaces a named value of the store, as [store.Meta.SwapMeta] does. It is all that clients may
// write.
type Swap func(ctx context.Context, name string, old, value []byte) error

type limits struct {
	sessions int           // maximum number of concurrent sessions
	lists    int           // maximum number of open lists in a session
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
	idle: 10 * time.Minute, answer: time.Minute, age: time.Hour,
	grace: 2 * time.Second,
}

// A Server gives clients access to the store that this process has open.
type Server struct {
	dir     string
	command string
	take    func() (Snapshot, error)
	swap    Swap
	limits  limits

	listener net.Listener
	ctx      context.Context // all sessions end when ctx is canceled
	cancel   context.CancelFunc
	accepts  sync.WaitGroup
	serving  sync.WaitGroup
	slots    chan struct{} // holds one value for each session
}

// Serve starts a server for clients that read the store in dir. It runs until Close is called.
// command is the command that has the store open; clients show it in messages. Serve calls take
// once for each session, and swap for values that clients write. The caller must hold the lock of the store, because Serve replaces files
// that another server left in dir.
func Serve(dir, command string, take func() (Snapshot, error), swap Swap) (*Server, error) {
	return serve(dir, command, take, swap, defaultLimits)
}

// Announce starts a server that serves no readers. It tells other processes which command has the store in dir open,
// and calls asked whenever one of them wants to know. The caller must hold a lock of the store, shared or not.
func Announce(dir, command string, asked func()) (*Server, error) {
	return serve(dir, command, func() (Snapshot, error) { asked(); return nil, ErrNobody }, nil, defaultLimits)
}

func serve(dir, command string, take func() (Snapshot, error), swap Swap, l limits) (*Server, error) {
	command = fmt.Sprintf("%s, process %d", command, os.Getpid())
	s := &Server{dir: dir, command: command, take: take, swap: swap, limits: l, slots: make(chan struct{}, l.sessions)}
	err := leave(dir)
	if err == nil {
		s.listener, err = listen(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("start the server for readers of the store: %w", err)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.accepts.Go(s.accept)
	return s, nil
}

func listen(dir string) (l *net.UnixListener, err error) {
	err = atSocket(dir, func(path string) error {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // the path may have been valid only in atSocket, so leave removes the socket
	if err := os.Chmod(filepath.Join(dir, socketName), 0o600); err != nil {
		return nil, errors.Join(err, l.Close(), leave(dir))
	}
	return l, nil
}

// leave removes the socket from the folder, even one left by a killed process.
func leave(dir string) error {
	err := os.Remove(filepath.Join(dir, socketName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Close stops accepting clients and removes the socket from the folder. Open sessions have
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
		select {
		case s.slots <- struct{}{}:
			s.serving.Go(func() {
				defer func() { <-s.slots }()
				s.serve(conn)
			})
		default:
			_ = gob.NewEncoder(conn).Encode(greeting{Version: protocolVersion, By: s.command, Busy: true})
			_ = conn.Close()
		}
	}
}

// serve handles a connection until it ends. An error only closes the connection, because the client
// reports it.
func (s *Server) serve(conn net.Conn) {
	defer conn.Close()
	defer context.AfterFunc(s.ctx, func() { conn.Close() })()
	oldest := time.Now().Add(s.limits.age)
	snapshot, err := s.take()
	if err != nil {
		_ = gob.NewEncoder(conn).Encode(greeting{Version: protocolVersion, By: s.command, Refused: true})
		return
	}
	defer snapshot.Close()
	out := gob.NewEncoder(conn)
	if err := out.Encode(greeting{Version: protocolVersion, By: s.command, Moment: time.Now()}); err != nil {
		return
	}
	in := gob.NewDecoder(conn)
	session := &session{ctx: s.ctx, from: snapshot, swap: s.swap, lists: map[int]*list{}, maxLists: s.limits.lists}
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
