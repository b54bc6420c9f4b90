package crawler

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"skink/crawler/folder"
	"skink/crawler/robots"
	"skink/crawler/wire"
	"skink/frontier"
	"skink/internal/tools/wiretest"
)

// testFetcher returns a fetcher that may connect to the given hosts.
func testFetcher(t testing.TB, change func(*Options), hosts ...string) *fetcher {
	t.Helper()
	opt := Defaults()
	opt.Timeout = 30 * time.Second // a busy machine may need seconds to read its root certificates
	opt.AllowHosts = hosts
	if change != nil {
		change(&opt)
	}
	f, err := newFetcher(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.close)
	return f
}

// serve starts a server, and returns its host and port.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// serveRaw starts a server that reads the head of a request, and calls answer with the connection.
func serveRaw(t testing.TB, answer func(conn net.Conn, requestLine string)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); conns.Wait() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer conn.Close()
				line := readHead(conn)
				answer(conn, line)
			})
		}
	}()
	return l.Addr().String()
}

// readHead reads a head up to the empty line, and returns its first line. If the client begins a
// TLS handshake, readHead reads only the bytes that have arrived.
func readHead(conn net.Conn) string {
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	r := bufio.NewReader(conn)
	if first, _ := r.Peek(1); string(first) == "\x16" {
		return ""
	}
	first, err := r.ReadString('\n')
	for line := first; err == nil && line != "\r\n"; {
		line, err = r.ReadString('\n')
	}
	return strings.TrimSpace(first)
}

// say returns a function that answers with fixed bytes.
func say(answer string) func(net.Conn, string) {
	return func(conn net.Conn, _ string) { _, _ = io.WriteString(conn, answer) }
}

func item(url string) frontier.Item { return frontier.Item{URL: url} }

func TestFetchAsks(t *testing.T) {
	var got []*http.Request
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r)
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Set-Cookie", "id=1")
		_, _ = io.WriteString(w, "<p>hello")
	})
	f := testFetcher(t, nil, host)
	for range 2 {
		p := f.fetch(t.Context(), item("http://"+host+"/a?b=c"))
		if p.Problem != "" || p.Status != 200 || string(p.Body) != "<p>hello" || p.Truncated {
			t.Fatalf("got %+v, want a page that says hello", p)
		}
		if p.Header.Get("Content-Type") != "text/html" || p.FetchedAt.IsZero() || p.Item.URL == "" {
			t.Errorf("got %+v, want its type, time and URL", p)
		}
	}
	want := http.Header{
		"User-Agent":      {Defaults().UserAgent},
		"Accept":          {"text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5"},
		"Accept-Encoding": {"gzip, deflate, br, zstd"},
	}
	for _, r := range got { // if Colly made the requests, the second would have the cookie and Colly's headers
		if fmt.Sprint(r.Header) != fmt.Sprint(want) {
			t.Errorf("sent %v, want %v and nothing else", r.Header, want)
		}
	}
}

func TestFetchStatus(t *testing.T) {
	long := strings.Repeat("x", wire.MaxOtherBody+1)
	tests := []struct {
		status    int
		body      string
		problem   Problem
		detail    string
		truncated bool
	}{
		{status: 200, body: "ok"},
		{status: 202, body: "ok"},
		{status: 203, body: "ok"}, // Colly alone would treat this status and all below as errors
		{status: 204},
		{status: 205},
		{status: 206, body: "k", problem: ProblemStatus, detail: "206 Partial Content"}, // the request did not ask for a part
		{status: 300, body: "a or b", problem: ProblemStatus, detail: "300 Multiple Choices"},
		{status: 304, problem: ProblemStatus, detail: "304 Not Modified"},
		{status: 404, body: "gone", problem: ProblemStatus, detail: "404 Not Found"},
		{status: 404, body: long, problem: ProblemStatus, detail: "404 Not Found", truncated: true},
		{status: 503, body: "busy", problem: ProblemStatus, detail: "503 Service Unavailable"},
		{status: 999, body: "go away", problem: ProblemStatus, detail: "999"}, // LinkedIn uses this status
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.status), func(t *testing.T) {
			host := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			p := testFetcher(t, nil, host).fetch(t.Context(), item("http://"+host+"/"))
			if p.Status != tt.status || p.Problem != tt.problem || p.Detail != tt.detail || p.Truncated != tt.truncated {
				t.Errorf("got %d %q %q truncated %v, want %+v", p.Status, p.Problem, p.Detail, p.Truncated, tt)
			}
			if want := tt.body[:min(len(tt.body), wire.MaxOtherBody)]; string(p.Body) != want {
				t.Errorf("got a body of %d bytes, want %d", len(p.Body), len(want))
			}
		})
	}
}

func TestFetchRedirect(t *testing.T) {
	tests := []struct {
		name     string
		status   int
		location string
		hops     int
		want     string // "HOST" stands for the host of the server
		problem  Problem
		detail   string // text that the detail must contain
	}{
		{name: "absolute", status: 301, location: "http://example.com/b#c", want: "http://example.com/b"},
		{name: "relative", status: 302, location: "../c?d", want: "http://HOST/c?d"},
		{name: "another host", status: 303, location: "//example.com", want: "http://example.com/"},
		{name: "to https", status: 307, location: "https://example.com/a/b", want: "https://example.com/a/b"},
		{name: "canonical", status: 308, location: "HTTP://EXAMPLE.com:80/%7ea", want: "http://example.com/~a"},
		{name: "without credentials", status: 302, location: "http://user:secret@example.com/", want: "http://example.com/"},
		{name: "raw UTF-8", status: 302, location: "/ж", want: "http://HOST/%D0%B6"},
		{name: "Latin-1 in a path and a query", status: 302, location: "/caf\xe9?q=\xe9", want: "http://HOST/caf%E9?q=%E9"},
		{name: "half a character", status: 302, location: "/\xe4\xb8", want: "http://HOST/%E4%B8"},
		{name: "UTF-8 beside Latin-1", status: 302, location: "/é\xe9#\xe9", want: "http://HOST/%C3%A9%E9"},
		{name: "a tab and blanks", status: 302, location: " /x\ty ", want: "http://HOST/xy"},
		{name: "backslashes", status: 302, location: "\\c\\d?e=\\f", want: "http://HOST/c/d?e=\\f"},
		{name: "only a query", status: 302, location: "?b", want: "http://HOST/a/b?b"},
		{name: "a lone per cent sign, at which http.Client gives up", status: 302, location: "/100%", want: "http://HOST/100%"},
		{name: "the last that counts", status: 302, location: "/c", hops: MaxHops - 1, want: "http://HOST/c"},
		{name: "one too many", status: 302, location: "/c", hops: MaxHops, problem: ProblemRedirects, detail: "/c"},
		{name: "a circle of one", status: 302, location: "/a/b", problem: ProblemRedirects, detail: "itself"},
		{name: "no location", status: 301, problem: ProblemLocation, detail: "no Location"},
		{name: "no web", status: 302, location: "ftp://example.com/a", problem: ProblemLocation, detail: "ftp://example.com/a"},
		{name: "an app", status: 302, location: "market://details?id=1", problem: ProblemLocation, detail: "market://details"},
		{name: "no URL", status: 302, location: "http://[", problem: ProblemLocation, detail: "http://["},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var asked atomic.Int32
			host := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				if tt.location != "" {
					w.Header().Set("Location", tt.location)
				}
				w.WriteHeader(tt.status)
			})
			from := frontier.Item{URL: "http://" + host + "/a/b", Hops: tt.hops}
			p := testFetcher(t, nil, host).fetch(t.Context(), from)
			if want := strings.ReplaceAll(tt.want, "HOST", host); p.Location != want || p.Status != tt.status {
				t.Errorf("got %d to %q, want %d to %q", p.Status, p.Location, tt.status, want)
			}
			if p.Problem != tt.problem || !strings.Contains(p.Detail, tt.detail) {
				t.Errorf("got %q %q, want %q %q", p.Problem, p.Detail, tt.problem, tt.detail)
			}
			if n := asked.Load(); n != 1 {
				t.Errorf("%d requests, want 1: a redirect is the frontier's", n)
			}
		})
	}
}

// TestFetchProblems fetches from servers whose answers are not HTTP, or are incomplete.
func TestFetchProblems(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	tests := []struct {
		name    string
		answer  func(net.Conn, string)
		problem Problem
		status  int
		body    string
	}{
		{"nothing", say(""), ProblemReset, 0, ""},
		{"half a head", say(head), ProblemReset, 0, ""},
		{"less than Content-Length", say(head + "Content-Length: 10\r\n\r\nfive"), ProblemReset, 200, "five"},
		{"half a chunk", say(head + "Transfer-Encoding: chunked\r\n\r\n8\r\nfive"), ProblemReset, 200, "five"},
		{"no last chunk", say(head + "Transfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n"), ProblemReset, 200, "four"},
		{"a reset", reset(head + "Content-Length: 10\r\n\r\nfive"), ProblemReset, 200, "five"},
		{"no chunk", say(head + "Transfer-Encoding: chunked\r\n\r\nzz\r\nfive"), ProblemHTTP, 200, ""},
		{"HTTP/0.9", say("<html>hello"), ProblemHTTP, 0, ""},
		{"another protocol", say("220 mail.example ESMTP\r\n"), ProblemHTTP, 0, ""},
		{"a TLS alert", say("\x15\x03\x01\x00\x02\x02\x46"), ProblemHTTP, 0, ""},
		{"a status that is no number", say("HTTP/1.1 OK\r\n\r\n"), ProblemHTTP, 0, ""},
		{"a header without colon", say("HTTP/1.1 200 OK\r\nnonsense\r\n\r\n"), ProblemHTTP, 0, ""},
		{"two lengths", say(head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"), ProblemHTTP, 0, ""},
		{"endless headers", endless("HTTP/1.1 200 OK\r\n", "X: "+strings.Repeat("x", 1000)+"\r\n"), ProblemHTTP, 0, ""},
		{"one endless header", endless("HTTP/1.1 200 OK\r\nX: ", strings.Repeat("x", 1000)), ProblemHTTP, 0, ""},
		{"endless early hints", endless("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), ProblemHTTP, 0, ""},
		{"another protocol from here on", say("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"), ProblemStatus, 101, ""},
		{"broken gzip", say(head + "Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff"), ProblemEncoding, 200, ""},
		{"a coding nobody asked for", say(head + "Content-Encoding: compress\r\n\r\n\x1f\x9d"), ProblemEncoding, 200, ""},
		{"an endless body", endless(head+"\r\n", strings.Repeat("x", 1000)), ProblemSize, 200, strings.Repeat("x", 1<<16)},
		{"until the end of the connection is whole", say(head + "\r\nhello"), "", 200, "hello"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			host := serveRaw(t, tt.answer)
			f := testFetcher(t, func(o *Options) { o.MaxSize = 1 << 16 }, host)
			p := f.fetch(t.Context(), item("http://"+host+"/"))
			if p.Problem != tt.problem || p.Status != tt.status || string(p.Body) != tt.body {
				t.Errorf("got %d %q %q and %d bytes, want %d %q and %d bytes", p.Status, p.Problem, p.Detail, len(p.Body), tt.status, tt.problem, len(tt.body))
			}
			if whole := tt.problem == "" || tt.status != 200; p.Truncated == whole {
				t.Errorf("truncated is %v", p.Truncated)
			}
			if (p.Detail == "") != (tt.problem == "") || len(p.Detail) > maxDetail+len("…") {
				t.Errorf("detail is %q", p.Detail)
			}
		})
	}
}

// reset returns a function that answers, and then resets the connection.
func reset(answer string) func(net.Conn, string) {
	return func(conn net.Conn, _ string) {
		_, _ = io.WriteString(conn, answer)
		time.Sleep(50 * time.Millisecond) // otherwise, the reset may arrive before the answer
		_ = conn.(*net.TCPConn).SetLinger(0)
	}
}

// endless returns a function that writes first once, and then repeats rest until the client closes
// the connection.
func endless(first, rest string) func(net.Conn, string) {
	return func(conn net.Conn, _ string) {
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		_, err := io.WriteString(conn, first)
		for err == nil {
			_, err = io.WriteString(conn, rest)
		}
	}
}

func TestFetchUnreachable(t *testing.T) {
	selfSigned := httptest.NewUnstartedServer(http.NotFoundHandler())
	selfSigned.Config.ErrorLog = log.New(io.Discard, "", 0)
	selfSigned.StartTLS()
	t.Cleanup(selfSigned.Close)
	plain := serveRaw(t, say("HTTP/1.1 400 Bad Request\r\n\r\n"))
	hangsUp := serveRaw(t, func(net.Conn, string) {})
	closed := wiretest.ClosedPort(t)
	tests := []struct {
		name    string
		url     string
		problem Problem
	}{
		{"a label that DNS cannot hold", "http://" + strings.Repeat("a", 64) + ".example/", ProblemDNS},
		{"a host that net/url cannot hold", "http://a{b.example/", ProblemDNS},
		{"nobody listens", "http://" + closed + "/", ProblemConnect},
		{"an unknown authority", "https://" + selfSigned.Listener.Addr().String() + "/", ProblemTLS},
		{"no TLS", "https://" + plain + "/", ProblemTLS},
		{"no handshake", "https://" + hangsUp + "/", ProblemReset},
		{"loopback", "http://127.0.0.2:" + port(closed) + "/", ProblemPrivate},
		{"IPv6 loopback", "http://[::1]:" + port(closed) + "/", ProblemPrivate},
		{"a name of loopback", "http://localhost:" + port(closed) + "/", ProblemPrivate},
		{"any name below .localhost", "https://a.localhost/", ProblemPrivate},
	}
	f := testFetcher(t, nil, closed, selfSigned.Listener.Addr().String(), plain, hangsUp)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := f.fetch(t.Context(), item(tt.url))
			if p.Problem != tt.problem || p.Detail == "" || p.Status != 0 || p.Body != nil {
				t.Errorf("got %+v, want %q", p, tt.problem)
			}
			if strings.Contains(p.Detail, `Get "`) {
				t.Errorf("detail %q repeats the URL", p.Detail)
			}
		})
	}
}

func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

// TestFetchExactURL fetches URLs that Colly or net/url would write differently.
func TestFetchExactURL(t *testing.T) {
	lines := make(chan string, 1)
	host := serveRaw(t, func(conn net.Conn, line string) {
		lines <- line
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
	})
	f := testFetcher(t, nil, host)
	tests := []struct{ target, line string }{
		{"/", ""},
		{"/a?", ""},
		{"/a%2Fb", ""},
		{"/a%2Fb|c", ""},
		{"/100%", "/100%25"},
		{"/100%2", "/100%252"},
		{"/%zz", "/%25zz"},
		{"/?a=%zz&b=1|2", "/?a=%25zz&b=1|2"},
		{"/?b=2&a=1&b=", ""},
		{"/a//b;c=1", ""},
		{"//a/b", ""},
		{"//a/100%", "//a/100%25"},
		{"/~a/!$&'()*+,-.:;=@[]_|", ""},
		{"/a.xml.gz", ""},
	}
	for _, tt := range tests {
		if c, err := frontier.Canonical("http://" + host + tt.target); err != nil || c != "http://"+host+tt.target {
			t.Fatalf("%s is not canonical", tt.target)
		}
		want := tt.target
		if tt.line != "" {
			want = tt.line
		}
		p := f.fetch(t.Context(), item("http://"+host+tt.target))
		if p.Problem != "" {
			t.Fatalf("%s: %s %s", tt.target, p.Problem, p.Detail)
		}
		if got := <-lines; got != "GET "+want+" HTTP/1.1" {
			t.Errorf("%s was asked for as %q", tt.target, got)
		}
	}
}

func TestFetchTimeout(t *testing.T) {
	tests := []struct {
		name   string
		answer func(net.Conn, string)
		after  time.Duration // timeout; long if the head of the answer must arrive before it even on a busy machine
		status int
		body   string
	}{
		{"before the head", say(""), 150 * time.Millisecond, 0, ""},
		{"within the head", say("HTTP/1.1 200 OK\r\n"), 150 * time.Millisecond, 0, ""},
		{"within the body", say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfive"), 3 * time.Second, 200, "five"},
		{"byte by byte", func(conn net.Conn, _ string) {
			_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
			for err == nil {
				time.Sleep(10 * time.Millisecond)
				_, err = io.WriteString(conn, "x")
			}
		}, 3 * time.Second, 200, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			host := serveRaw(t, func(conn net.Conn, line string) {
				tt.answer(conn, line)
				_, _ = conn.Read(make([]byte, 1)) // wait until the client closes the connection
			})
			f := testFetcher(t, func(o *Options) { o.Timeout = tt.after }, host)
			start := time.Now()
			p := f.fetch(t.Context(), item("http://"+host+"/"))
			if took := time.Since(start); took < tt.after*2/3 || took > time.Minute {
				t.Errorf("took %v, want about %v", took, tt.after)
			}
			if p.Problem != ProblemTimeout || p.Detail != fmt.Sprintf("no complete response within %v", tt.after) || p.Status != tt.status || !strings.HasPrefix(string(p.Body), tt.body) {
				t.Errorf("got %d %q %q %q", p.Status, p.Problem, p.Detail, p.Body)
			}
			if p.Truncated != (tt.status == 200) {
				t.Errorf("truncated is %v", p.Truncated)
			}
		})
	}
}

func TestFetchCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	host := serveRaw(t, func(conn net.Conn, _ string) {
		cancel()
		_, _ = conn.Read(make([]byte, 1))
	})
	f := testFetcher(t, func(o *Options) { o.Timeout = time.Minute }, host)
	start := time.Now()
	p := f.fetch(ctx, item("http://"+host+"/"))
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %v after ctx ended", took)
	}
	if p.Problem != ProblemReset {
		t.Errorf("got %q %q, want something transient", p.Problem, p.Detail)
	}
}

func TestFetchManyAtOnce(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "9") {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = io.WriteString(w, strings.Repeat(r.URL.Path, 1000))
	})
	f := testFetcher(t, func(o *Options) { o.PerHost = 64 }, host)
	var all sync.WaitGroup
	for n := range 64 {
		all.Go(func() {
			for i := range 5 {
				path := fmt.Sprintf("/%d/%d", i, n)
				p := f.fetch(t.Context(), item("http://"+host+path))
				if string(p.Body) != strings.Repeat(path, 1000) || (p.Problem == ProblemStatus) != strings.HasSuffix(path, "9") {
					t.Errorf("%s: got %q %q and %d bytes", path, p.Problem, p.Detail, len(p.Body))
				}
			}
		})
	}
	all.Wait()
}

// A redirect from a host that may have a private address does not allow connections to other
// private addresses.
func TestFetchPrivateRedirect(t *testing.T) {
	var reached atomic.Int32
	secret := serve(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+secret+"/", http.StatusFound)
	})
	f := testFetcher(t, nil, host)

	p := f.fetch(t.Context(), item("http://"+host+"/"))
	if p.Location != "http://"+secret+"/" || p.Problem != "" {
		t.Fatalf("got %+v, want a redirect to the other port", p)
	}
	p = f.fetch(t.Context(), frontier.Item{URL: p.Location, Hops: 1})
	if p.Problem != ProblemPrivate || !strings.Contains(p.Detail, secret+" has the address ") {
		t.Errorf("got %q %q, want that it is private", p.Problem, p.Detail)
	}
	_, _, err := f.fetchRobots(t.Context(), "http://"+host+"/robots.txt")
	if problem, _ := classify(err); err == nil || problem != ProblemPrivate {
		t.Errorf("robots.txt: got %v, want that its redirect is private", err)
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests came through", n)
	}
}

// TestCollyStaysOut checks the assumptions about Colly on which its setup is based.
func TestCollyStaysOut(t *testing.T) {
	for _, setting := range []string{"COLLY_MAX_BODY_SIZE=1", "COLLY_DETECT_CHARSET=yes", "COLLY_ALLOWED_DOMAINS=example.com", "COLLY_USER_AGENT=x", "COLLY_FOLLOW_REDIRECTS=yes"} {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
	tests := []struct {
		name   string
		path   string
		header http.Header
		body   string
	}{
		{"the character set is not changed", "/", http.Header{"Content-Type": {"text/html; charset=windows-1251"}}, "\xcf\xf0\xe8\xe2\xe5\xf2"},
		{"and not looked for", "/", http.Header{"Content-Type": {"text/html"}}, "\xcf\xf0\xe8\xe2\xe5\xf2"},
		{"the name of a file does not make it gzip", "/sitemap.xml.gz", http.Header{"Content-Type": {"text/xml"}}, "<urlset/>"},
		{"and if it is, it stays so", "/sitemap.xml.gz", http.Header{"Content-Type": {"text/xml"}}, string(wiretest.Encode(t, "gzip", []byte("<urlset/>")))},
		{"nor does its type", "/a", http.Header{"Content-Type": {"application/gzip"}}, "plain"},
		{"10 MB are no limit", "/", http.Header{"Content-Type": {"text/plain"}}, strings.Repeat("x", 11<<20)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			host := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				for k, v := range tt.header {
					w.Header()[k] = v
				}
				_, _ = io.WriteString(w, tt.body)
			})
			f := testFetcher(t, func(o *Options) { o.MaxSize = 20 << 20 }, host)
			p := f.fetch(t.Context(), item("http://"+host+tt.path))
			if p.Problem != "" || string(p.Body) != tt.body {
				t.Errorf("got %q %q, %.20q, want %.20q", p.Problem, p.Detail, p.Body, tt.body)
			}
		})
	}
	t.Run("a 503 can be asked again", func(t *testing.T) {
		var asked atomic.Int32
		host := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if asked.Add(1) == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		f := testFetcher(t, nil, host)
		first, second := f.fetch(t.Context(), item("http://"+host+"/")), f.fetch(t.Context(), item("http://"+host+"/"))
		if first.Status != 503 || second.Status != 200 {
			t.Errorf("got %d, then %d", first.Status, second.Status)
		}
	})
}

func TestFetchPanic(t *testing.T) {
	f := testFetcher(t, nil)
	f.do = newShell(nil).do
	p := f.fetch(t.Context(), item("http://example.com/a"))
	_, _, err := f.fetchRobots(t.Context(), "http://example.com/robots.txt")
	if p.Problem != ProblemInternal || !strings.Contains(p.Detail, "http://example.com/a") {
		t.Errorf("got %q %q, want the panic with its URL", p.Problem, p.Detail)
	}
	if problem, detail := classify(err); err == nil || problem != ProblemInternal || !strings.Contains(detail, "http://example.com/robots.txt") {
		t.Errorf("robots.txt: got %q %q, want the panic with its URL", problem, detail)
	}
}

func TestFetchRobots(t *testing.T) {
	long := strings.Repeat("#\n", robots.MaxBytes)
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		hops := strings.Count(r.URL.Path, "hop/")
		switch {
		case hops > 0:
			http.Redirect(w, r, strings.Replace(r.URL.Path, "hop/", "", 1), http.StatusMovedPermanently)
		case r.URL.Path == "/nowhere":
			http.Redirect(w, r, "ftp://example.com/robots.txt", http.StatusFound)
		case r.URL.Path == "/long":
			_, _ = io.WriteString(w, long)
		case r.URL.Path == "/missing":
			http.NotFound(w, r)
		case r.URL.Path == "/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/broken":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "User-agent: *\n")
		case r.URL.Path == "/part":
			w.WriteHeader(http.StatusPartialContent)
		case r.URL.Path == "/empty":
			w.WriteHeader(http.StatusNoContent)
		default:
			_, _ = io.WriteString(w, "User-agent: *")
		}
	})
	f := testFetcher(t, func(o *Options) { o.MaxSize = 10 }, host) // MaxSize applies only to pages
	tests := []struct {
		path   string
		status int
		size   int
		err    bool
	}{
		{"/robots.txt", 200, len("User-agent: *"), false},
		{"/hop/hop/hop/hop/hop/robots.txt", 200, len("User-agent: *"), false},
		{"/hop/hop/hop/hop/hop/hop/robots.txt", 301, 0, false},
		{"/nowhere", 302, 0, false},
		{"/long", 200, robots.MaxBytes + 1, false},
		{"/missing", 404, 0, false},
		{"/busy", 503, 0, false},
		{"/empty", 204, 0, false},
		{"/broken", 0, 0, true},
		{"/part", 0, 0, true},
	}
	for _, tt := range tests {
		status, body, err := f.fetchRobots(t.Context(), "http://"+host+tt.path)
		if status != tt.status || len(body) != tt.size || (err != nil) != tt.err {
			t.Errorf("%s: got %d, %d bytes, %v, want %+v", tt.path, status, len(body), err, tt)
		}
	}
}

func TestFetchRobotsTimeout(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(60 * time.Millisecond)
		http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
	})
	f := testFetcher(t, func(o *Options) { o.Timeout = 150 * time.Millisecond }, host)
	_, _, err := f.fetchRobots(t.Context(), "http://"+host+"/robots.txt")
	if problem, _ := classify(err); err == nil || problem != ProblemTimeout {
		t.Errorf("got %v, want that six slow answers are too much", err)
	}
}

func TestClassifyRobots(t *testing.T) {
	err := &robotsUnreachableError{origin: "http://example.com", err: fmt.Errorf("status %d", 500)}
	if problem, detail := classify(err); problem != ProblemUnrobots || !strings.Contains(detail, "500") {
		t.Errorf("got %q %q", problem, detail)
	}
	err.err = &wire.PrivateError{Host: "example.com:80"}
	if problem, _ := classify(err); problem != ProblemPrivate {
		t.Errorf("got %q, want the site's own problem", problem)
	}
}

// Requests have only the expected headers.
func TestRequestHeaders(t *testing.T) {
	var got http.Header
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() }))
	t.Cleanup(s.Close)
	testFetcher(t, nil, s.Listener.Addr().String()).fetch(t.Context(), item(s.URL+"/a?b"))
	want := http.Header{
		"Accept":          {"text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5"},
		"Accept-Encoding": {"gzip, deflate, br, zstd"},
		"User-Agent":      {Defaults().UserAgent},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got headers %v, want %v", got, want)
	}
}

func TestFetchHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			_, _ = io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, r.Proto)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	f := testFetcher(t, func(o *Options) { o.Roots = roots }, s.Listener.Addr().String())

	if p := f.fetch(t.Context(), item(s.URL+"/")); p.Problem != "" || string(p.Body) != "HTTP/2.0" {
		t.Errorf("got %q %q %q, want a page by HTTP/2", p.Problem, p.Detail, p.Body)
	}
	if p := f.fetch(t.Context(), item(s.URL+"/broken")); p.Problem != ProblemReset || string(p.Body) != "half" || !p.Truncated {
		t.Errorf("got %q %q %q, want half a page", p.Problem, p.Detail, p.Body)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	running := goleak.IgnoreCurrent()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/index.html", []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.NotFoundHandler())
	host := s.Listener.Addr().String()
	opt := Defaults()
	opt.AllowHosts = []string{host}
	opt.Folders = folder.Sites([]string{dir})
	f, err := newFetcher(opt)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, url := range slices.Repeat([]string{"http://" + host + "/", "http://" + opt.Folders[0].Host + "/", "http://" + wiretest.ClosedPort(t) + "/"}, 8) {
		all.Go(func() { f.fetch(t.Context(), item(url)) })
	}
	all.Wait()
	f.close()
	s.Close()
	goleak.VerifyNone(t, running)
}

// BenchmarkFetch compares a fetch with a request by net/http for the same page. Both include the
// work of the server.
func BenchmarkFetch(b *testing.B) {
	page := bytes.Repeat([]byte("<p>A skink is a lizard with short legs.</p>\n"), 15<<10/44)
	host := serve(b, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write(page)
	})
	b.Run("skink", func(b *testing.B) {
		f := testFetcher(b, nil, host)
		b.SetBytes(int64(len(page)))
		b.ReportAllocs()
		for b.Loop() {
			if p := f.fetch(b.Context(), item("http://"+host+"/a/b.html")); len(p.Body) != len(page) {
				b.Fatal(p.Problem, p.Detail)
			}
		}
	})
	b.Run("http.Client", func(b *testing.B) {
		client := &http.Client{Transport: &http.Transport{DisableCompression: true}, Timeout: 5 * time.Second}
		defer client.CloseIdleConnections()
		b.SetBytes(int64(len(page)))
		b.ReportAllocs()
		for b.Loop() {
			resp, err := client.Get("http://" + host + "/a/b.html")
			if err != nil {
				b.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || len(body) != len(page) {
				b.Fatal(err)
			}
			_ = resp.Body.Close()
		}
	})
}

// A host name in ASCII is requested as it is, even if its labels are not valid Punycode.
func TestFetchInvalidPunycode(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) })
	name := "xn--pokxncvks.localhost:" + port(host)
	f := testFetcher(t, nil, name)
	if p := f.fetch(t.Context(), item("http://"+name+"/")); p.Problem != "" || string(p.Body) != name {
		t.Errorf("got %q %q %q, want %s", p.Problem, p.Detail, p.Body, name)
	}
}
