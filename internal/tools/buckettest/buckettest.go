// Package buckettest starts S3 servers for tests. A test can make requests to them fail.
package buckettest

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// A Server is an S3 server with one bucket.
type Server struct {
	URL    string
	Bucket string

	backend gofakes3.Backend
	handler http.Handler // the S3 server itself, without failures

	mu       sync.Mutex
	fail     func(n int, r *http.Request) int // guarded by mu, as are requests and most
	requests int
	most     int64 // bytes of a response to GET before the connection breaks; 0 means no limit
}

// New returns a server that is not listening yet. It is an http.Handler.
func New() (*Server, error) {
	backend := s3mem.New()
	s := &Server{Bucket: "crawls", backend: backend}
	s.handler = gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	return s, backend.CreateBucket(s.Bucket)
}

// Start starts a server, which stops when the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch status := s.fails(r); {
	case status < 0:
		panic(http.ErrAbortHandler) // breaks the connection
	case status > 0:
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
	default:
		s.mu.Lock()
		most := s.most
		s.mu.Unlock()
		if r.Method == http.MethodGet && most > 0 && strings.Count(r.URL.Path, "/") > 1 && r.URL.RawQuery == "" {
			w = &breaking{w, most}
		}
		s.handler.ServeHTTP(w, r)
	}
}

// Break makes each later response with an object break after most bytes. 0 means that none breaks.
func (s *Server) Break(most int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = most
}

type breaking struct {
	http.ResponseWriter
	left int64
}

func (b *breaking) Write(p []byte) (int, error) {
	n, err := b.ResponseWriter.Write(p[:min(int64(len(p)), b.left)])
	if b.left -= int64(n); b.left == 0 {
		if f, ok := b.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// Put stores an object.
func (s *Server) Put(key string, content []byte) error {
	r := httptest.NewRequest(http.MethodPut, (&url.URL{Path: "/" + s.Bucket + "/" + key}).String(), bytes.NewReader(content))
	r.Header.Set("Content-Length", fmt.Sprint(len(content)))
	answer := httptest.NewRecorder()
	s.handler.ServeHTTP(answer, r)
	if answer.Code != http.StatusOK {
		return fmt.Errorf("put %s: status %d", key, answer.Code)
	}
	return nil
}

// Fail sets the function that the server calls for each later request. The argument n is the number
// of the request, counting from 1. The function returns the status of the response, 0 to handle the
// request normally, or -1 to break the connection.
func (s *Server) Fail(fail func(n int, r *http.Request) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail, s.requests = fail, 0
}

func (s *Server) fails(r *http.Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests++; s.fail == nil {
		return 0
	}
	return s.fail(s.requests, r)
}

// Object returns the content of an object, or nil if it does not exist.
func (s *Server) Object(key string) ([]byte, error) {
	o, err := s.backend.GetObject(s.Bucket, key, nil)
	if gofakes3.HasErrorCode(err, gofakes3.ErrNoSuchKey) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer o.Contents.Close()
	return io.ReadAll(o.Contents)
}

// Unfinished returns the number of multipart uploads that were neither completed nor aborted.
func (s *Server) Unfinished() (int, error) {
	answer := httptest.NewRecorder()
	s.handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/"+s.Bucket+"?uploads", nil))
	switch answer.Code {
	case http.StatusOK:
		return strings.Count(answer.Body.String(), "<UploadId>"), nil
	case http.StatusNotFound: // no multipart upload was ever started
		return 0, nil
	}
	return 0, fmt.Errorf("list uploads: status %d", answer.Code)
}
