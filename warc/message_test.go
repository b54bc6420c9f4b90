package warc_test

import (
	"io"
	"strings"
	"testing"

	"skink/warc"
)

func TestMessage(t *testing.T) {
	for _, test := range []struct {
		why, block string
		status     int
		fields     string // names and values of the fields
		body, err  string
	}{
		{"as usual", "HTTP/1.1 200 OK\r\nB: 1\r\nA: 2\r\n\r\nbody", 200, "B=1 A=2", "body", ""},
		{"the order and the case of names stay", "HTTP/1.0 404\r\nx-b: 1\r\nX-A: 2\r\nx-b: 3\r\n\r\n", 404, "x-b=1 X-A=2 x-b=3", "", ""},
		{"a line that goes on", "HTTP/1.1 200 OK\r\nA: 1\r\n  2\r\n\r\n", 200, "A=1 2", "", ""},
		{"no carriage returns", "HTTP/1.1 200 OK\nA: 1\n\nbody", 200, "A=1", "body", ""},
		{"a line that is none", "HTTP/1.1 200 OK\r\nnonsense\r\nA: 1\r\n\r\n", 200, "A=1", "", ""},
		{"no end of the head", "HTTP/1.1 304 Not Modified\r\nA: 1\r\n", 304, "A=1", "", ""},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", 200, "Transfer-Encoding=chunked", "abcde", ""},
		{"chunks that are none", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n<p>no chunks", 200, "Transfer-Encoding=chunked", "<p>no chunks", ""},
		{"chunks that end early", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc", 200, "Transfer-Encoding=chunked", "abc", "unexpected EOF"},
		{"a chunk that is too long", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", 200, "Transfer-Encoding=chunked", "ab", "malformed chunked"},
		{"a request", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, "Host=a", "", ""},
	} {
		m, err := (&warc.Record{Block: strings.NewReader(test.block)}).Message()
		if err != nil {
			t.Errorf("%s: %v", test.why, err)
			continue
		}
		var fields []string
		for _, f := range m.Header {
			fields = append(fields, f.Name+"="+f.Value)
		}
		body, err := io.ReadAll(m.Body)
		if m.Status() != test.status || strings.Join(fields, " ") != test.fields || string(body) != test.body {
			t.Errorf("%s: status %d, fields %q, body %q", test.why, m.Status(), fields, body)
		}
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: error %v, want %q", test.why, err, test.err)
		}
	}
	if _, err := (&warc.Record{Block: strings.NewReader("HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 1<<18))}).Message(); err == nil {
		t.Error("a head without bounds is read")
	}
}
