package replay

import (
	"testing"
	"time"

	"skink/crawler"
	"skink/warc"
)

// Records of other tools that are pages, and that are none.
func TestPageOf(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>A page."
	for _, test := range []struct {
		why             string
		kind            warc.Type
		uri, typ, block string
		want            string // its URL and body; "": it is none
		wrong           bool
	}{
		{"an answer", warc.Response, "http://EXAMPLE.com/a b", warc.TypeResponse, ok, "http://example.com/a%20b <p>A page.", false},
		{"chunks as stored", warc.Response, "http://example.com/", warc.TypeResponse, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "http://example.com/ abc", false},
		{"a file of the web", warc.Resource, "https://example.com/", "text/html", "<p>A file.", "https://example.com/ <p>A file.", false},
		{"a file of wget's", warc.Resource, "metadata://gnu.org/software/wget/warc/wget.log", "text/plain", "log", "", false},
		{"a text", warc.Conversion, "https://example.com/", "text/plain", "A text.", "https://example.com/ A text.", false},
		{"a picture of a page", warc.Conversion, "https://example.com/", "image/png", "png", "", false},
		{"robots.txt", warc.Response, "http://example.com/robots.txt", warc.TypeResponse, ok, "", false},
		{"a name server", warc.Response, "dns:example.com", "text/dns", "example.com. 1 IN A 192.0.2.1", "", false},
		{"a request", warc.Request, "http://example.com/", warc.TypeRequest, "GET / HTTP/1.1\r\n\r\n", "", false},
		{"another tool's JSON", warc.Metadata, "http://example.com/", "application/json", `{"pages":1}`, "", false},
		{"a revisit", warc.Revisit, "http://example.com/", warc.TypeResponse, ok, "", false},
		{"no answer", warc.Response, "http://example.com/", warc.TypeResponse, "GET / HTTP/1.1\r\n\r\n", "", true},
		{"no URL", warc.Response, "http://exa mple/", warc.TypeResponse, ok, "", true},
	} {
		rec := warc.New(test.kind, test.uri, time.Unix(0, 0), test.typ, []byte(test.block))
		p, err := PageOf(rec, crawler.Defaults())
		got := ""
		if p != nil {
			got = p.Item.URL + " " + string(p.Body)
		}
		if got != test.want || (err != nil) != test.wrong {
			t.Errorf("%s: %q, %v", test.why, got, err)
		}
	}
}
