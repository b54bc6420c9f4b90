package postgrestest

import (
	"io"
	"net"
	"testing"
	"time"
)

// Delayed returns the address of a proxy that delays the responses of a server, as a longer network
// path would. It does not throttle: data sent together arrives together.
func Delayed(tb testing.TB, addr string, delay time.Duration) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go relay(client, addr, delay)
		}
	}()
	return l.Addr().String()
}

func relay(client net.Conn, addr string, delay time.Duration) {
	server, err := net.Dial("tcp", addr)
	if err != nil {
		client.Close()
		return
	}
	go func() {
		io.Copy(server, client)
		server.Close()
	}()
	later(client, server, delay)
	client.Close()
	server.Close()
}

// A piece is a sequence of bytes and the time at which to forward it.
type piece struct {
	bytes []byte
	at    time.Time
}

// later copies bytes from one connection to another, each piece after the given delay.
func later(to io.Writer, from io.Reader, delay time.Duration) {
	pieces := make(chan piece, 1024)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for p := range pieces {
			time.Sleep(time.Until(p.at))
			if _, err := to.Write(p.bytes); err != nil {
				for range pieces { // drain the channel, so that the reading goroutine can end
				}
				return
			}
		}
	}()
	for {
		b := make([]byte, 32<<10)
		n, err := from.Read(b)
		if n > 0 {
			pieces <- piece{b[:n], time.Now().Add(delay)}
		}
		if err != nil {
			break
		}
	}
	close(pieces)
	<-done
}
