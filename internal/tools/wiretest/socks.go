package wiretest

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Listen starts a server on loopback that calls serve with each connection, in its own goroutine.
// The connection is closed when serve returns, or when the test ends.
func Listen(t testing.TB, serve func(net.Conn)) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	t.Cleanup(func() { stop(); _ = l.Close(); all.Wait() })
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
				defer conn.Close()
				serve(conn)
			})
		}
	})
	return l
}

// Join copies data in both directions between two connections until both are closed.
func Join(a, b net.Conn) {
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(a, b); _ = a.Close() })
	both.Go(func() { _, _ = io.Copy(b, a); _ = b.Close() })
	both.Wait()
}

// ServeSOCKS serves one connection as a SOCKS5 proxy (RFC 1928) that accepts host names and IPv4
// addresses. It requires password (RFC 1929), unless that is "". If asked is not nil, it is called
// with each host and port that a client with the right password wants to reach. The error says why
// no connection was made.
func ServeSOCKS(conn net.Conn, password string, asked func(address string)) error {
	read := func(n int) []byte {
		b := make([]byte, n)
		_, _ = io.ReadFull(conn, b) // if the connection has ended, the bytes stay zero and no connection is made
		return b
	}
	read(int(read(2)[1]))
	if password == "" {
		_, _ = conn.Write([]byte{5, 0})
	} else {
		_, _ = conn.Write([]byte{5, 2})
		read(int(read(2)[1]))
		if got := read(int(read(1)[0])); string(got) != password {
			_, _ = conn.Write([]byte{1, 1})
			return fmt.Errorf("wrong password")
		}
		_, _ = conn.Write([]byte{1, 0})
	}
	host := ""
	switch request := read(4); request[3] {
	case 1:
		host = net.IP(read(4)).String()
	case 3:
		host = string(read(int(read(1)[0])))
	}
	address := net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(read(2)))))
	if asked != nil {
		asked(address)
	}
	to, err := net.Dial("tcp", address)
	if err != nil {
		_, _ = conn.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
		return err
	}
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	Join(conn, to)
	return nil
}
