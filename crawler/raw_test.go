package crawler

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/crawler/wire"
	"skink/frontier"
)

// rawServer starts a server that answers each path with fixed bytes.
func rawServer(t *testing.T, answers map[string]string) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	t.Cleanup(func() { listener.Close(); served.Wait() })
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer conn.Close()
				request := make([]byte, 4<<10)
				n, _ := conn.Read(request)
				path := strings.Fields(string(request[:n]) + " / /")[1]
				_, _ = io.WriteString(conn, answers[path])
			})
		}
	})
	return "http://" + listener.Addr().String()
}

func rawOptions(told func(*wire.Raw)) Options {
	opt := Defaults()
	opt.AllowHosts = []string{"127.0.0.1"}
	opt.Timeout = time.Minute
	opt.OnAnswer = told
	return opt
}

// fetchRaw fetches one URL with a new fetcher.
func fetchRaw(t *testing.T, url string, opt Options) *Page {
	t.Helper()
	f, err := newFetcher(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	return f.fetch(t.Context(), frontier.Item{URL: url})
}

// The heads of an exchange are recorded byte for byte. The body is recorded without transfer
// coding, but with its content coding.
func TestRaw(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("<p>packed"))
	_ = z.Close()
	coded := packed.String()
	const odd = "HTTP/1.1 200 Fine\r\nx-b: 1\r\nSet-Cookie: a\r\nX-A:  2\r\nset-cookie: b\r\n"
	tests := []struct {
		path, answer string
		head, body   string
		cut          wire.Cut
	}{
		{"/order", odd + "Content-Length: 4\r\n\r\nbody", odd + "Content-Length: 4\r\n\r\n", "body", wire.Whole},
		{"/chunks", odd + "Transfer-Encoding: chunked\r\n\r\n3\r\nbod\r\n1\r\ny\r\n0\r\n\r\n", odd + "Transfer-Encoding: chunked\r\n\r\n", "body", wire.Whole},
		{"/coded", odd + fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(coded), coded), odd + fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n", len(coded)), coded, wire.Whole},
		{"/tail", odd + "Content-Encoding: gzip\r\n\r\n" + coded + "\x00\x00", odd + "Content-Encoding: gzip\r\n\r\n", coded + "\x00\x00", wire.Whole},
		{"/miscoded", odd + "Content-Encoding: gzip\r\n\r\n" + coded[:12] + "not packed at all, for long", odd + "Content-Encoding: gzip\r\n\r\n", coded[:12] + "not packed at all, for long", wire.Whole},
		{"/unasked", odd + "Content-Encoding: compress\r\n\r\nxyz", odd + "Content-Encoding: compress\r\n\r\n", "xyz", wire.Whole},
		{"/short", odd + "Content-Length: 9\r\n\r\nbody", odd + "Content-Length: 9\r\n\r\n", "body", wire.CutDisconnected},
		{"/long", odd + "Content-Length: 3000\r\n\r\n" + strings.Repeat("long", 750), odd + "Content-Length: 3000\r\n\r\n", strings.Repeat("long", 500), wire.CutLength},
		{"/hint", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + odd + "Content-Length: 0\r\n\r\n", odd + "Content-Length: 0\r\n\r\n", "", wire.Whole},
		{"/lf", strings.ReplaceAll(odd, "\r", "") + "Content-Length: 4\n\nbody", strings.ReplaceAll(odd, "\r", "") + "Content-Length: 4\n\n", "body", wire.Whole},
		{"/gone", "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone", "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\n", "gone", wire.Whole},
		{"/empty", "HTTP/1.1 204 No Content\r\nX: 1\r\n\r\n", "HTTP/1.1 204 No Content\r\nX: 1\r\n\r\n", "", wire.Whole},
	}
	answers := map[string]string{}
	for _, test := range tests {
		answers[test.path] = test.answer
	}
	url := rawServer(t, answers)
	opt := rawOptions(func(*wire.Raw) {})
	opt.MaxSize = 2000
	for _, test := range tests {
		page := fetchRaw(t, url+test.path, opt)
		raw := page.Raw
		if raw == nil {
			t.Errorf("%s: no answer: %s %s", test.path, page.Problem, page.Detail)
			continue
		}
		if string(raw.Head) != test.head || string(raw.Body) != test.body || raw.Cut != test.cut {
			t.Errorf("%s: cut %q, head\n%q\nbody %q", test.path, raw.Cut, raw.Head, raw.Body)
		}
		if raw.URL != url+test.path || !raw.At.Equal(page.FetchedAt) || raw.Protocol != "http/1.1" || raw.Address != "127.0.0.1" {
			t.Errorf("%s: %s at %v by %s from %s", test.path, raw.URL, raw.At, raw.Protocol, raw.Address)
		}
		if want := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: ", test.path, strings.TrimPrefix(url, "http://")); !strings.HasPrefix(string(raw.Request), want) || !strings.HasSuffix(string(raw.Request), "\r\n\r\n") {
			t.Errorf("%s: the request is\n%s", test.path, raw.Request)
		}
	}
	opt.OnAnswer = nil
	if page := fetchRaw(t, url+"/order", opt); page.Raw != nil || string(page.Body) != "body" {
		t.Errorf("nobody wanted %+v", page.Raw)
	}
}

// The recorded heads of several exchanges on one connection are not mixed up.
func TestRawReused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["x-PATH"] = []string{r.URL.Path}
		fmt.Fprint(w, r.RemoteAddr)
	}))
	defer server.Close()
	f, err := newFetcher(rawOptions(func(*wire.Raw) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	var connection string
	for _, path := range []string{"/1", "/2", "/3"} {
		page := f.fetch(t.Context(), frontier.Item{URL: server.URL + path})
		if connection == "" {
			connection = string(page.Body)
		}
		if string(page.Body) != connection {
			t.Skip("the connection was not used again")
		}
		if !strings.Contains(string(page.Raw.Head), "x-PATH: "+path+"\r\n") || !strings.HasPrefix(string(page.Raw.Request), "GET "+path+" ") {
			t.Errorf("%s\n%s%s", path, page.Raw.Request, page.Raw.Head)
		}
	}
}

// With TLS, the recorded heads are unencrypted. For HTTP/2, they are written in the form of
// HTTP/1.1.
func TestRawTLS(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header()["a-b"] = []string{"c"}
			fmt.Fprint(w, "<p>A page.")
		}))
		server.EnableHTTP2 = h2
		server.StartTLS()
		defer server.Close()
		opt := rawOptions(func(*wire.Raw) {})
		opt.Roots = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		f, err := newFetcher(opt)
		if err != nil {
			t.Fatal(err)
		}
		raw := f.fetch(t.Context(), frontier.Item{URL: server.URL + "/"}).Raw
		f.close()
		if raw == nil {
			t.Fatal("no answer")
		}
		protocol, fields := "http/1.1", []string{"Content-Type: text/html", "a-b: c"}
		if h2 {
			protocol, fields = "h2", []string{"A-B: c", "Content-Length: 10", "Content-Type: text/html", "Date: "}
		}
		at := 0
		for _, field := range fields {
			i := strings.Index(string(raw.Head), "\r\n"+field)
			if i < at {
				t.Errorf("%s: %q is not in its place in\n%s", protocol, field, raw.Head)
			}
			at = i
		}
		if raw.Protocol != protocol || !strings.HasPrefix(string(raw.Head), "HTTP/1.1 200 OK\r\n") || !strings.HasPrefix(string(raw.Request), "GET / HTTP/1.1\r\nHost: 127.0.0.1:") || string(raw.Body) != "<p>A page." {
			t.Errorf("by %s:\n%s%s%s", raw.Protocol, raw.Request, raw.Head, raw.Body)
		}
	}
}

// OnAnswer gets answers that do not become pages: those for robots.txt and its redirects, and those
// for a URL that is tried again.
func TestOnAnswer(t *testing.T) {
	tries := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			http.Redirect(w, r, "/rules.txt", http.StatusFound)
		case "/rules.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
		default:
			if tries++; tries == 1 {
				w.WriteHeader(http.StatusInternalServerError)
			}
			fmt.Fprint(w, "<p>A page.")
		}
	}))
	defer server.Close()
	var mu sync.Mutex
	var told []string
	opt := rawOptions(func(r *wire.Raw) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, strings.TrimPrefix(r.URL, server.URL)+" "+strings.Fields(string(r.Head))[1])
	})
	opt.Delay, opt.Retries = 0, 1
	pages := 0
	err := walk(t.Context(), []string{server.URL + "/"}, opt, func(p *Page) (Links, error) {
		pages++
		if p.Raw == nil || !strings.HasPrefix(string(p.Raw.Head), "HTTP/1.1 200") {
			t.Errorf("%s came as %+v", p.Item.URL, p.Raw)
		}
		return Links{}, nil
	})
	if want := "/robots.txt 302, /rules.txt 200, / 500"; err != nil || pages != 1 || strings.Join(told, ", ") != want {
		t.Errorf("%v, %d pages; told of %q", err, pages, told)
	}
}
