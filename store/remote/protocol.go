package remote

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # The protocol
//
// The process that has a store open listens on a Unix socket in its folder, readers.sock, with mode
// 0600. So only the owner of the store can connect. A process that was killed leaves the socket
// behind, and nobody answers there. The next server has the store's lock and replaces the socket.
//
// A connection is a session, and all answers within a session come from one snapshot. The snapshot
// is taken when the session begins, and released when the connection ends.
//
//	server  a greeting
//	client  a request    }
//	server  an answer    } as often as the client likes
//
// Each direction is one stream of encoding/gob. A list is sent in parts. The first answer contains
// the number of the list, and the client asks for the next part by that number until the list is
// complete. So a client may read several lists at once, and a slow client costs the server only an
// open iterator for each list. Pages are sent as the store keeps them (see [store.Packed]), and the
// client unpacks them. The two sides may run different versions of skink, but need the same
// [protocolVersion].
const protocolVersion = 8

const socketName = "readers.sock"

// maxSocketPath is the maximum length in bytes of a socket's path on all systems.
const maxSocketPath = 100

// atSocket calls do with a path of the socket in dir. If the usual path is too long, it uses a path
// through an open file, which exists only on Linux.
func atSocket(dir string, do func(path string) error) error {
	path := filepath.Join(dir, socketName)
	if len(path) <= maxSocketPath {
		return do(path)
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return do(fmt.Sprintf("/proc/self/fd/%d/%s", f.Fd(), socketName))
}

// A greeting is the server's first message in a session.
type greeting struct {
	Version int
	By      string    // command and process that have the store open, such as "skink crawl, process 4121"
	Moment  time.Time // time of the snapshot
	Refused bool      // whether the server has no snapshot for the client; if so, it closes the connection
	Busy    bool      // whether the server has too many sessions; if so, it closes the connection
}

type verb uint8

const (
	askPages verb = iota + 1
	askChanges
	askEnd
	askClusters
	askMembers
	askTally
	askMeta
	askSwap
	askState
	askURLs
	askHosts
	askCounts
	askDump
	askMore
)

// A request is one question from a client. Fields that its verb does not use are zero.
type request struct {
	Verb  verb
	IDs   []dedup.Hash
	Want  store.Want
	After store.Cursor
	Name  string
	Old   []byte // for askSwap; see IsSet
	Value []byte // for askSwap
	IsSet bool   // whether Old is not nil, which gob does not tell
	State frontier.State
	List  int   // list whose next part the client asks for
	Ended []int // lists that the client no longer needs
}

// An answer is the server's reply to a request. Fields that the verb of the request does not return
// are zero.
type answer struct {
	Fault *fault

	Cursor store.Cursor
	Tally  store.Tally
	Meta   []byte
	IsSet  bool
	State  frontier.State
	Counts frontier.Counts

	Part part
	List int // list that Part belongs to, from 1
	Done bool
}

type part struct {
	Pages    []store.Packed
	Changes  []*store.PackedChange
	Clusters []store.Cluster
	Members  [][]byte
	URLs     []string
	Hosts    []frontier.Host
	Dump     []*store.Part
}

// A fault is an error as sent to a client. Is is 1 plus the index in sentinels of the error that
// the fault wraps, or 0 if it wraps none of them.
type fault struct {
	Text string
	Is   int
}

// sentinels are the errors that a client can distinguish. Their order is part of the protocol.
var sentinels = []error{store.ErrCorrupt, store.ErrInUse, store.ErrFull, store.ErrNotExist, store.ErrChanged}

func faultOf(err error) *fault {
	if err == nil {
		return nil
	}
	return &fault{err.Error(), 1 + slices.IndexFunc(sentinels, func(s error) bool { return errors.Is(err, s) })}
}

// error returns f as an error that wraps the sentinel identified by f.Is.
func (f *fault) error() error {
	switch {
	case f == nil:
		return nil
	case f.Is < 1 || f.Is > len(sentinels):
		return errors.New(f.Text)
	}
	return &faultError{f.Text, sentinels[f.Is-1]}
}

type faultError struct {
	text string
	is   error
}

func (e *faultError) Error() string { return e.text }
func (e *faultError) Unwrap() error { return e.is }
