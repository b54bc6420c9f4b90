package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// # Raw responses
//
// Package net/http turns the list of fields into a map, changes the case of names, and removes
// fields that it acts upon. An archive needs the bytes that were sent. So net/http uses a [tap] as
// its connection. The tap is above TLS, and passes the heads on to a [recorder]. HTTP/2 has no such
// heads on the wire, only fields with lower-case names. These are written as an HTTP/1.1 head,
// sorted by name, as in other archives.
//
// A recorder belongs to one exchange. net/http lends a connection to the next exchange as soon as
// it has read a head without a body, which is before the first exchange returns. So each exchange
// gives the tap a new recorder before its request is written.
//
// A server may send bytes before a request is sent. net/http may take them for the response, but no
// recorder keeps them. So a recorded head must have the fields that net/http has read; otherwise
// the exchange fails.
//
// The body is kept with its content coding. net/http has already removed the transfer coding.

// A Raw is a request and its response as sent over the wire, except that the transfer coding has
// been removed.
type Raw struct {
	URL      string    // the requested URL
	At       time.Time // time of the request
	Request  []byte    // head of the request, up to and including the empty line; the body of a POST request of a script follows
	Head     []byte    // head of the response, up to and including the empty line
	Body     []byte    // body of the response, with its content coding; may share memory with Page.Body
	Cut      Cut       // reason why Body is incomplete; "" if it is complete
	Protocol string    // such as "http/1.1" or "h2"
	Address  string    // IP address of the server
	Posted   string    // identifies a POST request of a script, with its body; "" for other requests
	Private  bool      // whether the request may have had the user's secrets, so that others may not be allowed to see the response
}

// A Cut is the reason why the body of an archived response is incomplete. The values are those of
// the WARC-Truncated field.
type Cut string

const (
	Whole           Cut = ""
	CutLength       Cut = "length"     // the crawler cut the body at its size limit
	CutTime         Cut = "time"       // the crawler cut the body at its time limit
	CutDisconnected Cut = "disconnect" // the connection ended early
)

// cutBy returns the reason why a body is incomplete after an error. A body that cannot be decoded
// may still be complete.
func cutBy(err error) Cut {
	_, undecoded := errors.AsType[*EncodingError](err)
	switch {
	case err == nil || undecoded:
		return Whole
	case IsTimeout(err):
		return CutTime
	case errors.Is(err, ErrTooLarge):
		return CutLength
	}
	return CutDisconnected
}

// rest reads the rest of a body without decoding it. It also returns the reason if the body is
// incomplete.
func (r *Raw) rest(wire *layer) ([]byte, Cut) {
	rest, err := readAll(wire)
	return rest, cutBy(err)
}

// errUnsolicited means that a part of the response had arrived before the request was sent.
var errUnsolicited = errors.New("the server began its response before the request was sent")

// rawOf returns a Raw with the heads of a request and its response. It is called when the head of
// the response has arrived. It fails if the head that was recorded is not that of resp.
func rawOf(a *attempt, request *http.Request, resp *http.Response) (*Raw, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := &Raw{Protocol: "http/1.1"}
	if a.wire != nil {
		if at, err := netip.ParseAddrPort(a.wire.RemoteAddr().String()); err == nil {
			r.Address = at.Addr().Unmap().String()
		}
	}
	if a.recorder != nil {
		r.Request, r.Head = a.recorder.heads()
		read, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(r.Head)), request)
		if err != nil || read.Status != resp.Status || !maps.EqualFunc(read.Header, resp.Header, slices.Equal) {
			_ = a.wire.Close() // its next response could be taken for that of another request
			return nil, errUnsolicited
		}
	} else {
		r.Protocol = "h2"
		r.Request = headOf(fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n", request.Method, request.URL.RequestURI(), request.Host), request.Header)
		r.Head = headOf(strings.TrimRight(fmt.Sprintf("HTTP/1.1 %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)), " ")+"\r\n", resp.Header)
	}
	r.Request, r.Head = withoutSecrets(request.Context(), r.Request), withoutSecrets(request.Context(), r.Head)
	return r, nil
}

// headOf writes fields as an HTTP/1.1 head, sorted by name.
func headOf(start string, fields http.Header) []byte {
	b := bytes.NewBufferString(start)
	_ = fields.Write(b) // a buffer takes everything
	b.WriteString("\r\n")
	return b.Bytes()
}

// A tap is an HTTP/1 connection that passes what is written and read to the recorder of the
// exchange that uses the connection.
type tap struct {
	net.Conn
	to atomic.Pointer[recorder]
}

func (t *tap) Write(p []byte) (int, error) {
	t.to.Load().write(p)
	return t.Conn.Write(p)
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.to.Load().read(p[:n])
	return n, err
}

// A recorder records the heads of one request and its response.
type recorder struct {
	mu      sync.Mutex
	sent    []byte // guarded by mu: the request
	got     []byte // guarded by mu: the part of the response's head that has arrived
	scanned int    // guarded by mu: number of bytes of got already searched for the end of the head
	ended   bool   // guarded by mu: got is the whole head
}

func (r *recorder) write(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, p...)
}

func (r *recorder) read(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended && len(r.sent) > 0 {
		r.keep(p)
	}
}

// keep adds received bytes of a response to the head. Heads of interim responses may precede the
// final head (RFC 9110, section 15.2), and are dropped. net/http limits the size of the head.
func (r *recorder) keep(p []byte) {
	r.got = append(r.got, p...)
	for {
		end := headEnd(r.got, r.scanned)
		if end < 0 {
			r.scanned = max(len(r.got)-3, 0)
			return
		}
		if !isInterim(r.got) {
			r.got, r.ended = r.got[:end:end], true
			return
		}
		r.got, r.scanned = r.got[end:], 0
	}
}

// headEnd returns the index in b after the empty line that ends a head, or -1 if the head is
// incomplete. The search begins at index start.
func headEnd(b []byte, start int) int {
	for i := start; i < len(b); i++ {
		if b[i] == '\n' && (bytes.HasSuffix(b[:i], []byte("\n")) || bytes.HasSuffix(b[:i], []byte("\n\r"))) {
			return i + 1
		}
	}
	return -1
}

// isInterim reports whether a head belongs to an interim response, which another head follows.
func isInterim(head []byte) bool {
	_, status, _ := bytes.Cut(head, []byte(" "))
	return bytes.HasPrefix(status, []byte("1")) && !bytes.HasPrefix(status, []byte("101"))
}

func (r *recorder) heads() (sent, got []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.sent[:max(headEnd(r.sent, 0), 0)]), bytes.Clone(r.got)
}
