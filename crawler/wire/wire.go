package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
)

// # Limits on the wire
//
// Package net/http hides two things from its caller that a crawler must know.
//
// First, net/http repeats requests. It sends a request again at once if the server refuses the
// request (GOAWAY with a lower last stream, REFUSED_STREAM), or accepts it on a used connection and
// then closes that connection. Some servers always do this, and get thousands of requests where the
// schedule counts one. So an attempt ends when net/http asks for a second connection after bytes
// were written to the first. [watch] uses httptrace to notice this before anything is written to
// the second connection. The schedule decides whether and when to retry. A connection to which
// nothing was written may be replaced, because it cost the server no request.
//
// Second, net/http reads bytes that it does not deliver. HTTP/2 frames may be empty or nearly all
// padding, pings and settings may never end, and TLS records may be empty. Although bodies and time
// are bounded, a server could send a gigabyte in five seconds without delivering a byte of a body.
// So the bytes received on a connection are bounded by the bytes delivered from it. A [wire] counts
// both, below TLS, and its Read fails when far more bytes were received than delivered.

const (
	// streamBuffer is the maximum number of bytes of an HTTP/2 response that may wait to be read.
	streamBuffer = 1 << 20

	// wireAllowance is the number of bytes that may arrive for an exchange before any of its body
	// is delivered. It covers the head, as much again for the frames around it, and streamBuffer.
	wireAllowance = 2*maxHeaderBytes + streamBuffer

	// wirePerByte is the number of bytes that may arrive for each byte of a body. Honest servers
	// send little more than one. A server that flushes every ten bytes sends four, because each
	// HTTP/2 frame adds 9 bytes, and each TLS record adds 22.
	wirePerByte = 4
)

var (
	// ErrFlood means that a connection has received far more bytes than it has delivered as bodies.
	ErrFlood = errors.New("the server sent far more bytes than the response bodies contain")

	// ErrUnanswered means that the server closed the connection after the request was sent, without
	// a response.
	ErrUnanswered = errors.New("the server closed the connection without a response")
)

// A wire is a network connection, below TLS, that limits the number of bytes that it receives.
type wire struct {
	net.Conn

	written atomic.Int64 // number of bytes written or being written
	flooded atomic.Bool

	mu   sync.Mutex
	left int64 // guarded by mu: number of bytes that may still be received
	open int64 // guarded by mu: number of exchanges that have begun but not ended
}

func newWire(conn net.Conn) *wire { return &wire{Conn: conn, left: wireAllowance} }

func wireOf(conn net.Conn) *wire {
	if t, ok := conn.(*tap); ok {
		conn = t.Conn
	}
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	w, _ := conn.(*wire)
	return w
}

// Write counts the bytes before it writes them, because the response may arrive before it returns.
func (w *wire) Write(p []byte) (int, error) {
	w.written.Add(int64(len(p)))
	n, err := w.Conn.Write(p)
	w.written.Add(int64(n - len(p)))
	return n, err
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left -= int64(n)
	if w.left < 0 {
		w.flooded.Store(true)
		return 0, ErrFlood
	}
	return n, err
}

// begin records the start of an exchange. It raises the limit for received bytes by wireAllowance.
func (w *wire) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open++
	w.left += wireAllowance
}

// deliver records that n bytes of a body were delivered. It raises the limit for received bytes by
// wirePerByte times n.
func (w *wire) deliver(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left += wirePerByte * int64(n)
}

// end records that an exchange has ended, and removes the rest of its allowance. The allowance of
// one exchange always remains, for bytes still in transit.
func (w *wire) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open--
	w.left = min(w.left, (w.open+1)*wireAllowance)
}

// An attempt is one request, which must be sent only once.
type attempt struct {
	cancel context.CancelFunc

	mu       sync.Mutex
	wire     *wire     // guarded by mu: the connection that net/http chose last; nil means none yet
	recorder *recorder // guarded by mu: records the heads on that connection; nil if it has no tap
	before   int64     // guarded by mu: number of bytes written to the connection before this request
	repeated bool      // guarded by mu: net/http was about to send the request a second time
}

// watch returns an attempt, and the request to make with it. The caller must end the attempt.
func watch(r *http.Request) (*attempt, *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	a := &attempt{cancel: cancel}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(got httptrace.GotConnInfo) { a.got(got.Conn) },
	})
	return a, r.WithContext(ctx)
}

// got is called with the connection on which the request is about to be sent. If that would be the
// second time, it ends the attempt's context. HTTP/2 then begins no stream. HTTP/1 writes without
// checking the context, so got closes its connection.
func (a *attempt) got(conn net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var own *recorder
	if t, ok := conn.(*tap); ok { // the tap still has the recorder of the exchange before
		own = new(recorder)
		t.to.Store(own)
	}
	if a.repeated || a.wire != nil && a.wire.written.Load() > a.before {
		a.repeated = true
		a.cancel()
		if t, ok := conn.(*tls.Conn); !ok || t.ConnectionState().NegotiatedProtocol != "h2" {
			_ = conn.Close() // no request was sent on this connection
		}
		return
	}
	if a.wire != nil {
		a.wire.end()
	}
	a.wire = wireOf(conn)
	a.wire.begin()
	a.recorder, a.before = own, a.wire.written.Load()
}

// end ends an attempt. The response cannot be read afterwards.
func (a *attempt) end() {
	a.cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.wire != nil {
		a.wire.end()
	}
}

// why returns the root cause of an error. net/http may report only a consequence, such as a
// canceled context, if the request was about to be repeated or the connection received too much.
func (a *attempt) why(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil || a.wire == nil || errors.Is(err, ErrTooLarge):
		return err
	case a.wire.flooded.Load():
		return ErrFlood
	case a.repeated:
		return ErrUnanswered
	}
	return err
}

// body returns a reader for the body of a response. The reader tells the connection how many bytes
// were delivered.
func (a *attempt) body(r io.ReadCloser) io.ReadCloser {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &delivery{r, a.wire}
}

type delivery struct {
	io.ReadCloser
	wire *wire
}

func (d *delivery) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	d.wire.deliver(n)
	return n, err
}
