package audit_test

import (
	"testing"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/report/audit"
	"skink/store"
)

// TestSitemapMissing checks which pages are reported as missing from sitemaps: only pages that search
// engines may list, on hosts whose sitemaps were all read.
func TestSitemapMissing(t *testing.T) {
	s := storetest.NewMemory()
	add := func(url string, r store.Record, links ...string) {
		r.URL, r.ID = url, dedup.HashOf([]byte(url))
		if r.Kind == "" {
			r.Kind, r.Size, r.ContentType, r.Verdict, r.Words = store.Page, 1000, "text/html", dedup.Unique, 100
		}
		var out []store.Link
		for _, l := range links {
			out = append(out, store.Link{URL: l, Kind: store.LinkListed})
		}
		if _, err := s.Commit(t.Context(), []*store.Entry{{Record: r, Out: store.PackLinks(url, out)}}); err != nil {
			t.Fatal(err)
		}
	}
	read := store.Record{Kind: store.Sitemap, Sitemap: true}
	add("http://a.test/map.xml", read, "http://a.test/listed")
	add("http://a.test/listed", store.Record{})
	add("http://a.test/missing", store.Record{})
	add("http://a.test/hidden", store.Record{NoIndex: true})
	add("http://a.test/copy", store.Record{CanonicalURL: "http://a.test/listed"})
	add("http://a.test/news?page=2", store.Record{})
	add("http://none.test/", store.Record{}) // a host that has no sitemaps

	cut := read
	cut.Bounds = store.BoundList
	add("http://cut.test/map.xml", cut, "http://cut.test/listed")
	add("http://cut.test/listed", store.Record{})
	add("http://cut.test/unknown", store.Record{})

	gone := store.Record{Kind: store.Error, Status: 404, Sitemap: true} // robots.txt still names a sitemap that was replaced
	add("http://moved.test/old.xml", gone)
	add("http://moved.test/map.xml", read, "http://moved.test/listed")
	add("http://moved.test/listed", store.Record{})
	add("http://moved.test/missing", store.Record{})
	a, err := audit.Read(t.Context(), s, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := paths(t, a.Find("sitemap.missing")), "http://a.test/missing http://moved.test/missing"; got != want {
		t.Errorf("missing from sitemaps: %q, want %q", got, want)
	}
	if got, want := a.List("sitemap").Unknown, "it is unknown whether sitemaps list 1 page, because a sitemap of the host was not read completely"; got != want {
		t.Errorf("unknown: %q, want %q", got, want)
	}
}
