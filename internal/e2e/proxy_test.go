package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"skink/internal/tools/wiretest"
)

// startSOCKS starts a SOCKS5 proxy (RFC 1928) on loopback. It returns the address of the proxy, and
// a counter of its connections. If password is not "", the proxy requires it (RFC 1929).
func startSOCKS(t *testing.T, password string) (address string, served *atomic.Int64) {
	t.Helper()
	served = new(atomic.Int64)
	l := wiretest.Listen(t, func(conn net.Conn) {
		if wiretest.ServeSOCKS(conn, password, nil) == nil {
			served.Add(1)
		}
	})
	return l.Addr().String(), served
}

// TestProxySecrets crawls a site that requires cookies, a user name and a password, through a proxy
// that requires a password. The site must be found. None of the secrets may be in a file or an
// output of the crawl, or be sent to a host to which the site redirects.
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
	metricsAt, shown := make(chan string, 1), ""
	var readMetrics sync.Once
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
			if r.URL.Path == "/two" {
				readMetrics.Do(func() { shown = metricsOf(t, <-metricsAt) })
			}
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
	said := crawlWithMetrics(t, env, metricsAt, "--config", filepath.Join(dir, "skink.toml"), "--store", data, site.URL+"/", other.URL+"/")
	if !strings.Contains(shown, "skink_") {
		t.Errorf("the metrics are %q", shown)
	}
	said += shown
	for _, args := range [][]string{
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

// crawlWithMetrics runs a crawl that serves metrics, sends their URL to at, and returns the output.
func crawlWithMetrics(t *testing.T, env []string, at chan<- string, flags ...string) string {
	t.Helper()
	cmd := exec.Command("skink", append([]string{"crawl", "--metrics", "127.0.0.1:0"}, flags...)...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), env...)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+/metrics`)
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if found := url.FindString(lines.Text()); found != "" {
			select {
			case at <- found:
			default:
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("crawl: %v\n%s", err, &said)
	}
	return said.String()
}

// metricsOf returns the metrics that are served at a URL, with the goroutines and the command line
// that the same server shows.
func metricsOf(t *testing.T, url string) (all string) {
	for _, path := range []string{"/metrics", "/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2", "/debug/vars"} {
		answer, err := http.Get(strings.TrimSuffix(url, "/metrics") + path)
		if err != nil {
			t.Error(err)
			return all
		}
		body, err := io.ReadAll(answer.Body)
		if all += string(body); err != nil {
			t.Error(err)
		}
		answer.Body.Close()
	}
	return all
}
