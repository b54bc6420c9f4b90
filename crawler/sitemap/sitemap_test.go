package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf16"
)

// listed returns the entries of a file, one per line, and the error at its end.
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
		b.WriteString("\n")
	}
	return b.String()
}

const head = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// TestRead reads each kind of list as its standard defines it, and with mistakes that sites make.
func TestRead(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"urlset", head + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
			<url><loc>http://a.example/</loc><lastmod>2005-01-01</lastmod><changefreq>monthly</changefreq><priority>0.8</priority></url>
			<url><loc> http://a.example/b?x=1&amp;y=2 </loc></url>
		</urlset>`, "http://a.example/\nhttp://a.example/b?x=1&y=2\n"},
		{"index", head + `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
			<sitemap><loc>http://a.example/1.xml.gz</loc><lastmod>2004-10-01T18:23:17+00:00</lastmod></sitemap>
			<sitemap><loc>http://a.example/2.xml.gz</loc></sitemap></sitemapindex>`,
			"list http://a.example/1.xml.gz\nlist http://a.example/2.xml.gz\n"},
		{"text", "http://a.example/1\r\n\r\nHTTPS://a.example/2  \nno URL\nftp://a.example/\nhttp://a.example/3", "http://a.example/1\nHTTPS://a.example/2\nhttp://a.example/3\n"},
		{"rss 2.0", head + `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>T</title><link>http://a.example/</link>
			<atom:link href="http://a.example/feed" rel="self"/><image><url>http://a.example/i.png</url><link>http://a.example/no</link></image>
			<item><title>A &amp; B</title><link>http://a.example/1</link><pubDate>Sun, 06 Nov 1994 08:49:37 GMT</pubDate><guid>x</guid></item>
			<item><guid>http://a.example/no-link</guid></item></channel></rss>`, "http://a.example/1\nhttp://a.example/no-link\n"},
		{"rss 1.0", head + `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="x"><link>http://a.example/</link></channel>
			<item rdf:about="y"><link>http://a.example/1</link><dc:date>2003-12-13T18:30Z</dc:date></item></rdf:RDF>`, "http://a.example/1\n"},
		{"atom", head + `<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://a.example/"/>
			<entry><link rel="edit" href="http://a.example/edit"/><link rel="alternate" type="text/html" href="http://a.example/1?a=1&amp;b=2"/><published>2002-01-01T00:00:00Z</published><updated>2003-12-13T18:30:02Z</updated></entry>
			<entry><link href='/2'/><content type="xhtml"><div><a href="http://a.example/no"/><link href="http://a.example/no"/></div></content></entry></feed>`,
			"http://a.example/1?a=1&b=2\n/2\n"},

		{"a prefix for all", `<sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9"><sm:url><sm:loc>http://a.example/</sm:loc></sm:url></sm:urlset>`, "http://a.example/\n"},
		{"other vocabularies", `<urlset xmlns:image="i" xmlns:xhtml="x"><url><image:image><image:loc>http://a.example/no.png</image:loc></image:image><loc>http://a.example/</loc>
			<xhtml:link rel="alternate" hreflang="de" href="http://a.example/de"/><news:news><news:publication_date>2020-01-01</news:publication_date></news:news></url></urlset>`, "http://a.example/\n"},
		{"several URLs in one entry", `<urlset><url><loc>/1</loc><loc>/2</loc></url><url><loc>/3</loc></url></urlset>`, "/1\n/2\n/3\n"},
		{"each with its date", `<urlset><url><loc>/1</loc><lastmod>2001-01-01</lastmod><loc>/2</loc><lastmod>2002-01-01</lastmod><loc>/3</loc></url><url><loc>/4</loc></url></urlset>`, "/1\n/2\n/3\n/4\n"},
		{"each behind its date", `<urlset><url><lastmod>2001-01-01</lastmod><loc>/1</loc><lastmod>2002-01-01</lastmod><loc>/2</loc></url></urlset>`, "/1\n/2\n"},
		{"several lists in one entry", `<sitemapindex><sitemap><loc>/1.xml</loc><lastmod>2001-01-01</lastmod><loc>/2.xml</loc></sitemap></sitemapindex>`, "list /1.xml\nlist /2.xml\n"},
		{"several links of one item", `<rss><channel><item><link>/1</link><link>/2</link></item></channel></rss>`, "/1\n"},
		{"no loc", `<urlset><url> http://a.example/1 </url><url>http://a.example/2<lastmod>2001-01-01</lastmod></url><url><priority>1</priority>https://a.example/3</url><url>see http://a.example/</url></urlset>`, "http://a.example/1\nhttp://a.example/2\nhttps://a.example/3\n"},
		{"no loc in an index", `<sitemapindex><sitemap>http://a.example/1.xml<lastmod>2001-01-01</lastmod></sitemap></sitemapindex>`, "list http://a.example/1.xml\n"},
		{"text beside a loc", `<urlset><url>http://a.example/no<loc>/1</loc></url></urlset>`, "/1\n"},
		{"url in loc", `<urlset><url><loc> <url><![CDATA[http://a.example/1]]></url> </loc><lastmod>2001-01-01</lastmod></url><url><loc><url>/2</url></loc></url></urlset>`, "http://a.example/1\n/2\n"},
		{"other elements in loc", `<urlset><url><loc><b>/1</b><br/></loc></url></urlset>`, "/1\n"},
		{"no ends", `<urlset><url><loc>/1<url><loc>/2<url><loc>/3</urlset>`, "/1\n/2\n/3\n"},
		{"guid", `<rss><channel><item><guid isPermaLink="true">http://a.example/1</guid><pubDate>1 Jan 01 00:00 +0000</pubDate></item><item><guid isPermaLink="false">http://a.example/no</guid></item>
			<item><guid>tag:a.example,2001:no</guid></item><item><guid>http://a.example/no</guid><link>/2</link></item><item><link></link><guid>http://a.example/3</guid></item></channel></rss>`, "http://a.example/1\n/2\nhttp://a.example/3\n"},
		{"no date", `<urlset><url><loc>/1</loc><lastmod>yesterday</lastmod></url><url><loc>/2</loc><lastmod></lastmod></url></urlset>`, "/1\n/2\n"},
		{"cdata", `<urlset><url><loc><![CDATA[http://a.example/?a=1&b=]]]]><![CDATA[>2]]></loc></url></urlset>`, "http://a.example/?a=1&b=]]>2\n"},
		{"comments", `<!-- <urlset> --><urlset><!-- -- > <url> --><url><loc>http://a.example/<!-- x -->1</loc></url></urlset>`, "http://a.example/1\n"},
		{"ampersands as they are", `<urlset><url><loc>http://a.example/?a=1&copy=2&sect=3&lt;</loc></url></urlset>`, "http://a.example/?a=1&copy=2&sect=3<\n"},
		{"numbers for characters", `<urlset><url><loc>http://a.example/&#x41;&#66;&#xZZ;&#99999999;</loc></url></urlset>`, "http://a.example/AB&#xZZ;&#99999999;\n"},
		{"elements of HTML", `<rss><channel><title>T<b></title><style/><item><title/><link>/1</link><script></script><plaintext></item></channel></rss>`, "/1\n"},
		{"a long article", `<rss><channel><item><content:encoded><![CDATA[` + strings.Repeat("<p>word", MaxToken/8) + `]]></content:encoded><link>/1</link></item></channel></rss>`, "/1\n"},
		{"capitals", `<URLSET><Url><LOC>http://a.example/</LOC></Url></URLSET>`, "http://a.example/\n"},
		{"left open", `<urlset><url><loc>http://a.example/1</url><url><loc>http://a.example/2</loc></urlset>`, "http://a.example/1\nhttp://a.example/2\n"},
		{"closed twice", `<urlset><url><loc>http://a.example/1</loc></loc></b></url></url></urlset>`, "http://a.example/1\n"},
		{"a byte order mark", "\ufeff \n" + head + `<urlset><url><loc>http://a.example/</loc></url></urlset>`, "http://a.example/\n"},
		{"relative", `<urlset><url><loc>/a</loc></url><url><loc>b</loc></url><url><loc>//c.example/</loc></url><url><loc>javascript:x</loc></url></urlset>`, "/a\nb\n//c.example/\njavascript:x\n"},
		{"latin 1", `<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>http://a.example/caf` + "\xe9" + `</loc></url></urlset>`, "http://a.example/café\n"},
		{"a declaration that lies", `<?xml version="1.0" encoding="UTF-16"?><urlset><url><loc>http://a.example/é</loc></url></urlset>`, "http://a.example/é\n"},
		{"an encoding that nobody knows", `<?xml version="1.0" encoding="klingon"?><urlset><url><loc>http://a.example/</loc></url></urlset>`, "http://a.example/\n"},
		{"nothing in it", `<urlset/>`, ""},

		{"its end is missing", `<urlset><url><loc>http://a.example/1</loc></url><url><loc>http://a.ex`, "http://a.example/1\n! the end of the file is missing: unexpected EOF\n"},
		{"its last entry is cut after its URL", `<urlset><url><loc>/1</loc></url><url><loc>/2</loc><lastmod>2001-0`, "/1\n! the end of the file is missing: unexpected EOF\n"},
		{"its last entry is cut in the end of its URL", `<urlset><url><loc>/1</loc></url><url><loc>/2</lo`, "/1\n! the end of the file is missing: unexpected EOF\n"},
		{"its last entry is cut after its date", `<urlset><url><lastmod>2001-01-01</lastmod><loc>/2</loc>` + "\n", "! the end of the file is missing: unexpected EOF\n"},
		{"its last URL is cut", `<urlset><url>http://a.example/1</url><url>http://a.example/2`, "http://a.example/1\n! the end of the file is missing: unexpected EOF\n"},
		{"its last URL is cut in a section", `<urlset><url><loc><![CDATA[http://a.exam`, "! the end of the file is missing: unexpected EOF\n"},
		{"an index is cut", `<sitemapindex><sitemap><loc>/1.xml</loc>`, "! the end of the file is missing: unexpected EOF\n"},
		{"a feed is cut", `<rss><channel><item><link>/1</link><title>Th`, "! the end of the file is missing: unexpected EOF\n"},
		{"empty", "", "! the file is empty: not a sitemap\n"},
		{"spaces", " \n ", "! the file is empty: not a sitemap\n"},
		{"a page", "<!DOCTYPE html>\n<html><body><a href=/>home</a></body></html>", "! the first element is <html>: not a sitemap\n"},
		{"prose", "Not found.\nhttp://a.example/\n", "! the file begins with neither an element nor a URL: not a sitemap\n"},
		{"markup without an element", "<!-- nothing -->", "! the file contains no element: not a sitemap\n"},
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

// iotestOneByte is a reader that returns one byte at a time.
type iotestOneByte struct{ r io.Reader }

func (o iotestOneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 1)]) }

func packed(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.Bytes()
}

// A list in UTF-16 is read with or without a byte order mark, in both byte orders.
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

// A caller may stop before the end of the list.
func TestStop(t *testing.T) {
	for e, err := range Read(strings.NewReader("http://a.example/1\nhttp://a.example/2\n")) {
		if err != nil || e.URL != "http://a.example/1" {
			t.Fatal(e, err)
		}
		break
	}
}

// Errors of the reader are yielded after the entries before them.
func TestBrokenOff(t *testing.T) {
	broken := errors.New("the line is dead")
	got := listed(io.MultiReader(strings.NewReader("<urlset><url><loc>/1</loc></url><url>"), failing{broken}))
	if want := "/1\n! the line is dead\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	file := packed(strings.Repeat("http://a.example/\n", 3))
	if got := listed(bytes.NewReader(file[:len(file)-4])); !strings.HasSuffix(got, "! decompress the sitemap: unexpected EOF\n") {
		t.Errorf("gzip without its end: %q", got)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
