package e2e

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// startSOCKS starts a SOCKS5 proxy (RFC 1928) on loopback, and returns its address and the number of
// its connections. A password that is not "" is wanted (RFC 1929).
func startSOCKS(t *testing.T, password string) (address string, served *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served = new(atomic.Int64)
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
				defer conn.Close()
				defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
				if serveSOCKS(conn, password) == nil {
					served.Add(1)
				}
			})
		}
	})
	return l.Addr().String(), served
}

// serveSOCKS serves one connection. It knows only addresses of IPv4 and names.
func serveSOCKS(conn net.Conn, password string) error {
	read := func(n int) []byte {
		b := make([]byte, n)
		_, _ = io.ReadFull(conn, b) // a connection that ended gives zeros, which are refused
		return b
	}
	read(int(read(2)[1]))
	method := byte(0)
	if password != "" {
		method = 2
	}
	_, _ = conn.Write([]byte{5, method})
	if password != "" {
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
	to, err := net.Dial("tcp", net.JoinHostPort(host, fmt.Sprint(binary.BigEndian.Uint16(read(2)))))
	if err != nil {
		_, _ = conn.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
		return err
	}
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(to, conn); _ = to.Close() })
	both.Go(func() { _, _ = io.Copy(conn, to); _ = conn.Close() })
	both.Wait()
	return nil
}

// TestProxySecrets crawls a site that wants cookies, a user and a password, through a proxy that wants
// a password. The site is found, and none of the secrets is in a file that the crawl leaves, nor in
// what the commands say, nor at a host to which the site redirects.
func TestProxySecrets(t *testing.T) {
	t.Parallel()
	const secret = "very-secret-4712"
	dir := t.TempDir()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Cookie", "Authorization", "Proxy-Authorization"} {
			if r.Header.Get(name) != "" {
				t.Errorf("the other host gets %s", name)
			}
		}
		fmt.Fprint(w, "<title>Other</title><main><p>A page of another host, which needs no secret at all.</p></main>")
	}))
	t.Cleanup(other.Close)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		cookie, err := r.Cookie("session")
		switch {
		case user != "me" || password != secret:
			w.Header().Set("WWW-Authenticate", `Basic realm="members"`)
			w.WriteHeader(http.StatusUnauthorized)
		case err != nil || cookie.Value != secret:
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case r.URL.Path == "/away":
			http.Redirect(w, r, other.URL+"/", http.StatusFound)
		default:
			fmt.Fprintf(w, `<title>Members</title><main><p>A page for members at %s.</p><a href="/two">two</a> <a href="/away">away</a></main>`, r.URL.Path)
		}
	}))
	t.Cleanup(site.Close)
	proxy, served := startSOCKS(t, secret)
	cookies := fmt.Sprintf("# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t%s\n", secret)
	config := fmt.Sprintf(`
delay = "0s"
scope = "any"
warc = %q
proxy = "socks5://me:${PASSWORD}@%s"
log-format = "json"

[host.%q]
user = "me"
password = "${PASSWORD}"
cookies = "cookies.txt"
`, filepath.Join(dir, "crawl", "archive"), proxy, strings.TrimPrefix(site.URL, "http://"))
	for name, text := range map[string]string{"cookies.txt": cookies, "skink.toml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data, env := filepath.Join(dir, "crawl", "data"), []string{"PASSWORD=" + secret}
	said := ""
	for _, args := range [][]string{
		{"crawl", "--config", filepath.Join(dir, "skink.toml"), "--store", data, "--metrics", "127.0.0.1:0", site.URL + "/", other.URL + "/"},
		{"config", "--store", data},
		{"report", "--store", data, "--about", "audit", "--format", "json"},
		{"export", "--store", data, "--include", "all", "--with-private"},
		{"status", "--store", data, "--urls", "all", "--format", "json"},
	} {
		out, err := skink(t, env, args...)
		if said += out; err != nil {
			t.Fatalf("skink %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	for _, want := range []string{`"title":"Members"`, "/two", `"title":"Other"`, `"private":true`} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %s:\n%s", want, said)
		}
	}
	if strings.Contains(said, secret) {
		t.Errorf("the commands say the secret:\n%s", said)
	}
	if served.Load() == 0 {
		t.Error("nobody used the proxy")
	}
	holdsNone(t, filepath.Join(dir, "crawl"), secret)
}
