package wire

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestWireReplacesUnused: a connection that closed while it was idle costs no try, for nothing was
// sent on it.
func TestWireReplacesUnused(t *testing.T) {
	a, r := watch(httptest.NewRequest(http.MethodGet, "/", nil))
	defer a.end()
	one, two := newWire(nil), newWire(nil)
	a.got(one)
	a.got(two)
	if a.repeated || r.Context().Err() != nil || one.open != 0 || two.open != 1 {
		t.Errorf("a connection on which nothing was sent was not replaced")
	}
	two.count(1)
	a.got(newWire(discardConn{}))
	if !a.repeated || r.Context().Err() == nil || a.why(io.EOF) != ErrUnanswered {
		t.Errorf("a second request was let through")
	}
}

type discardConn struct{ net.Conn }

func (discardConn) Close() error { return nil }
