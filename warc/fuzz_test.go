package warc_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"skink/warc"
)

// Whatever the file contains, a Reader returns its records in order and ends, and the records can
// be written and read again.
func FuzzReader(f *testing.F) {
	for _, opt := range []warc.Options{{}, {Plain: true}} {
		file, _ := small(f, opt, 2)
		f.Add(file)
		f.Add(file[:len(file)-7])
		f.Add(append(bytes.Clone(file[3:]), file...))
	}
	f.Add([]byte("WARC/1.0\nWARC-Type: response\nContent-Type: application/http\nContent-Length: 60\n\nHTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\nabc\n0\n\n\n\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		r := warc.NewReader(bytes.NewReader(file))
		last := int64(-1)
		for calls := 0; ; calls++ {
			if calls > 2*len(file)+2 {
				t.Fatal("it does not end")
			}
			rec, err := r.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				if _, ok := errors.AsType[*warc.Damage](err); !ok {
					t.Fatalf("an error that is no damage: %v", err)
				}
				continue
			}
			if rec.Offset < last || rec.Offset > int64(len(file)) {
				t.Fatalf("a record at offset %d of %d, after one at %d", rec.Offset, len(file), last)
			}
			last = rec.Offset
			copied(t, rec)
		}
	})
}

// copied writes a record and reads it again, if its block is complete.
func copied(t *testing.T, rec *warc.Record) {
	block, err := io.ReadAll(rec.Block)
	if err != nil {
		return
	}
	if m, err := (&warc.Record{Header: rec.Header, Block: bytes.NewReader(block)}).Message(); err == nil {
		if n, _ := io.Copy(io.Discard, m.Body); n > int64(len(block)) {
			t.Fatalf("a block of %d bytes has a body of %d", len(block), n)
		}
	}
	file, err := warc.Options{}.Append(nil, &warc.Record{Header: rec.Header, Block: bytes.NewReader(block)})
	if err != nil {
		return // the name of one of its fields is invalid
	}
	again, err := warc.NewReader(bytes.NewReader(file)).Next()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := textOf(t, again), textOf(t, &warc.Record{Header: rec.Header, Block: bytes.NewReader(block)}); got != want || again.Length != int64(len(file)) {
		t.Fatalf("written and read\n got %s\nwant %s", got, want)
	}
}

// A record that is written and read again is the same.
func FuzzWriter(f *testing.F) {
	f.Add("https://example.com/", "text/html", []byte("HTTP/1.1 200 OK\r\n\r\nx"), "X-Field", "a value", true)
	f.Add("a b", "", []byte("\r\n\r\nWARC/1.1\r\n"), "WARC-Type", "b", false)
	f.Fuzz(func(t *testing.T, uri, kind string, block []byte, name, value string, plain bool) {
		rec := warc.New(warc.Response, uri, time.Unix(0, 0), kind, block)
		rec.Header.Add(name, value)
		opt := warc.Options{Plain: plain}
		file, err := opt.Append(nil, rec)
		if err != nil {
			return
		}
		r := warc.NewReader(bytes.NewReader(append(bytes.Clone(file), file...)))
		for range 2 {
			got, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			rec.Block = bytes.NewReader(block)
			if text, want := textOf(t, got), textOf(t, rec); text != want {
				t.Fatalf("\n got %s\nwant %s", text, want)
			}
			if got.Length != int64(len(file)) {
				t.Fatalf("its length is %d, and it has %d bytes", got.Length, len(file))
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatal(err)
		}
	})
}

// The SURT of a URL never contains a space, a tab or a line end, which would end the key in an
// index.
func FuzzSURT(f *testing.F) {
	for _, url := range []string{"http://www.example.com:80/A//b/?b=2&a=%2525#c", "https://[::1]:8080/", "http://a/;jsessionid=0123456789abcdef0123456789abcdef"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		key := warc.SURT("http://example.com/" + url)
		if strings.ContainsAny(key, " \n\t") || !strings.HasPrefix(key, "com,example)/") {
			t.Errorf("%q has the key %q", url, key)
		}
	})
}
