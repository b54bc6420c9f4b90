package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

type server struct {
	web    *web
	asked  []atomic.Int32
	robots atomic.Int64
	all    atomic.Int64
	bytes  atomic.Int64
	wrong  atomic.Int64 // requests for addresses that no page links to, or that robots.txt forbids
}

func newServer(w *web) *server { return &server{web: w, asked: make([]atomic.Int32, len(w.pages))} }

func isClosed(err error) bool {
	return errors.Is(err, net.ErrClosed) || errors.Is(err, http.ErrServerClosed)
}

// Asked reports the requests that the server has received so far.
type Asked struct {
	Pages  int   `json:"pages"` // pages requested at least once
	Again  int   `json:"again"` // repeated requests for pages, not counting the first retry of a busy page
	Robots int64 `json:"robots"`
	All    int64 `json:"all"`   // all requests to the hosts
	Bytes  int64 `json:"bytes"` // total length of all bodies sent
	Wrong  int64 `json:"wrong"` // requests for addresses that no page links to, or that robots.txt forbids
}

func (s *server) sofar() (a Asked) {
	a.Robots, a.Wrong, a.All, a.Bytes = s.robots.Load(), s.wrong.Load(), s.all.Load(), s.bytes.Load()
	for n := range s.asked {
		times, due := int(s.asked[n].Load()), 1
		if s.web.busy(n) {
			due = 2
		}
		if times > 0 {
			a.Pages++
		}
		a.Again += max(times-due, 0)
	}
	return a
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, ok := s.host(r.Host)
	if ok {
		s.all.Add(1)
		w = &counting{w, &s.bytes}
	}
	switch {
	case !ok && strings.HasPrefix(r.Host, "127.0.0.1:"):
		_ = json.NewEncoder(w).Encode(s.sofar())
	case !ok:
		s.refuse(w)
	case r.URL.Path == "/robots.txt":
		s.robots.Add(1)
		io.WriteString(w, "User-agent: *\nDisallow: /private/\n")
	case r.URL.Path == "/sitemap.xml": // not counted as wrong: a crawler may request the sitemap although nothing links to it
		http.NotFound(w, r)
	default:
		s.answer(w, r, host)
	}
}

type counting struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

func (c *counting) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] reach the optional methods of the original ResponseWriter.
func (c *counting) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// host returns the number of a host: 12 for h12.localhost:8080.
func (s *server) host(name string) (int, bool) {
	label, ok := strings.CutSuffix(name, fmt.Sprintf(".localhost:%d", s.web.port))
	if !ok || !strings.HasPrefix(label, "h") {
		return 0, false
	}
	n, err := strconv.Atoi(label[1:])
	return n, err == nil && n >= 0 && n < s.web.hosts
}

func (s *server) refuse(w http.ResponseWriter) {
	s.wrong.Add(1)
	http.Error(w, "no such address in this web", http.StatusNotFound)
}

func (s *server) answer(w http.ResponseWriter, r *http.Request, host int) {
	n, kind := s.web.first[host], "page"
	if path := r.URL.Path; path != "/" {
		first, second, _ := strings.Cut(path[1:], "/")
		number, err := strconv.Atoi(second)
		if err != nil || number < n || number >= s.web.first[host+1] || first == "page" && number == n {
			s.refuse(w)
			return
		}
		n, kind = number, first
	}
	switch {
	case kind == "page" && s.web.goneIn(n) > 0:
		http.Error(w, "gone", http.StatusNotFound)
	case kind == "page":
		s.page(w, r, n)
	case kind == "new" && s.web.hasNew(n):
		var body bytes.Buffer
		s.web.writeNew(&body, n)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		serveBody(w, r, body.Bytes())
	case kind == string(s.web.extraOf(n)):
		s.extra(w, n, extra(kind))
	default:
		s.refuse(w)
	}
}

func (s *server) page(w http.ResponseWriter, r *http.Request, n int) {
	if s.asked[n].Add(1) == 1 && s.web.busy(n) {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	var body bytes.Buffer
	s.web.writePage(&body, n)
	serveBody(w, r, body.Bytes())
}

func (s *server) extra(w http.ResponseWriter, n int, e extra) {
	switch e {
	case gone:
		http.Error(w, "gone", http.StatusNotFound)
	case moved:
		w.Header().Set("Location", s.web.url(s.web.target(n)))
		w.WriteHeader(http.StatusMovedPermanently)
	case picture:
		w.Header().Set("Content-Type", "image/png")
		io.WriteString(w, "\x89PNG\r\n\x1a\n")
	case broken:
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "<p>The rest of this page")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case private:
		s.refuse(w)
	}
}
