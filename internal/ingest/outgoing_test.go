package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/crawler"
	"skink/dedup"
	"skink/extract"
	"skink/internal/tools/storetest"
	"skink/store"
)

// linkedPage is a page with each kind of link.
const linkedPage = `<title>Links</title>
	<link rel=stylesheet href=/a.css><link rel=canonical href=/c1><link rel=canonical href=/c2><link rel=canonical href=/c1>
	<link rel=alternate hreflang=de href="/de#top"><link rel=alternate hreflang=x-default href=/><link rel=next href=/next>
	<h1>First</h1><h1>Second</h1>
	<a href="/one#part"></a><a href=/one rel=nofollow>one</a><a href=/paid rel=nofollow>paid</a><a href="http://other.test/?b=1&a=2"><img src=/p.png alt="a picture"></a>
	<a href="/#top">up</a><a href=mailto:x@y>mail</a><iframe src=/frame title=map></iframe><script src=/a.js></script><img src=/one>`

// stored returns the content of the store for the page at http://a.test/ after some visits, one for
// each body.
func stored(t *testing.T, opt Options, crawl *crawler.Options, bodies ...string) *store.Content {
	t.Helper()
	s := storetest.NewMemory()
	p := start(t, s, opt)
	for i, body := range bodies {
		visit := page("http://a.test/", body)
		visit.Item.Due = time.Unix(int64(9+2*i), 0)
		visit.FetchedAt = time.Unix(int64(10+2*i), 0)
		visit.Took = 1234567 * time.Microsecond
		follow(t, p, crawl, visit)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	pages, err := s.Pages(t.Context(), []dedup.Hash{dedup.HashOf([]byte("http://a.test/"))}, store.WantLinks)
	if err != nil || pages[0] == nil {
		t.Fatal(pages, err)
	}
	return pages[0]
}

func shownLinks(links []store.Link) string {
	var all []string
	for _, l := range links {
		nofollow := ""
		if l.NoFollow {
			nofollow = " nofollow"
		}
		all = append(all, fmt.Sprintf("%s %s %q%s", l.Kind, l.URL, l.Text, nofollow))
	}
	return strings.Join(all, "\n")
}

const linkedPageLinks = `link http://a.test/one "one"
link http://a.test/paid "paid" nofollow
link http://other.test/?b=1&a=2 ""
frame http://a.test/frame "map"
neighbour http://a.test/next ""
alternate http://a.test/de ""
style http://a.test/a.css ""
image http://a.test/p.png "a picture"
script http://a.test/a.js ""`

func TestLinksAreKept(t *testing.T) {
	want := strings.Replace(linkedPageLinks, `a=2 ""`, `a=2 "a picture"`, 1)
	within := within(t, crawler.ScopeHost)
	got := stored(t, testOptions(t), within, linkedPage)
	same(t, "links", shownLinks(got.Links), want)
	same(t, "of a crawl that follows none", shownLinks(stored(t, testOptions(t), new(crawler.Options), linkedPage).Links), want)

	r := got.Record
	if !slices.Equal(r.H1, []string{"First", "Second"}) || r.Took != 1234 {
		t.Errorf("headings %q, took %d", r.H1, r.Took)
	}
	if r.CanonicalURL != "http://a.test/c1" || !slices.Equal(r.Canonicals, []string{"http://a.test/c1", "http://a.test/c2"}) {
		t.Errorf("canonical %s of %q", r.CanonicalURL, r.Canonicals)
	}
	if want := []store.Alternate{{Lang: "de", URL: "http://a.test/de"}, {Lang: "x-default", URL: "http://a.test/"}}; !slices.Equal(r.Alternates, want) {
		t.Errorf("alternates %v, want %v", r.Alternates, want)
	}

	opt := testOptions(t)
	opt.NoLinks = true
	if off := stored(t, opt, within, linkedPage); off.Links != nil || len(off.Record.H1) != 2 {
		t.Errorf("with links off: %d links, %d headings", len(off.Links), len(off.Record.H1))
	}
}

// The links of a page with nofollow are stored too.
func TestLinksOfAPageThatForbidsToFollow(t *testing.T) {
	got := stored(t, testOptions(t), within(t, crawler.ScopeHost), `<meta name=robots content=nofollow><a href=/one>one</a><img src=/p.png>`)
	same(t, "links", shownLinks(got.Links), "link http://a.test/one \"one\" nofollow\nimage http://a.test/p.png \"\"")
}

// All different texts of the links to a URL are stored, however the page writes the URL.
func TestTextsOfLinks(t *testing.T) {
	got := stored(t, testOptions(t), within(t, crawler.ScopeHost), `<a href=/one>one</a><a href=/one#part>the part</a><a href="http://A.test/one"><img alt=picture></a><a href=/one rel=next>one</a><a href=/one>more</a>`)
	same(t, "links", shownLinks(got.Links), `link http://a.test/one "one\nmore\nthe part\npicture"`)
	if got := got.Links[0].Said(); got != "one; more; the part; picture" {
		t.Errorf("on one line: %s", got)
	}
}

// If the links of a page have changed but its words have not, the new links are stored.
func TestLinksOfALaterVisit(t *testing.T) {
	const text = "<p>The words of this page are the same at each visit, only its links are not."
	got := stored(t, testOptions(t), within(t, crawler.ScopeHost), text+"<a href=/one></a>", text+"<a href=/two></a>")
	same(t, "links", shownLinks(got.Links), `link http://a.test/two ""`)
	if got.Record.Visit != store.Same {
		t.Errorf("the visit is %q, want %q", got.Record.Visit, store.Same)
	}
	same(t, "of a page without any", shownLinks(stored(t, testOptions(t), within(t, crawler.ScopeHost), text+"<a href=/one></a>", text).Links), "")
}

// The format for links in a store supports all kinds of links in documents.
func TestKindsOfLinks(t *testing.T) {
	for _, by := range []extract.By{extract.ByAnchor, extract.ByFrame, extract.ByRefresh, extract.ByNeighbour, extract.ByAlternate, extract.ByImage, extract.ByScript, extract.ByStyle, extract.ByMedia} {
		links := []store.Link{{URL: "http://a.test/", Kind: store.LinkKind(by)}}
		got, err := store.UnpackLinks("", store.PackLinks("", links))
		if err != nil || !slices.Equal(got, links) {
			t.Errorf("%s came back as %v (%v)", by, got, err)
		}
	}
}
