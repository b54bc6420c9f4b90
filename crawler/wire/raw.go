package wire

import (
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
	"time"
)

// # Raw responses
//
// Package net/http turns the list of fields into a map, changes the case of names, and removes
// fields that it acts upon. An archive needs the bytes that were sent. So net/http uses a [tap] as
// its connection. The tap is above TLS, and records the heads. HTTP/2 has no such heads on the
// wire, only fields with lower-case names. These are written as an HTTP/1.1 head, sorted by name,
// as in other archives.
//
// The body is kept with its content coding. net/http has already removed the transfer coding.

// A Raw is a request and its response as sent over the wire, except that the transfer coding has
// been removed.
type Raw struct {
	URL      string    // the requested URL
	At       time.Time // time of the request
	Request  []byte    // head of the request, up to and including the empty line
	Head     []byte    // head of the response, up to and including the empty line
	Body     []byte    // body of the response, with its content coding; may share memory with Page.Body
	Cut      Cut       // reason why Body is incomplete; "" if it is complete
	Protocol string    // such as "http/1.1" or "h2"
	Address  string    // IP address of the server
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

// rawOf returns a Raw with the heads of a request and its response. It is called when the head of
// the response has arrived.
func rawOf(a *attempt, request *http.Request, resp *http.Response) *Raw {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := &Raw{Protocol: "http/1.1"}
	if a.wire != nil {
		if at, err := netip.ParseAddrPort(a.wire.RemoteAddr().String()); err == nil {
			r.Address = at.Addr().Unmap().String()
		}
	}
	if a.tap != nil {
		r.Request, r.Head = a.tap.heads()
		r.Request, r.Head = withoutSecrets(request.Context(), r.Request), withoutSecrets(request.Context(), r.Head)
		return r
	}
	r.Protocol = "h2"
	r.Request = withoutSecrets(request.Context(), headOf(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n", request.URL.RequestURI(), request.Host), request.Header))
	r.Head = headOf(strings.TrimRight(fmt.Sprintf("HTTP/1.1 %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)), " ")+"\r\n", resp.Header)
	r.Head = withoutSecrets(request.Context(), r.Head)
	return r
}

// headOf writes fields as an HTTP/1.1 head, sorted by name.
func headOf(start string, fields http.Header) []byte {
	b := bytes.NewBufferString(start)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		for _, value := range fields[name] {
			b.WriteString(name + ": " + value + "\r\n")
		}
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// A tap is an HTTP/1 connection that records the heads of the last request and response. The
// crawler's requests have no body, and the next request is sent on a connection only after the last
// response has been read.
type tap struct {
	net.Conn

	mu      sync.Mutex
	sent    []byte // guarded by mu: the head of the request
	got     []byte // guarded by mu: the part of the response's head that has arrived
	scanned int    // guarded by mu: number of bytes of got already searched for the end of the head
	ended   bool   // guarded by mu: got is the whole head
}

// begin removes the heads of the previous exchange on this connection.
func (t *tap) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent, t.got, t.scanned, t.ended = nil, nil, 0, false
}

func (t *tap) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.sent = append(t.sent, p...)
	t.mu.Unlock()
	return t.Conn.Write(p)
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.keep(p[:n])
	}
	return n, err
}

// keep adds received bytes of a response to the head. Heads of interim responses may precede the
// final head (RFC 9110, section 15.2), and are dropped. net/http limits the size of the head.
func (t *tap) keep(p []byte) {
	t.got = append(t.got, p...)
	for {
		end := headEnd(t.got, t.scanned)
		if end < 0 {
			t.scanned = max(len(t.got)-3, 0)
			return
		}
		if !isInterim(t.got) {
			t.got, t.ended = t.got[:end:end], true
			return
		}
		t.got, t.scanned = t.got[end:], 0
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

func (t *tap) heads() (sent, got []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.sent), bytes.Clone(t.got)
}
