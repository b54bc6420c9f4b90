package sitemap

import (
	"slices"
	"testing"
)

func TestFeed(t *testing.T) {
	for _, test := range []struct {
		name, file string
		want       []string
		is         bool
	}{
		{"RSS", `<?xml version="1.0"?><!-- x --><rss version="2.0"><channel><link>http://a/</link><atom:link href="/self" rel="self"/>
<item><title>t</title><link> http://a/1?x=1&amp;y=2 </link></item><item><link><![CDATA[http://a/2]]></link><comments>/c</comments></item><item><link>http://a/1?x=1&amp;y=2</link></item></channel></rss>`,
			[]string{"http://a/1?x=1&y=2", "http://a/2"}, true},
		{"Atom", `<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry><link rel="edit" href="/e"/><link href="/1"/></entry><entry><link rel="alternate" href="/2"/></entry></feed>`, []string{"/1", "/2"}, true},
		{"RSS 1.0", `<rdf:RDF xmlns="http://purl.org/rss/1.0/"><channel><link>/</link></channel><item><link>/1</link></item></rdf:RDF>`, []string{"/1"}, true},
		{"cut off", `<rss><channel><item><link>/1</link></item><item><link>/2`, []string{"/1"}, true},
		{"no entries", `<rss><channel></channel></rss>`, nil, true},
		{"a sitemap", `<urlset><url><loc>/1</loc></url></urlset>`, nil, false},
		{"no XML", `what`, nil, false},
		{"a page", `<!doctype html><html><link rel=alternate href=/feed>`, nil, false},
	} {
		if got, is := Feed([]byte(test.file)); !slices.Equal(got, test.want) || is != test.is {
			t.Errorf("%s: got %q, %v, want %q, %v", test.name, got, is, test.want, test.is)
		}
		if begins := Begins([]byte(test.file)); begins != (test.name == "a sitemap") {
			t.Errorf("%s: begins as a sitemap: %v", test.name, begins)
		}
	}
}
