package extract

import (
	"errors"
	"slices"
	"testing"
)

func TestFeed(t *testing.T) {
	for _, test := range []struct {
		name, body, contentType string
		want                    []string
	}{
		{"RSS", `<?xml version="1.0"?><rss version="2.0"><channel><link>http://a/</link><atom:link href="/self" rel="self"/>
<item><title>t</title><link> http://a/1?x=1&amp;y=2 </link></item><item><link><![CDATA[http://a/2]]></link><comments>/c</comments></item><item><link>http://a/1?x=1&amp;y=2</link></item></channel></rss>`,
			"application/rss+xml", []string{"http://a/1?x=1&y=2", "http://a/2"}},
		{"Atom", `<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry><link rel="edit" href="/e"/><link href="/1"/></entry><entry><link rel="alternate" href="/2"/></entry></feed>`,
			"application/atom+xml", []string{"/1", "/2"}},
		{"RSS 1.0", `<rdf:RDF xmlns="http://purl.org/rss/1.0/"><channel><link>/</link></channel><item><link>/1</link></item></rdf:RDF>`, "text/xml", []string{"/1"}},
		{"as a page", `<?xml version="1.0"?><!-- x --><rss><channel><item><link>/1</link></item></channel></rss>`, "text/html", []string{"/1"}},
		{"no type", `<feed><entry><link href="/1"/></entry></feed>`, "", []string{"/1"}},
		{"cut off", `<rss><channel><item><link>/1</link></item><item><link>/2`, "application/rss+xml", []string{"/1"}},
		{"another XML", `<urlset><url><loc>/1</loc></url></urlset>`, "application/xml", nil},
		{"no XML", `what`, "application/xml", nil},
		{"no addresses", `<rss><channel><item><link>javascript:x()</link></item></channel></rss>`, "application/xml", nil},
	} {
		d, err := Parse([]byte(test.body), test.contentType)
		if !errors.Is(err, ErrNotText) {
			t.Errorf("%s: err = %v", test.name, err)
		}
		var got []string
		if d != nil {
			for _, l := range d.Links {
				got = append(got, l.Href)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
