package remote

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
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
// The process that has a store open keeps two files in its folder while it serves clients:
//
//	READERS       the address at which it listens, and two secrets, as JSON; mode 0600
//	readers.sock  a Unix socket; mode 0600
//
// If a socket is impossible, because its path is too long for the system or the file system does
// not support sockets, the process listens on loopback instead, and READERS names the port. Only
// the owner of the store can read READERS, so only the owner can connect. A process that was killed
// leaves both files behind. The next server has the store's lock and replaces them. A reader that
// finds them before that gets no response.
//
// A connection is a session, and all answers within a session come from one snapshot. The snapshot
// is taken when the session begins, and released when the connection ends.
//
//	client  the question in READERS, 64 hexadecimal digits
//	server  the answer in READERS, 64 hexadecimal digits
//	server  a greeting
//	client  a request    }
//	server  an answer    } as often as the client likes
//
// The two secrets prove to each side that the other has read the same file. They are needed because
// on loopback, another program may now use the port of a killed process. After the secrets, each
// direction is one stream of encoding/gob. A list is sent in parts. The first answer contains the
// number of the list, and the client asks for the next part by that number until the list is
// complete. So a client may read several lists at once, and a slow client costs the server only an
// open iterator for each list. Pages are sent as the store keeps them (see [store.Packed]), and the
// client unpacks them. The two sides may run different versions of skink, but need the same
// [protocolVersion].
const protocolVersion = 4

const (
	addressName     = "READERS"
	halfAddressName = "READERS.new"
	socketName      = "readers.sock"
	secretSize      = 64 // in hexadecimal digits
)

// An address is the content of the file READERS: how to reach the server.
type address struct {
	Version  int    `json:"version"`
	Network  string `json:"network"` // "unix" or "tcp"
	Address  string `json:"address"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

func newAddress(at net.Addr) address {
	return address{protocolVersion, at.Network(), at.String(), newSecret(), newSecret()}
}

func newSecret() string {
	b := make([]byte, secretSize/2)
	_, _ = rand.Read(b) // Read never fails
	return hex.EncodeToString(b)
}

// write writes the file READERS to dir in one step, so that no client reads half of it.
func (a address) write(dir string) error {
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	half := filepath.Join(dir, halfAddressName)
	if err := os.WriteFile(half, append(b, '\n'), 0o600); err != nil { // WriteFile would keep the permissions of an old file, so Serve has already removed it
		return err
	}
	return os.Rename(half, filepath.Join(dir, addressName))
}

func readAddress(dir string) (a address, err error) {
	b, err := os.ReadFile(filepath.Join(dir, addressName))
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return a, fmt.Errorf("%s: %w", addressName, err)
	}
	if a.Version != protocolVersion {
		return a, fmt.Errorf("%s was written by another version of skink (protocol version %d; this version of skink uses %d)", addressName, a.Version, protocolVersion)
	}
	return a, nil
}

// leave removes the server's files from the folder, including those left by a killed process.
func leave(dir string) error {
	var all error
	for _, name := range []string{addressName, halfAddressName, socketName} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// A greeting is the server's first message in a session.
type greeting struct {
	By     string    // command that has the store open, such as "skink crawl"
	Moment time.Time // time of the snapshot
	Busy   bool      // whether the server has too many sessions; if so, it closes the connection
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
var sentinels = []error{store.ErrCorrupt, store.ErrInUse, store.ErrFull, store.ErrNotExist}

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
