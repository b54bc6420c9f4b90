package redis

import (
	"bufio"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"skink/store"
	"skink/store/redis/redistest"
)

func parse(t *testing.T, text string) Address {
	t.Helper()
	a, err := ParseAddress(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// wantRefused opens a store that cannot be had, and compares what is said of it.
func wantRefused(t *testing.T, a Address, opt Options, want string) {
	t.Helper()
	s, err := Open(t.Context(), a, opt)
	if err == nil {
		s.Close()
		t.Errorf("%s was opened", a)
		return
	}
	if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
		t.Errorf("the error is %q, want one that says %q and no password", err, want)
	}
}

func TestNoSuchStore(t *testing.T) {
	onEach(t, func(t *testing.T, servers string) {
		if _, err := Open(t.Context(), parse(t, "redis://"+servers+"/none"), Options{}); !errors.Is(err, store.ErrNotExist) {
			t.Errorf("error %v, want %v", err, store.ErrNotExist)
		}
	})
}

func TestPasswords(t *testing.T) {
	s := redistest.Start(t, "--requirepass", "secret")
	t.Setenv(EnvPassword, "")
	wantRefused(t, parse(t, "redis://"+s.Addr+"/x"), Options{Create: true}, EnvPassword)
	wantRefused(t, parse(t, "redis://:secret-but-wrong@"+s.Addr+"/x"), Options{Create: true}, EnvPassword)
	t.Setenv(EnvPassword, "secret")
	openNamed(t, s.Addr, "x")
	keys, err := s.CLI("-a", "secret", "--no-auth-warning", "get", "{x}v")
	if err != nil || keys != layoutVersion {
		t.Errorf("the version of the layout is %q, %v", keys, err)
	}
}

func TestServersThatForget(t *testing.T) {
	s := redistest.Start(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
	wantRefused(t, parse(t, "redis://"+s.Addr+"/x"), Options{Create: true}, "set it to noeviction")
}

func TestSuits(t *testing.T) {
	for _, tt := range []struct {
		info map[string]string
		want string // "": it does
	}{
		{map[string]string{"redis_version": "7.0.15", "maxmemory_policy": "noeviction"}, ""},
		{map[string]string{"redis_version": "6.2.0"}, ""},
		{map[string]string{"redis_version": "10.0.1"}, ""},
		{map[string]string{"redis_version": "6.0.16"}, "6.2 or later"},
		{map[string]string{"redis_version": "4.0.0", "kvrocks_version": "2.11.0"}, ""},
		{map[string]string{"redis_version": "7.2.4", "valkey_version": "8.0.1"}, ""},
		{map[string]string{"redis_version": "7.0.15", "maxmemory_policy": "volatile-ttl"}, "noeviction"},
		{map[string]string{}, ""},
	} {
		switch err := suits(tt.info); {
		case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%v: %v, want %q", tt.info, err, tt.want)
		}
	}
}

func TestAnotherLayout(t *testing.T) {
	onEach(t, func(t *testing.T, servers string) {
		name := newName()
		s := openNamed(t, servers, name)
		if err := s.do(t.Context(), s.B().Set().Key(s.global("v")).Value("99").Build())[0].Error(); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), s.address, Options{}); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("error %v, want %v", err, store.ErrCorrupt)
		}
	})
}

// A server whose memory is full stops a crawl, and goes on when it has more.
func TestMemoryFull(t *testing.T) {
	server := redistest.Start(t, "--maxmemory", "8mb")
	s := openNamed(t, server.Addr, "x")
	var err error
	n := 0
	for ; n < 100 && err == nil; n++ {
		_, err = s.Discover(t.Context(), urlsOf(strings.Repeat("long", 10)+decimal(n)+".example", 2000))
	}
	if !errors.Is(err, store.ErrFull) {
		t.Fatalf("after %d times 2000 URLs error %v, want %v", n, err, store.ErrFull)
	}
	if out, err := server.CLI("config", "set", "maxmemory", "0"); err != nil || out != "OK" {
		t.Fatal(out, err)
	}
	if _, err := s.Discover(t.Context(), urlsOf("example.com", 10)); err != nil {
		t.Error(err)
	}
}

func TestTLS(t *testing.T) {
	s := redistest.StartTLS(t)
	a := parse(t, "rediss://"+s.Addr+"/x")
	wantRefused(t, a, Options{Create: true}, "certificate")
	wantRefused(t, parse(t, "redis://"+s.Addr+"/x"), Options{Create: true}, "rediss://")
	cert, err := os.ReadFile(s.Cert)
	if err != nil {
		t.Fatal(err)
	}
	a.roots = x509.NewCertPool()
	if !a.roots.AppendCertsFromPEM(cert) {
		t.Fatal("no certificate")
	}
	opened, err := Open(t.Context(), a, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := opened.Close(); err != nil {
		t.Error(err)
	}
}

// A server that has just been started is loading, and says so to whoever opens a store.
func TestAServerThatIsLoadingIsWaitedFor(t *testing.T) {
	real := miniredis.RunT(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for n := 0; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if n < 5 {
				go sayLoading(conn)
				continue
			}
			to, err := net.Dial("tcp", real.Addr())
			if err != nil {
				conn.Close()
				return
			}
			go io.Copy(to, conn)
			go io.Copy(conn, to)
		}
	}()
	openNamed(t, l.Addr().String(), newName())
}

// sayLoading answers each command by that.
func sayLoading(conn net.Conn) {
	defer conn.Close()
	for in := bufio.NewReader(conn); ; {
		var parts, size int
		if _, err := fmt.Fscanf(in, "*%d\r\n", &parts); err != nil {
			return
		}
		for range parts {
			if _, err := fmt.Fscanf(in, "$%d\r\n", &size); err != nil {
				return
			}
			if _, err := in.Discard(size + 2); err != nil {
				return
			}
		}
		io.WriteString(conn, "-LOADING Redis is loading the dataset in memory\r\n")
	}
}
