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

// # An answer as it came
//
// Package net/http hands over a map where there was a list, in which names have another case, and
// leaves out fields that it acts upon. An archive wants what was sent. So the heads are kept where
// they go by: a [tap] is the connection that net/http uses, above TLS. Of HTTP/2 there is no head
// but for the fields that it stood for, in no order and in lower case: those are written down as a
// head of HTTP/1.1, in the order of their names, which is what other archives hold of it.
//
// The body is kept as it was before its content coding was taken away. Transfer coding is the
// connection's affair, and gone.

// A Raw is a request and its answer as they went over the wire, without transfer coding.
type Raw struct {
	URL      string    // asked for
	At       time.Time // when
	Request  []byte    // head, with the empty line behind it
	Head     []byte    // of the answer, the same
	Body     []byte    // of the answer, with its content coding. It may share memory with Page.Body
	Cut      Cut       // why Body is not all of it
	Protocol string    // "http/1.1", "h2"
	Address  string    // IP address of the server
}

// A Cut is why a body is not whole, by the words of WARC.
type Cut string

const (
	Whole           Cut = ""
	CutLength       Cut = "length"     // a limit of ours
	CutTime         Cut = "time"       // a limit of ours
	CutDisconnected Cut = "disconnect" // the connection ended
)

// cutBy is why a body is not whole that could not be read for some reason. One that cannot be
// decoded may be whole all the same.
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

// rest reads what nobody decoded of a body, and says why that is not all.
func (r *Raw) rest(wire *layer) ([]byte, Cut) {
	rest, err := readAll(wire)
	return rest, cutBy(err)
}

// rawOf is what is known of an exchange when the head of its answer has come.
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
		return r
	}
	r.Protocol = "h2"
	r.Request = headOf(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n", request.URL.RequestURI(), request.Host), request.Header)
	r.Head = headOf(strings.TrimRight(fmt.Sprintf("HTTP/1.1 %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)), " ")+"\r\n", resp.Header)
	return r
}

// headOf writes fields as a head of HTTP/1.1, by their names.
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

// A tap is a connection of HTTP/1 that keeps the heads of the last request and answer. No body
// goes with our requests, and none is sent before the answer to the last one was read.
type tap struct {
	net.Conn

	mu      sync.Mutex
	sent    []byte // guarded by mu: the head of the request
	got     []byte // guarded by mu: the head of the answer, as far as it came
	scanned int    // guarded by mu: bytes of got in which the head does not end
	ended   bool   // guarded by mu: got is the whole head
}

// begin forgets the exchange before.
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

// keep takes in what came of an answer. A head may come after others that say it is yet to come
// (RFC 9110, section 15.2). It is bounded because net/http bounds it.
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

// headEnd is where a head ends, with its empty line, that does not end before some byte; -1: it
// goes on.
func headEnd(b []byte, from int) int {
	for i := from; i < len(b); i++ {
		if b[i] == '\n' && (bytes.HasSuffix(b[:i], []byte("\n")) || bytes.HasSuffix(b[:i], []byte("\n\r"))) {
			return i + 1
		}
	}
	return -1
}

// isInterim says whether a head is one that another will follow.
func isInterim(head []byte) bool {
	_, status, _ := bytes.Cut(head, []byte(" "))
	return bytes.HasPrefix(status, []byte("1")) && !bytes.HasPrefix(status, []byte("101"))
}

// heads are those of the exchange.
func (t *tap) heads() (sent, got []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.sent), bytes.Clone(t.got)
}
