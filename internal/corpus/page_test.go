package corpus

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"
	"time"

	"skink/crawler"
	"skink/store"
	"skink/warc"
)

// TestPageOf uses records of other tools, with and without a page. If users could expect a page in
// a record, the error must give the reason why there is none.
func TestPageOf(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>A page."
	for _, test := range []struct {
		why             string
		kind            warc.Type
		uri, typ, block string
		want            string // URL and body of the page; "" if there is none
		passed          string // reason of the PassedError; "" if there is a page, or if the record only accompanies another
		wrong           bool
	}{
		{"an answer", warc.Response, "http://EXAMPLE.com/a b", warc.TypeResponse, ok, "http://example.com/a%20b <p>A page.", "", false},
		{"chunks as stored", warc.Response, "http://example.com/", warc.TypeResponse, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "http://example.com/ abc", "", false},
		{"a file of the web", warc.Resource, "https://example.com/", "text/html", "<p>A file.", "https://example.com/ <p>A file.", "", false},
		{"a file of wget's", warc.Resource, "metadata://gnu.org/software/wget/warc/wget.log", "text/plain", "log", "", "record whose target URI is not http or https", false},
		{"a text", warc.Conversion, "https://example.com/", "text/plain", "A text.", "https://example.com/ A text.", "", false},
		{"a picture of a page", warc.Conversion, "https://example.com/", "image/png", "png", "", "conversion record that is not text", false},
		{"robots.txt", warc.Response, "http://example.com/robots.txt", warc.TypeResponse, ok, "", "robots.txt", false},
		{"a name server", warc.Response, "dns:example.com", "text/dns", "example.com. 1 IN A 192.0.2.1", "", "response that is not HTTP", false},
		{"a request", warc.Request, "http://example.com/", warc.TypeRequest, "GET / HTTP/1.1\r\n\r\n", "", "", false},
		{"another tool's JSON", warc.Metadata, "http://example.com/", "application/json", `{"pages":1}`, "", "", false},
		{"another tool's problem", warc.Metadata, "http://example.com/", "application/json", `{"problem":"none"}`, "", "", false},
		{"another tool's problem that is no text", warc.Metadata, "http://example.com/", "application/json", `{"problem":5}`, "", "", false},
		{"a revisit", warc.Revisit, "http://example.com/", warc.TypeResponse, ok, "", "revisit", false},
		{"a continuation", warc.Continuation, "http://example.com/", "", "rest", "", "continuation", false},
		{"no URI", warc.Response, "", warc.TypeResponse, ok, "", "record without a target URI", false},
		{"a URI of its own kind", warc.Response, "urn:pageinfo:http://example.com/", warc.TypeResponse, ok, "", "record whose target URI is not http or https", false},
		{"no URI at all", warc.Response, "example.com", warc.TypeResponse, ok, "", "record whose target URI is not http or https", false},
		{"another type", "respnse", "http://example.com/", warc.TypeResponse, ok, "", `record of type "respnse"`, false},
		{"no type", "", "http://example.com/", warc.TypeResponse, ok, "", "record without a type", false},
		{"no answer", warc.Response, "http://example.com/", warc.TypeResponse, "GET / HTTP/1.1\r\n\r\n", "", "", true},
		{"no URL", warc.Response, "http://exa mple/", warc.TypeResponse, ok, "", "", true},
	} {
		rec := warc.New(test.kind, test.uri, time.Unix(0, 0), test.typ, []byte(test.block))
		p, err := PageOf(rec, crawler.Defaults())
		got, passed := "", ""
		if p != nil {
			got = p.Item.URL + " " + string(p.Body)
		}
		if none, ok := errors.AsType[*PassedError](err); ok {
			passed, err = none.Kind, nil
		}
		if got != test.want || passed != test.passed || (err != nil) != test.wrong {
			t.Errorf("%s: %q, passed over %q, %v", test.why, got, passed, err)
		}
	}
}

// If several records share a gzip member, all are read, but none has a position.
func TestShared(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := warc.NewWriter(z, warc.Options{Plain: true})
	info, err := warc.NewInfo("all.warc.gz", time.Unix(0, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(info); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"a", "b", "c"} {
		if err := w.Write(warc.New(warc.Resource, "http://example.com/"+path, time.Unix(0, 0), "text/html", []byte("<p>"+path))); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	odd, got := 0, ""
	err = ReadArchive(t.Context(), &b, "all.warc.gz", crawler.Defaults(), Notes{
		Damaged: func(err error) { t.Errorf("damaged: %v", err) },
		Odd:     func(error) { odd++ },
		Passed:  func(kind string) { t.Errorf("passed over: %s", kind) },
	}, func(p *crawler.Page, at store.Archived, _ Order) error {
		got += string(p.Body)
		if at != (store.Archived{}) {
			t.Errorf("%s is at %+v", p.Item.URL, at)
		}
		return nil
	})
	if err != nil || got != "<p>a<p>b<p>c" || odd != 1 {
		t.Errorf("%q, %d odd, %v", got, odd, err)
	}
}

// An ARC file is refused with an error that names the format, whether the file is compressed or
// not.
func TestARC(t *testing.T) {
	const arc = "filedesc://a.arc 0.0.0.0 20050101000000 text/plain 75\n1 0 test\nURL IP-address Archive-date Content-type Archive-length\n\n"
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(arc))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{arc, b.String()} {
		err := ReadArchive(t.Context(), strings.NewReader(file), "a.arc", crawler.Defaults(), Notes{}, nil)
		if !errors.Is(err, warc.ErrARC) {
			t.Errorf("%v", err)
		}
	}
}
