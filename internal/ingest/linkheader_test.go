package ingest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"skink/extract"
)

func TestLinkHeader(t *testing.T) {
	const page = "https://a.example/shop/shoes?colour=red"
	for _, c := range []struct {
		fields     []string
		canonicals []string
		alternates []extract.Alternate
	}{
		{[]string{`<https://a.example/shoes>; rel="canonical"`}, []string{"https://a.example/shoes"}, nil},
		{[]string{`</one>; rel="c\anonical"`}, []string{"https://a.example/one"}, nil}, // an escaped character
		{[]string{`<shoes>;rel=canonical`}, []string{"https://a.example/shop/shoes"}, nil},
		{[]string{`</a,b;c>; title="x, <y>; rel=canonical"; REL = "nofollow Canonical"`}, []string{"https://a.example/a,b;c"}, nil},
		{[]string{`</style.css>; rel=preload; as=style, </one>; rel=canonical`, `</two>; rel=canonical`}, []string{"https://a.example/one", "https://a.example/two"}, nil},
		{[]string{`</de>; rel="alternate"; hreflang="de-AT", </x>; rel=alternate; type="text/plain"`}, nil, []extract.Alternate{{Hreflang: "de-AT", Href: "https://a.example/de"}}},
		{[]string{`</first>; rel=next; rel=canonical`}, nil, nil},            // if there are two rel parameters, the first counts
		{[]string{`</other>; rel=canonical; anchor="/elsewhere"`}, nil, nil}, // the link is about another page
		{[]string{`</a\"b>; title="\">; rel=canonical`}, nil, nil},           // the quoted string is not closed
		{[]string{`/bare; rel=canonical`, `<`, `<>`, `<x`, `;;`, `<a> b; rel=canonical`, ``}, nil, nil},
	} {
		doc := &extract.Document{}
		obeyLinks(doc, http.Header{"Link": c.fields}, page)
		if !slices.Equal(doc.Canonicals, c.canonicals) || !slices.Equal(doc.Alternates, c.alternates) {
			t.Errorf("%q: %q, %v", c.fields, doc.Canonicals, doc.Alternates)
		}
		if first := append(c.canonicals, "")[0]; doc.Canonical != first {
			t.Errorf("%q: the canonical URL is %q, want %q", c.fields, doc.Canonical, first)
		}
	}
}

// A canonical URL in the document takes precedence.
func TestLinkHeaderAfterDocument(t *testing.T) {
	doc := &extract.Document{Canonical: "/own", Canonicals: []string{"/own"}}
	obeyLinks(doc, http.Header{"Link": {`</other>; rel=canonical`}}, "https://a.example/")
	if doc.Canonical != "/own" || !slices.Equal(doc.Canonicals, []string{"/own", "https://a.example/other"}) {
		t.Errorf("%q, %q", doc.Canonical, doc.Canonicals)
	}
}

func FuzzLinkHeader(f *testing.F) {
	f.Add(`<https://a.example/shoes>; rel="canonical", </de>; rel=alternate; hreflang=de`)
	f.Add(`<a>; b="\`)
	f.Fuzz(func(t *testing.T, field string) {
		doc := &extract.Document{}
		obeyLinks(doc, http.Header{"Link": {field}}, "https://a.example/")
		for _, a := range doc.Alternates {
			if !strings.Contains(field, a.Hreflang) {
				t.Fatalf("%q: %+v", field, a)
			}
		}
		if n := len(doc.Canonicals) + len(doc.Alternates); n > strings.Count(field, "<") {
			t.Fatalf("%q: %d links", field, n)
		}
	})
}
