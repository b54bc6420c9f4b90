package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/report/audit"
	"skink/store"
)

// TestHandled checks that problems that a site has already handled are not reported. Examples are
// copies with noindex or with their leader as the canonical URL, a page with noindex that has no
// canonical URL, and a page that consists of links.
func TestHandled(t *testing.T) {
	s := storetest.NewMemory()
	id := func(path string) dedup.Hash { return dedup.HashOf([]byte("http://a.test" + path)) }
	add := func(path string, r store.Record, links ...store.Link) {
		r.URL = "http://a.test" + path
		r.ID, r.Kind, r.Size, r.ContentType = id(path), store.Page, 1000, "text/html"
		if _, err := s.Commit(t.Context(), []*store.Entry{{Record: r, Out: store.PackLinks(r.URL, links)}}); err != nil {
			t.Fatal(err)
		}
	}
	copyOf := func(leader string, r store.Record) store.Record {
		r.Verdict, r.Leader, r.DuplicateOf, r.Resemblance, r.Words = dedup.Exact, id(leader), "http://a.test"+leader, 1, 100
		return r
	}
	text := store.Record{Judged: store.Judged{Verdict: dedup.Unique}, Fetch: store.Fetch{Words: 100}}
	add("/leader", text)
	add("/other", text)
	add("/copy", copyOf("/leader", store.Record{}))
	add("/hidden", copyOf("/leader", store.Record{NoIndex: true}))
	add("/named", copyOf("/leader", store.Record{CanonicalURL: "http://a.test/leader"}))
	add("/blocked", copyOf("/leader", store.Record{Fetch: store.Fetch{Hidden: true}}))
	add("/misnamed", copyOf("/leader", store.Record{CanonicalURL: "http://a.test/other"}))
	add("/uses", store.Record{Judged: store.Judged{Verdict: dedup.Thin}}, store.Link{URL: "http://a.test/app.js", Kind: store.LinkScript}, store.Link{URL: "http://a.test/leader", Kind: store.LinkAnchor})
	add("/drawn", store.Record{Judged: store.Judged{Verdict: dedup.Thin}}, store.Link{URL: "http://a.test/app.js", Kind: store.LinkScript})
	add("/listing", store.Record{Judged: store.Judged{Verdict: dedup.Thin}}, store.Link{URL: "http://a.test/leader", Kind: store.LinkAnchor})
	a, err := audit.Read(t.Context(), s, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"duplicates.exact":   "2 and 3 apart", // /copy and /misnamed are counted; /hidden, /named and /blocked are apart
		"canonicals.missing": "7 and 0 apart", // all pages that name no canonical URL, except /hidden
		"no-text.unseen":     "1 and 0 apart", // /drawn
		"no-text.links":      "2 and 0 apart", // /uses and /listing
	} {
		f := a.Find(name)
		if got := fmt.Sprintf("%d and %d apart", f.Count(), f.Apart()); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// A copy with the title of its leader must be listed only as a duplicate, and not as a different
// page with a repeated title.
func TestCopiesAreNotRepeated(t *testing.T) {
	s := storetest.NewMemory()
	add := func(path, leader string) {
		r := store.Record{URL: "http://a.test" + path, Kind: store.Page, Fetch: store.Fetch{Size: 1000, Words: 100}, ContentType: "text/html", Title: "One title", H1: []string{"One heading"}, Judged: store.Judged{Verdict: dedup.Unique}}
		r.ID = dedup.HashOf([]byte(r.URL))
		if leader != "" {
			r.Verdict, r.DuplicateOf, r.Resemblance = dedup.Exact, "http://a.test"+leader, 1
			r.Leader = dedup.HashOf([]byte(r.DuplicateOf))
		}
		if _, err := s.Commit(t.Context(), []*store.Entry{{Record: r}}); err != nil {
			t.Fatal(err)
		}
	}
	add("/early-copy", "/leader")
	add("/leader", "")
	add("/extract", "")
	add("/copy", "/leader")
	a, err := audit.Read(t.Context(), s, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"titles.repeated":   "/extract after /leader",
		"headings.repeated": "/extract after /leader",
	} {
		var got []string
		n := 0
		for row, err := range a.Find(name).Rows(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			if other, ok := cell(t, row, "same_as").(audit.URL); ok {
				got = append(got, strings.TrimPrefix(string(cell(t, row, "url").(audit.URL)), "http://a.test")+" after "+strings.TrimPrefix(string(other), "http://a.test"))
			}
			if pages := cell(t, row, "shared_by"); pages != int64(2) {
				t.Errorf("%s: %v pages have the line, want 2", name, pages)
			}
		}
		if got := strings.Join(got, ", "); got != want || n != 2 {
			t.Errorf("%s: %d rows, %s; want 2, %s", name, n, got, want)
		}
	}
}

// A page without text is only in the list no-text. Wide characters count as two.
func TestShort(t *testing.T) {
	s := storetest.NewMemory()
	add := func(path, title, heading string, words int) {
		r := store.Record{URL: "http://a.test" + path, Kind: store.Page, Fetch: store.Fetch{Size: 1000, Words: words}, ContentType: "text/html", Title: title, Judged: store.Judged{Verdict: dedup.Unique}}
		if r.ID = dedup.HashOf([]byte(r.URL)); heading != "" {
			r.H1 = []string{heading}
		}
		if _, err := s.Commit(t.Context(), []*store.Entry{{Record: r}}); err != nil {
			t.Fatal(err)
		}
	}
	add("/blank", "Blank", "", 0)
	add("/untitled", "", "", 0)
	add("/text", "A text", "", 100)
	add("/chinese", "岛上的茶馆与渡船", "茶馆", 100)
	add("/fullwidth", "ＡＢ of ten", "ＡＢ", 100)
	add("/long", strings.Repeat("岛", 31), "茶馆与渡船", 100)
	a, err := audit.Read(t.Context(), s, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"titles.short": "http://a.test/text", "titles.missing": "http://a.test/untitled", "titles.long": "http://a.test/long",
		"headings.missing": "http://a.test/text", "headings.short": "",
	} {
		if got := paths(t, a.Find(name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := cell(t, firstRow(t, a, "titles.long"), "characters"); got != int64(62) {
		t.Errorf("31 wide characters count as %v", got)
	}
}

// firstRow returns the first row of a finding.
func firstRow(t *testing.T, a *audit.Audit, finding string) audit.Row {
	t.Helper()
	for row, err := range a.Find(finding).Rows(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	t.Fatalf("%s has no row", finding)
	return audit.Row{}
}

// The repeated titles of a list's pages, and a logo in an h1, must each be reported once, and not
// for each page.
func TestRepeatedOnce(t *testing.T) {
	s := storetest.NewMemory()
	add := func(url, title, heading string) {
		r := store.Record{URL: url, ID: dedup.HashOf([]byte(url)), Kind: store.Page, Fetch: store.Fetch{Size: 1000, Words: 100}, ContentType: "text/html", Title: title, H1: []string{heading}, Judged: store.Judged{Verdict: dedup.Unique}}
		if _, err := s.Commit(t.Context(), []*store.Entry{{Record: r}}); err != nil {
			t.Fatal(err)
		}
	}
	add("http://a.test/news/", "News", "News")
	for n := 2; n < 6; n++ {
		add(fmt.Sprintf("http://a.test/news/page/%d/", n), "News", "News")
		add(fmt.Sprintf("http://a.test/blog?page=%d", n), "Blog", "Blog")
		add(fmt.Sprintf("http://a.test/alone?page=%d", n), fmt.Sprintf("Part %d", n), fmt.Sprintf("Part %d", n))
	}
	add("http://a.test/one", "Same", "One")
	add("http://a.test/two", "Same", "Two")
	add("http://a.test/homepage1", "A home", "A home") // this is not page 1 of a list
	add("http://a.test/page/1", "A home", "A home")
	for n := range 15 {
		add(fmt.Sprintf("http://logo.test/%d", n), fmt.Sprintf("Title %d", n), "The name of the site")
	}
	add("http://logo.test/own", "Own", "A heading of its own")
	a, err := audit.Read(t.Context(), s, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{
		"titles.repeated": 4, "titles.paged": 2, // repeated: /one, /two, /homepage1 and /page/1; paged: the lists of news and of the blog
		"headings.repeated": 2, "headings.paged": 2, "headings.logo": 1,
	} {
		if got := a.Find(name).Count(); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// TestIndexPages checks which thin pages count as indexes, by their titles.
func TestIndexPages(t *testing.T) {
	s := storetest.NewMemory()
	want := map[string]string{
		"Index of /pub": "index", "Index — Manual": "index", "Uses of Class java.lang.String (Java SE)": "index", "java.util Class Hierarchy (Java SE)": "index",
		"Search results | Shop": "index", "Directory listing for /a/": "index", "Table of Contents": "index", "Tags": "index",
		"Search engines of the world": "text", "Index funds for beginners": "text", "Contents insurance": "text", "The uses of class war": "text", "Our hierarchy": "text",
	}
	for title := range want {
		r := store.Record{URL: "http://a.test/" + strings.ReplaceAll(title, " ", "-"), Kind: store.Page, Fetch: store.Fetch{Size: 1000, Words: 12}, ContentType: "text/html", Title: title, Judged: store.Judged{Verdict: dedup.Thin}}
		r.ID = dedup.HashOf([]byte(r.URL))
		if _, err := s.Commit(t.Context(), []*store.Entry{{Record: r}}); err != nil {
			t.Fatal(err)
		}
	}
	a, err := audit.Read(t.Context(), s, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range a.List("thin").Findings {
		for row, err := range f.Rows(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			got[cell(t, row, "title").(string)] = f.Name
		}
	}
	for title := range want {
		if got[title] != want[title] {
			t.Errorf("%q is thin.%s, want thin.%s", title, got[title], want[title])
		}
	}
}
