package bucket

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"skink/internal/tools/buckettest"
)

const part = 5 << 20 // the smallest part that servers accept

func objectOf(t *testing.T, s *buckettest.Server, name string) *Object {
	t.Helper()
	o, err := New(name, Options{Endpoint: s.URL, Key: "key", Secret: "secret", retries: 3, part: part})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// content returns size bytes that differ from part to part.
func content(size int) []byte {
	b := bytes.Repeat([]byte("0123456789abcdefghijklmnopqrstuvwxyz\n"), size/37+1)[:size]
	for i := range b {
		b[i] += byte(i >> 20)
	}
	return b
}

// writing returns a function that writes b in pieces of an odd size.
func writing(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		for len(b) > 0 {
			n, err := w.Write(b[:min(len(b), 1<<20-1)])
			if err != nil {
				return err
			}
			b = b[n:]
		}
		return nil
	}
}

func object(t *testing.T, s *buckettest.Server, key string) []byte {
	t.Helper()
	b, err := s.Object(key)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWrite(t *testing.T) {
	s := buckettest.Start(t)
	for _, size := range []int{1, part - 1, part, part + 1, 3*part + 7} {
		want := content(size)
		o := objectOf(t, s, "s3://crawls/folder/pages.jsonl")
		if n, err := o.Write(t.Context(), writing(want)); err != nil || n != int64(size) {
			t.Fatalf("%d bytes: %d written, %v", size, n, err)
		}
		if got := object(t, s, "folder/pages.jsonl"); !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d arrive", size, len(got))
		}
	}
	if n, err := objectOf(t, s, "s3://crawls/empty").Write(t.Context(), func(io.Writer) error { return nil }); n != 0 || err != nil {
		t.Errorf("nothing: %d, %v", n, err)
	}
	if object(t, s, "empty") != nil {
		t.Error("an object without bytes appears")
	}
}

// After a failure, the object is as it was, no part of it is left on the server, and the next
// attempt succeeds. A temporary failure is not reported, because the request is repeated.
func TestWriteFails(t *testing.T) {
	broken := errors.New("the store is damaged")
	stopped, stop := context.WithCancel(t.Context())
	isPart := func(r *http.Request) bool { return r.Method == http.MethodPut && r.URL.Query().Has("partNumber") }
	isEnd := func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("uploadId") }
	want, old := content(3*part+7), []byte("the object before")
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		fail  func(n int, r *http.Request) int
		write func(io.Writer) error
		is    string // text that the error must contain; "" means no error
	}{
		{"the first part is refused", t.Context(), func(n int, r *http.Request) int { return when(isPart(r), 403) }, writing(want), "check AWS_ACCESS_KEY_ID"},
		{"the third part is refused", t.Context(), func(n int, r *http.Request) int { return when(r.URL.Query().Get("partNumber") == "3", 403) }, writing(want), "write s3://crawls/pages"},
		{"the server is busy for long", t.Context(), func(n int, r *http.Request) int { return when(r.URL.Query().Get("partNumber") == "2", 503) }, writing(want), "write s3://crawls/pages"},
		{"the connection breaks again and again", t.Context(), func(n int, r *http.Request) int { return when(r.URL.Query().Get("partNumber") == "2", -1) }, writing(want), "write s3://crawls/pages"},
		{"the end is refused", t.Context(), func(n int, r *http.Request) int { return when(isEnd(r), 403) }, writing(want), "write s3://crawls/pages"},
		{"the source fails in the middle", t.Context(), nil, func(w io.Writer) error { return errors.Join(writing(want[:2*part+1])(w), broken) }, "the store is damaged"},
		{"the user stops", stopped, nil, func(w io.Writer) error { defer stop(); return writing(want[:2*part+1])(w) }, "context canceled"},
		{"a small object is refused", t.Context(), func(n int, r *http.Request) int { return when(r.Method == http.MethodPut, 403) }, writing(want[:100]), "check AWS_ACCESS_KEY_ID"},
		{"the server is busy for a while", t.Context(), func(n int, r *http.Request) int { return when(n == 3, 503) }, writing(want), ""},
		{"a connection breaks once", t.Context(), func(n int, r *http.Request) int { return when(n == 3, -1) }, writing(want), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := buckettest.Start(t)
			o := objectOf(t, s, "s3://crawls/pages")
			if _, err := o.Write(t.Context(), writing(old)); err != nil {
				t.Fatal(err)
			}
			s.Fail(tt.fail)
			_, err := o.Write(tt.ctx, tt.write)
			expected := old
			if tt.is == "" {
				expected = want
			}
			if tt.is == "" && err != nil || tt.is != "" && (err == nil || !strings.Contains(err.Error(), tt.is)) {
				t.Errorf("error %v, want %q", err, tt.is)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows a credential: %v", err)
			}
			if got := object(t, s, "pages"); !bytes.Equal(got, expected) {
				t.Errorf("the object has %d bytes, want %d", len(got), len(expected))
			}
			if n, err := s.Unfinished(); n > 0 || err != nil {
				t.Errorf("%d uploads are left on the server, %v", n, err)
			}
			s.Fail(nil)
			if _, err := o.Write(t.Context(), writing(want)); err != nil {
				t.Errorf("next attempt: %v", err)
			}
			if got := object(t, s, "pages"); !bytes.Equal(got, want) {
				t.Errorf("next attempt: the object has %d bytes, want %d", len(got), len(want))
			}
		})
	}
}

func when(is bool, status int) int {
	if is {
		return status
	}
	return 0
}

func TestNew(t *testing.T) {
	good := Options{Endpoint: "http://127.0.0.1:1", Key: "key", Secret: "secret"}
	for _, tt := range []struct {
		name string
		opt  Options
		want string
	}{
		{"s3://b", good, "s3://b does not name an object: try s3://BUCKET/KEY"},
		{"s3:///key", good, "try s3://BUCKET/KEY"},
		{"s3://b/folder/", good, "try s3://BUCKET/KEY"},
		{"s3://b/k", Options{}, "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
		{"s3://b/k", Options{Key: "k", Secret: "s", Endpoint: "127.0.0.1:9000"}, "AWS_ENDPOINT_URL is not the URL of a server: try https://HOST:PORT"},
		{"s3://b/k", Options{Key: "k", Secret: "s", Endpoint: "http://user:hidden@host"}, "AWS_ENDPOINT_URL"},
		{"s3://bucket/key", good, ""},
	} {
		_, err := New(tt.name, tt.opt)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) || err != nil && strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
	s := buckettest.Start(t)
	o, err := New("s3://absent/key", Options{Endpoint: s.URL, Key: "key", Secret: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write(t.Context(), writing([]byte("x"))); err == nil || !strings.Contains(err.Error(), "create the bucket absent first") {
		t.Errorf("bucket that does not exist: %v", err)
	}
}
