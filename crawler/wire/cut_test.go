package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A response that ends before its Content-Length has the same outcome in a crawl and when it is
// replayed: an encoded body that is complete is used.
func TestReplayOfCut(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("some text of a page"))
	_ = z.Close()
	for _, tt := range []struct {
		name, coding string
		body         []byte
		want         bool // whether the body is used
	}{
		{"a complete encoded body", "gzip", packed.Bytes(), true},
		{"a part of an encoded body", "gzip", packed.Bytes()[:packed.Len()-4], false},
		{"a plain body", "", []byte("some text of a page"), false},
	} {
		h := http.Header{"Content-Length": {fmt.Sprint(len(tt.body) + 7)}}
		if tt.coding != "" {
			h.Set("Content-Encoding", tt.coding)
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for name, values := range h {
				w.Header()[name] = values
			}
			_, _ = w.Write(tt.body)
		}))
		client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
		resp, err := client.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		raw := &Raw{}
		_, crawled := readBody(resp, 1000, func(r io.Reader) io.Reader { return r }, raw)
		server.Close()
		if raw.Body == nil || (crawled == nil) != tt.want {
			t.Errorf("%s: crawled with error %v", tt.name, crawled)
		}
		cut := raw.Cut
		if cut == Whole {
			cut = cutBy(crawled)
		}
		x := Replay(Answer{Status: 200, Header: h, Body: bytes.NewReader(raw.Body), Cut: cut}, func(http.Header) int64 { return 1000 }, time.Second)
		if (x.BodyErr == nil) != tt.want || !tt.want && cut != Whole && !errors.Is(x.BodyErr, io.ErrUnexpectedEOF) {
			t.Errorf("%s: replayed with error %v after cut %q", tt.name, x.BodyErr, cut)
		}
	}
}
