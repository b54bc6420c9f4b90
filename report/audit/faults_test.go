package audit_test

import (
	"testing"

	"skink/dedup"
	"skink/extract/markup"
	"skink/internal/tools/storetest"
	"skink/report/audit"
	"skink/store"
)

// TestOfHosts checks that a fault of the header is listed once for each host, and that links from https
// to http count only within a host.
func TestOfHosts(t *testing.T) {
	s := storetest.NewMemory()
	add := func(url string, faults []markup.Fault, links ...string) {
		r := store.Record{URL: url, ID: dedup.HashOf([]byte(url)), Kind: store.Page, Fetch: store.Fetch{Size: 1000, Words: 100}, ContentType: "text/html", Judged: store.Judged{Verdict: dedup.Unique}}
		for _, f := range faults {
			r.Faults |= 1 << f
		}
		var out []store.Link
		for _, l := range links {
			out = append(out, store.Link{URL: l, Kind: store.LinkAnchor})
		}
		if _, err := s.Commit(t.Context(), []*store.Entry{{Record: r, Out: store.PackLinks(url, out)}}); err != nil {
			t.Fatal(err)
		}
	}
	hsts := []markup.Fault{markup.NoHSTS}
	add("https://a.test/one", nil, "http://b.test/", "https://a.test/two")
	add("https://a.test/two", hsts, "http://a.test/one")
	add("https://a.test/three", hsts, "http://a.test/one", "http://a.test/two")
	add("https://b.test/", hsts)
	add("http://c.test/", nil, "http://c.test/one")
	a, err := audit.Read(t.Context(), s, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := paths(t, a.Find("security.hsts")), "https://a.test/two https://b.test/"; got != want {
		t.Errorf("without HSTS: %s, want %s", got, want)
	}
	if got := cell(t, firstRow(t, a, "security.hsts"), "pages"); got != "2 of 3" {
		t.Errorf("pages without HSTS: %v", got)
	}
	if got, want := paths(t, a.Find("security.links")), "https://a.test/three https://a.test/two"; got != want {
		t.Errorf("links to http: %s, want %s", got, want)
	}
}
