package wire

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// If a connection was closed while it was idle, the request is sent on another one. The first
// connection does not count, because nothing was sent on it.
func TestWireReplacesUnused(t *testing.T) {
	a, r := watch(httptest.NewRequest(http.MethodGet, "/", nil))
	defer a.end()
	one, two := newWire(nil), newWire(nil)
	a.got(one)
	a.got(two)
	if a.repeated || r.Context().Err() != nil || one.open != 0 || two.open != 1 {
		t.Errorf("a connection on which nothing was sent was not replaced")
	}
	two.written.Add(1)
	a.got(newWire(discardConn{}))
	if !a.repeated || r.Context().Err() == nil || a.why(io.EOF) != ErrUnanswered {
		t.Errorf("a second request was let through")
	}
}

type discardConn struct{ net.Conn }

func (discardConn) Close() error { return nil }
