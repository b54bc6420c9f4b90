package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// listed is what a file lists, a line each, and how reading it ended.
func listed(r io.Reader) string {
	var b strings.Builder
	for e, err := range Read(r) {
		switch {
		case err != nil:
			fmt.Fprintf(&b, "! %v\n", err)
			continue
		case e.Index:
			b.WriteString("list ")
		}
		b.WriteString(e.URL)
		if !e.LastMod.IsZero() {
			fmt.Fprintf(&b, " %s", e.LastMod.Format(time.RFC3339))
		}
		b.WriteString("\n")
	}
	return b.String()
}

const head = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// What each kind of list says, as their standards write them, and as sites do.
func TestRead(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"urlset", head + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
			<url><loc>http://a.example/</loc><lastmod>2005-01-01</lastmod><changefreq>monthly</changefreq><priority>0.8</priority></url>
			<url><loc> http://a.example/b?x=1&amp;y=2 </loc></url>
		</urlset>`, "http://a.example/ 2005-01-01T00:00:00Z\nhttp://a.example/b?x=1&y=2\n"},
		{"index", head + `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
			<sitemap><loc>http://a.example/1.xml.gz</loc><lastmod>2004-10-01T18:23:17+00:00</lastmod></sitemap>
			<sitemap><loc>http://a.example/2.xml.gz</loc></sitemap></sitemapindex>`,
			"list http://a.example/1.xml.gz 2004-10-01T18:23:17Z\nlist http://a.example/2.xml.gz\n"},
		{"text", "http://a.example/1\r\n\r\nHTTPS://a.example/2  \nno URL\nftp://a.example/\nhttp://a.example/3", "http://a.example/1\nHTTPS://a.example/2\nhttp://a.example/3\n"},
		{"rss 2.0", head + `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>T</title><link>http://a.example/</link>
			<atom:link href="http://a.example/feed" rel="self"/><image><url>http://a.example/i.png</url><link>http://a.example/no</link></image>
			<item><title>A &amp; B</title><link>http://a.example/1</link><pubDate>Sun, 06 Nov 1994 08:49:37 GMT</pubDate><guid>x</guid></item>
			<item><guid>http://a.example/no-link</guid></item></channel></rss>`, "http://a.example/1 1994-11-06T08:49:37Z\n"},
		{"rss 1.0", head + `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="x"><link>http://a.example/</link></channel>
			<item rdf:about="y"><link>http://a.example/1</link><dc:date>2003-12-13T18:30Z</dc:date></item></rdf:RDF>`, "http://a.example/1 2003-12-13T18:30:00Z\n"},
		{"atom", head + `<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://a.example/"/>
			<entry><link rel="edit" href="http://a.example/edit"/><link rel="alternate" type="text/html" href="http://a.example/1?a=1&amp;b=2"/><published>2002-01-01T00:00:00Z</published><updated>2003-12-13T18:30:02Z</updated></entry>
			<entry><link href='/2'/><content type="xhtml"><div><a href="http://a.example/no"/><link href="http://a.example/no"/></div></content></entry></feed>`,
			"http://a.example/1?a=1&b=2 2003-12-13T18:30:02Z\n/2\n"},

		{"a prefix for all", `<sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9"><sm:url><sm:loc>http://a.example/</sm:loc></sm:url></sm:urlset>`, "http://a.example/\n"},
		{"other vocabularies", `<urlset xmlns:image="i" xmlns:xhtml="x"><url><image:image><image:loc>http://a.example/no.png</image:loc></image:image><loc>http://a.example/</loc>
			<xhtml:link rel="alternate" hreflang="de" href="http://a.example/de"/><news:news><news:publication_date>2020-01-01</news:publication_date></news:news></url></urlset>`, "http://a.example/\n"},
		{"the first of two", `<urlset><url><loc>http://a.example/1</loc><loc>http://a.example/2</loc></url></urlset>`, "http://a.example/1\n"},
		{"no date", `<urlset><url><loc>/1</loc><lastmod>yesterday</lastmod></url><url><loc>/2</loc><lastmod></lastmod></url></urlset>`, "/1\n/2\n"},
		{"cdata", `<urlset><url><loc><![CDATA[http://a.example/?a=1&b=]]]]><![CDATA[>2]]></loc></url></urlset>`, "http://a.example/?a=1&b=]]>2\n"},
		{"comments", `<!-- <urlset> --><urlset><!-- -- > <url> --><url><loc>http://a.example/<!-- x -->1</loc></url></urlset>`, "http://a.example/1\n"},
		{"ampersands as they are", `<urlset><url><loc>http://a.example/?a=1&copy=2&sect=3&lt;</loc></url></urlset>`, "http://a.example/?a=1&copy=2&sect=3<\n"},
		{"numbers for characters", `<urlset><url><loc>http://a.example/&#x41;&#66;&#xZZ;&#99999999;</loc></url></urlset>`, "http://a.example/AB&#xZZ;&#99999999;\n"},
		{"capitals", `<URLSET><Url><LOC>http://a.example/</LOC></Url></URLSET>`, "http://a.example/\n"},
		{"left open", `<urlset><url><loc>http://a.example/1</url><url><loc>http://a.example/2</loc></urlset>`, "http://a.example/1\nhttp://a.example/2\n"},
		{"closed twice", `<urlset><url><loc>http://a.example/1</loc></loc></b></url></url></urlset>`, "http://a.example/1\n"},
		{"a byte order mark", "\ufeff \n" + head + `<urlset><url><loc>http://a.example/</loc></url></urlset>`, "http://a.example/\n"},
		{"relative", `<urlset><url><loc>/a</loc></url><url><loc>b</loc></url><url><loc>//c.example/</loc></url><url><loc>javascript:x</loc></url></urlset>`, "/a\nb\n//c.example/\njavascript:x\n"},
		{"latin 1", `<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>http://a.example/caf` + "\xe9" + `</loc></url></urlset>`, "http://a.example/café\n"},
		{"a declaration that lies", `<?xml version="1.0" encoding="UTF-16"?><urlset><url><loc>http://a.example/é</loc></url></urlset>`, "http://a.example/é\n"},
		{"an encoding that nobody knows", `<?xml version="1.0" encoding="klingon"?><urlset><url><loc>http://a.example/</loc></url></urlset>`, "http://a.example/\n"},
		{"nothing in it", `<urlset/>`, ""},

		{"its end is missing", `<urlset><url><loc>http://a.example/1</loc></url><url><loc>http://a.ex`, "http://a.example/1\n! its end is missing: unexpected EOF\n"},
		{"empty", "", "! it is empty: it is no sitemap\n"},
		{"spaces", " \n ", "! it is empty: it is no sitemap\n"},
		{"a page", "<!DOCTYPE html>\n<html><body><a href=/>home</a></body></html>", "! it begins with <html>: it is no sitemap\n"},
		{"prose", "Not found.\nhttp://a.example/\n", "! it begins with neither an element nor a URL: it is no sitemap\n"},
		{"markup without an element", "<!-- nothing -->", "! it has no element: it is no sitemap\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := listed(strings.NewReader(test.file)); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
			if got := listed(bytes.NewReader(packed(test.file))); got != test.want {
				t.Errorf("packed, got\n%swant\n%s", got, test.want)
			}
			if got := listed(iotestOneByte{strings.NewReader(test.file)}); got != test.want {
				t.Errorf("byte by byte, got\n%swant\n%s", got, test.want)
			}
		})
	}
}

// iotestOneByte gives one byte at a time.
type iotestOneByte struct{ r io.Reader }

func (o iotestOneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 1)]) }

func packed(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.Bytes()
}

// A list in UTF-16 is read with a mark and without one, whatever order its bytes have.
func TestUTF16(t *testing.T) {
	for _, mark := range []string{"\ufeff", ""} {
		var little, big []byte
		for _, u := range utf16.Encode([]rune(mark + `<?xml version="1.0" encoding="UTF-16"?><urlset><url><loc>http://a.example/é</loc></url></urlset>`)) {
			little = append(little, byte(u), byte(u>>8))
			big = append(big, byte(u>>8), byte(u))
		}
		for name, file := range map[string][]byte{"little": little, "big": big} {
			if got := listed(bytes.NewReader(file)); got != "http://a.example/é\n" {
				t.Errorf("%s endian, mark %q: got %q", name, mark, got)
			}
		}
	}
}

// Whoever has seen enough breaks off.
func TestStop(t *testing.T) {
	for e, err := range Read(strings.NewReader("http://a.example/1\nhttp://a.example/2\n")) {
		if err != nil || e.URL != "http://a.example/1" {
			t.Fatal(e, err)
		}
		break
	}
}

// The errors of the reader come through, behind what was read before.
func TestBrokenOff(t *testing.T) {
	broken := errors.New("the line is dead")
	got := listed(io.MultiReader(strings.NewReader("<urlset><url><loc>/1</loc></url><url>"), failing{broken}))
	if want := "/1\n! the line is dead\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	file := packed(strings.Repeat("http://a.example/\n", 3))
	if got := listed(bytes.NewReader(file[:len(file)-4])); !strings.HasSuffix(got, "! unpack it: unexpected EOF\n") {
		t.Errorf("gzip without its end: %q", got)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
