// Package wiretest contains helpers for tests that cannot use the real network: name servers,
// proxies, closed ports, and bodies with content codings.
package wiretest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/net/dns/dnsmessage"
)

// Encode applies codings to a body in the order given; "raw" is deflate without the zlib wrapper.
func Encode(t testing.TB, codings string, body []byte) []byte {
	t.Helper()
	for coding := range strings.SplitSeq(codings, ", ") {
		var out bytes.Buffer
		var w io.WriteCloser
		var err error
		switch coding {
		case "gzip":
			w = gzip.NewWriter(&out)
		case "deflate":
			w = zlib.NewWriter(&out)
		case "raw":
			w, err = flate.NewWriter(&out, flate.DefaultCompression)
		case "br":
			w = brotli.NewWriterLevel(&out, 1)
		case "zstd":
			w, err = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
		default:
			t.Fatalf("no coding %q", coding)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(body); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		body = out.Bytes()
	}
	return body
}

// ClosedPort returns a loopback address that refuses connections. The test occupies the port until
// it ends, so no other process can listen on it.
func ClosedPort(t testing.TB) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
}

// Resolver returns a resolver that knows only the given names.
func Resolver(t testing.TB, names map[string][]string) *net.Resolver {
	return ResolverOf(t, func(name string) []string { return names[name] })
}

// ResolverOf starts a name server on loopback and returns a resolver that uses only this server.
// The server answers each query with the addresses that names returns for the name.
func ResolverOf(t testing.TB, names func(name string) []string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buf := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(buf)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if answer, err := resolve(names, buf[:n]); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func resolve(names func(string) []string, query []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return nil, err
	}
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	if q.Type != dnsmessage.TypeA {
		return m.Pack()
	}
	addrs := names(q.Name.String())
	if addrs == nil {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, a := range addrs {
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 60},
			Body:   &dnsmessage.AResource{A: netip.MustParseAddr(a).As4()},
		})
	}
	return m.Pack()
}
