package crawler

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"skink/frontier"
)

// A fakeServer is a server for HTTP/2 or HTTP/1.1 that can break the protocol or flood the client.
type fakeServer struct {
	listener net.Listener
	roots    *x509.CertPool
	wire     atomic.Int64 // number of bytes written, including those of TLS

	mu    sync.Mutex
	asked map[string]int // guarded by mu: number of requests, by path
}

func (s *fakeServer) host() string { return s.listener.Addr().String() }

func (s *fakeServer) note(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[path]++
}

func (s *fakeServer) requests() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.asked)
}

// serveFake starts a server that calls serve with each connection after the TLS handshake.
func serveFake(t testing.TB, protocol string, serve func(*fakeServer, *tls.Conn)) *fakeServer {
	t.Helper()
	model := httptest.NewTLSServer(http.NotFoundHandler()) // only the certificate of this server is used
	defer model.Close()
	s := &fakeServer{roots: x509.NewCertPool(), asked: map[string]int{}}
	s.roots.AddCert(model.Certificate())
	config := &tls.Config{Certificates: model.TLS.Certificates, NextProtos: []string{protocol}}
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	all.Go(func() {
		for {
			raw, err := s.listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				conn := tls.Server(countedConn{raw, &s.wire}, config)
				defer conn.Close()
				defer context.AfterFunc(ctx, func() { _ = raw.Close() })()
				if conn.Handshake() == nil {
					serve(s, conn)
				}
			})
		}
	})
	t.Cleanup(func() { _ = s.listener.Close(); stop(); all.Wait() })
	return s
}

type countedConn struct {
	net.Conn
	wire *atomic.Int64
}

func (c countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.wire.Add(int64(n))
	return n, err
}

// An answer2 is a function that answers an HTTP/2 request. If it returns an error, the connection
// is closed.
type answer2 func(f *http2.Framer, stream uint32, path string) error

var errHangUp = errors.New("the server hangs up")

// serveHTTP2 starts an HTTP/2 server whose answers are written frame by frame.
func serveHTTP2(t testing.TB, answer answer2) *fakeServer {
	return serveFake(t, "h2", func(s *fakeServer, conn *tls.Conn) {
		if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		out := bufio.NewWriterSize(conn, 16<<10) // so that many small frames are in one TLS record
		f := http2.NewFramer(out, conn)
		f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		if f.WriteSettings() != nil {
			return
		}
		for {
			if out.Flush() != nil {
				return
			}
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			switch frame := frame.(type) {
			case *http2.SettingsFrame:
				if !frame.IsAck() && f.WriteSettingsAck() != nil {
					return
				}
			case *http2.MetaHeadersFrame:
				s.note(frame.PseudoValue("path"))
				if answer(f, frame.StreamID, frame.PseudoValue("path")) != nil {
					_ = out.Flush()
					return
				}
			}
		}
	})
}

// writeHead sends the head of an answer. The elements of fields are alternately names and values.
func writeHead(f *http2.Framer, stream uint32, end bool, fields ...string) error {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	for i := 0; i < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: end})
}

func page2(f *http2.Framer, stream uint32, _ string) error {
	if err := writeHead(f, stream, false, ":status", "200", "content-type", "text/html"); err != nil {
		return err
	}
	return f.WriteData(stream, true, []byte("<p>a page"))
}

func refuse2(f *http2.Framer, stream uint32, _ string) error {
	return f.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
}

func goAway2(f *http2.Framer, _ uint32, _ string) error {
	_ = f.WriteGoAway(0, http2.ErrCodeNo, nil)
	return errHangUp
}

func redirect2(to string) answer2 {
	return func(f *http2.Framer, stream uint32, _ string) error {
		return writeHead(f, stream, true, ":status", "302", "location", to)
	}
}

func missing2(f *http2.Framer, stream uint32, _ string) error {
	return writeHead(f, stream, true, ":status", "404")
}

// paths returns an answer2 that chooses the answer by path. The answer for "" is used for all other
// paths.
func paths(answers map[string]answer2) answer2 {
	return func(f *http2.Framer, stream uint32, path string) error {
		answer := answers[path]
		if answer == nil {
			answer = answers[""]
		}
		return answer(f, stream, path)
	}
}

// The schedule knows of each request that a server gets, and the delay applies to each of them.
// Without package wire, net/http would repeat refused requests, some of them endlessly and without
// a pause.
func TestOneRequestATurn(t *testing.T) {
	type counts = map[string]int
	tests := []struct {
		name   string
		answer answer2 // answers of an HTTP/2 server; nil means that the server uses HTTP/1.1 and closes each connection at its second request
		asked  counts
		ends   string // status and problem of the seed, or of its target
	}{
		{"GOAWAY with last stream 0, and closes", goAway2, counts{"/robots.txt": 3}, "0 connection broken"},
		{"REFUSED_STREAM", refuse2, counts{"/robots.txt": 3}, "0 connection broken"},
		{"RST_STREAM with PROTOCOL_ERROR", func(f *http2.Framer, stream uint32, _ string) error {
			return f.WriteRSTStream(stream, http2.ErrCodeProtocol)
		}, counts{"/robots.txt": 3}, "0 connection broken"},
		{"GOAWAY for a page", paths(map[string]answer2{"/robots.txt": missing2, "": goAway2}), counts{"/robots.txt": 1, "/": 3}, "0 connection broken"},
		{"REFUSED_STREAM for a page", paths(map[string]answer2{"/robots.txt": missing2, "": refuse2}), counts{"/robots.txt": 1, "/": 3}, "0 connection broken"},
		{"REFUSED_STREAM behind a redirect", paths(map[string]answer2{"/robots.txt": missing2, "/": redirect2("/next"), "": refuse2}), counts{"/robots.txt": 1, "/": 1, "/next": 3}, "0 connection broken"},
		{"GOAWAY behind a redirect of robots.txt", paths(map[string]answer2{"/robots.txt": redirect2("/robots"), "": goAway2}), counts{"/robots.txt": 3, "/robots": 3}, "0 connection broken"},
		{"GOAWAY after each answer", func(f *http2.Framer, stream uint32, path string) error {
			err := f.WriteGoAway(stream, http2.ErrCodeNo, nil)
			return errors.Join(err, page2(f, stream, path), errHangUp)
		}, counts{"/robots.txt": 1, "/": 1}, "200"},
		{"a connection that was used before closes", nil, counts{"/robots.txt": 1, "/": 2}, "200"},
	}
	opt := Defaults()
	opt.Scope = newScope(t, ScopeAny, nil, nil)
	var roots *x509.CertPool
	var servers []*fakeServer
	var seeds []string
	for _, tt := range tests {
		s := serveOnce(t)
		if tt.answer != nil {
			s = serveHTTP2(t, tt.answer)
		}
		roots = s.roots // all servers have the same certificate of httptest
		servers = append(servers, s)
		seeds = append(seeds, "https://"+s.host()+"/")
		opt.AllowHosts = append(opt.AllowHosts, s.host())
	}
	fetched := map[string]int{}
	var mu sync.Mutex
	count := func(url string) {
		mu.Lock()
		defer mu.Unlock()
		fetched[url]++
	}
	opt.OnPage = func(p *Page) { count(p.Item.URL) }
	opt.Roots = roots
	f, err := newFetcher(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	k := newKeeper(t, seeds...)
	c := newCrawl(k.front, opt, k, f.fetch, f.fetchRobots)
	f.schedule = c.schedule
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, tt := range tests {
		got := servers[i].requests()
		if fmt.Sprint(got) != fmt.Sprint(tt.asked) {
			t.Errorf("%s: the server was asked %v, want %v", tt.name, got, tt.asked)
		}
		for path, n := range got {
			if u := "https://" + servers[i].host() + path; !strings.Contains(path, "robots") && fetched[u] != n {
				t.Errorf("%s: %s was asked for %d times, the crawl knows of %d", tt.name, path, n, fetched[u])
			}
		}
		ends := k.outcomes("https://"+servers[i].host(), "")
		if !strings.Contains("\n"+ends+"\n", " "+tt.ends+"\n") {
			t.Errorf("%s: got\n%s\nwant one that ends with %s", tt.name, ends, tt.ends)
		}
	}
}

// serveOnce answers the first request on a connection, and closes it at the second.
func serveOnce(t testing.TB) *fakeServer {
	return serveFake(t, "http/1.1", func(s *fakeServer, conn *tls.Conn) {
		path := func() string { return strings.Split(readHead(conn)+"  ", " ")[1] }
		first := path()
		if first == "" {
			return
		}
		s.note(first)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n")
		if second := path(); second != "" {
			s.note(second)
		}
	})
}

// maxFlood is the number of bytes that a flooding server sends if the connection is not closed.
const maxFlood = 64 << 20

// If a server sends many bytes with hardly any content, the crawl closes the connection after a few
// megabytes, and does not wait for the timeout. The limit of the test includes bytes in the buffers
// of two sockets.
func TestFloods(t *testing.T) {
	const most = 16 << 20
	head := func(f *http2.Framer, stream uint32) error {
		return writeHead(f, stream, false, ":status", "200", "content-type", "text/html")
	}
	pad := make([]byte, 255)
	tests := []struct {
		name  string
		head  bool // the server sends the head of an answer before the flood
		write func(f *http2.Framer, stream uint32) error
	}{
		{"empty DATA", true, func(f *http2.Framer, stream uint32) error { return f.WriteData(stream, false, nil) }},
		{"DATA of padding", true, func(f *http2.Framer, stream uint32) error { return f.WriteDataPadded(stream, false, nil, pad) }},
		{"DATA of a byte and padding", true, func(f *http2.Framer, stream uint32) error {
			return f.WriteDataPadded(stream, false, []byte("a"), pad)
		}},
		{"PING before the answer", false, func(f *http2.Framer, _ uint32) error { return f.WritePing(true, [8]byte{}) }},
		{"PING in the answer", true, func(f *http2.Framer, _ uint32) error { return f.WritePing(true, [8]byte{}) }},
		{"PRIORITY", false, func(f *http2.Framer, stream uint32) error {
			return f.WritePriority(stream, http2.PriorityParam{Weight: 1})
		}},
		{"frames of no known type", false, func(f *http2.Framer, stream uint32) error {
			return f.WriteRawFrame(0xbe, 0, stream, make([]byte, 16<<10))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s *fakeServer
			s = serveHTTP2(t, func(f *http2.Framer, stream uint32, _ string) error {
				if tt.head && head(f, stream) != nil {
					return errHangUp
				}
				for s.wire.Load() < maxFlood {
					if err := tt.write(f, stream); err != nil {
						return err
					}
				}
				return errHangUp
			})
			f := testFetcher(t, func(o *Options) { o.Timeout, o.Roots = time.Minute, s.roots }, s.host())
			p := f.fetch(t.Context(), item("https://"+s.host()+"/"))
			if p.Problem != ProblemHTTP || p.Truncated != tt.head {
				t.Errorf("got %q %q, truncated %v; want %q", p.Problem, p.Detail, p.Truncated, ProblemHTTP)
			}
			if got := s.requests()["/"]; got != 1 {
				t.Errorf("the server was asked %d times", got)
			}
			f.close()
			if got := s.wire.Load(); got > most {
				t.Errorf("%d MB came over the wire, want at most %d", got>>20, most>>20)
			}
			t.Logf("%.1f MB, %q", float64(s.wire.Load())/(1<<20), p.Detail)
		})
	}
}

// Ordinary answers do not count as floods, however they are divided into frames, and whether they
// arrive at the same time or one after the other on one connection.
func TestNoFlood(t *testing.T) {
	chunks := map[string]int{"/large": 16 << 10, "/lines": 40, "/words": 10}
	sizes := map[string]int{"/large": 10 << 20, "/lines": 256 << 10, "/words": 100 << 10}
	s := serveFake(t, "h2", func(_ *fakeServer, conn *tls.Conn) {
		//lint:ignore SA1019 net/http serves listeners only, and this is one connection
		new(http2.Server).ServeConn(conn, &http2.ServeConnOpts{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			chunk := bytes.Repeat([]byte("a"), chunks[r.URL.Path])
			for left := sizes[r.URL.Path]; left > 0; left -= len(chunk) {
				_, _ = w.Write(chunk[:min(left, len(chunk))])
				w.(http.Flusher).Flush()
			}
		})})
	})
	f := testFetcher(t, func(o *Options) { o.Timeout, o.PerHost, o.Roots = time.Minute, 4, s.roots }, s.host())
	var all sync.WaitGroup
	for path, size := range sizes {
		all.Go(func() {
			for range 2 {
				p := f.fetch(t.Context(), frontier.Item{URL: "https://" + s.host() + path})
				if p.Problem != "" || len(p.Body) != size {
					t.Errorf("%s: got %q %q and %d bytes, want %d", path, p.Problem, p.Detail, len(p.Body), size)
				}
			}
		})
	}
	all.Wait()
}

// An idle connection is closed when it receives much data.
func TestFloodWhileIdle(t *testing.T) {
	ended := make(chan int64, 1)
	var s *fakeServer
	s = serveHTTP2(t, func(f *http2.Framer, stream uint32, path string) error {
		if err := page2(f, stream, path); err != nil {
			return err
		}
		for s.wire.Load() < maxFlood {
			if f.WritePing(true, [8]byte{}) != nil {
				break
			}
		}
		ended <- s.wire.Load()
		return errHangUp
	})
	f := testFetcher(t, func(o *Options) { o.Roots = s.roots }, s.host())
	if p := f.fetch(t.Context(), item("https://"+s.host()+"/")); p.Problem != "" {
		t.Errorf("got %q %q", p.Problem, p.Detail)
	}
	if got := <-ended; got > 16<<20 {
		t.Errorf("%d MB came over a connection that nobody used", got>>20)
	}
}

// Large pages of many hosts arrive at the same time, and wait for memory and for a worker. None of
// them exceeds the time limit of its exchange because of this.
func TestCrawlOfLargePages(t *testing.T) {
	const hosts, size = 24, 4 << 20
	page := make([]byte, size)
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(page)
	})
	w := newWorld()
	var mu sync.Mutex
	var most int64 // guarded by mu
	held := func(c *Crawl) []int64 {
		quick, others := c.rooms.Held()
		return []int64{quick, others}
	}
	opt := Defaults()
	opt.Bodies = 2 * 2 * size // room for two bodies of quick hosts and for two of slow hosts, which have separate memory
	opt.Parallel = 1
	for h := range hosts {
		name := string(rune('a'+h)) + ".localhost" + host[len("127.0.0.1"):]
		opt.AllowHosts = append(opt.AllowHosts, name)
		w.discover("http://" + name + "/")
	}
	c, err := New(w.front, opt, w)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.opt.OnPage = func(*Page) {
		mu.Lock()
		defer mu.Unlock()
		most = max(most, slices.Max(held(c)))
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "pages", w.Pages(), hosts)
	if bound := int64(3*size + 128<<10); most > bound || most < size { // one more body may exceed the limit, and shares grow in steps
		t.Errorf("bodies held %d bytes, want %d at most", most, bound)
	}
	same(t, "held at the end", fmt.Sprint(held(c)), "[0 0]")
}
