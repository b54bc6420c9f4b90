package loopback

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A body that never arrives does not keep a connection open, whether its request is refused or not.
// A long answer to a request without a body is not cut off.
func TestSlowBody(t *testing.T) {
	for _, request := range []string{
		"POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000\r\n\r\na",
		"POST / HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n5\r\na",
		"GET / HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000\r\n\r\n",
	} {
		for _, host := range []string{"localhost", "elsewhere.example"} {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				l := &oneConn{conn: tcpNamed{far}, done: make(chan struct{})}
				server := &http.Server{Handler: Only(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
				}))}
				go server.Serve(l)
				defer server.Close()
				began := time.Now()
				go fmt.Fprintf(near, request, host)
				_ = near.SetReadDeadline(began.Add(time.Hour))
				_, err := io.Copy(io.Discard, bufio.NewReader(near))
				if took := time.Since(began); err != nil || took > bodyTime+time.Minute {
					t.Errorf("%.20q for %s: open for %v, %v", request, host, took, err)
				}
			})
		}
	}
}

// tcpNamed is a connection whose local address is on loopback.
type tcpNamed struct{ net.Conn }

func (tcpNamed) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// oneConn is a listener with one connection.
type oneConn struct {
	conn net.Conn
	done chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.done
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error {
	select {
	case <-l.done:
	default:
		close(l.done)
	}
	return nil
}

func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }
