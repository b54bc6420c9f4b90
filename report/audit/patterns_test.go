package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/internal/tools/storetest"
	"skink/report/audit"
	"skink/store"
)

// brokenPages returns a page with links, and the URLs to which they lead, which do not exist.
func brokenPages(paths ...string) []visit {
	all := []visit{{path: "/", links: paths}}
	for _, path := range paths {
		all = append(all, visit{path: path, kind: store.Error, status: 404})
	}
	return all
}

func numbered(n int, form string) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(form, i))
	}
	return all
}

// TestPatterns checks which broken URLs are one row, and that each is counted.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		what  string
		paths []string
		want  string // rows, with the number of URLs that each stands for
	}{
		{"a folder that is gone", append(numbered(25, "/old/page-%d.html"), "/gone"), "25 URLs: a.test/old/{word}.html, /gone"},
		{"few URLs", numbered(19, "/old/%d"), strings.Join(numbered(19, "/old/%d"), ", ")},
		{"a relative link", append(numbered(20, "/%d/about/"), numbered(30, "/%d/contact")...), "30 URLs: a.test/…/contact, 20 URLs: a.test/…/about/"},
		{"a query", numbered(20, "/search?q=%d"), "20 URLs: a.test/{word}?q"},
		{"files at the root", numbered(20, "/%d.pdf"), "20 URLs: a.test/{n}.pdf"},
		{"in one folder rather than in several", append(numbered(21, "/docs/x%d"), numbered(3, "/%d/x1")...), "21 URLs: a.test/docs/{word}, /0/x1, /1/x1, /2/x1"},
	} {
		s := storetest.NewMemory()
		crawled(t, s, 0, brokenPages(c.paths...)...)
		f := auditOf(t, s, audit.Options{}).Find("broken.gone")
		selected := f.Select(audit.Filter{})
		var got []string
		for row, err := range selected.Rows(t.Context(), 0) {
			check(t, err)
			url := strings.TrimPrefix(string(cell(t, row, "url").(audit.URL)), "https://a.test")
			if len(row.Alike) > 0 {
				url = cell(t, row, "pattern").(string)
			}
			got = append(got, url)
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s: the rows are\n%s, want\n%s", c.what, got, c.want)
		}
		if selected.Count() != len(c.paths) || f.Count() != len(c.paths) || selected.RowCount() != len(got) {
			t.Errorf("%s: %d and %d URLs in %d rows, want %d in %d", c.what, f.Count(), selected.Count(), selected.RowCount(), len(c.paths), len(got))
		}
	}
}

// TestPatternsAreFiltered checks that a row stands only for the URLs of its section and its change.
func TestPatternsAreFiltered(t *testing.T) {
	s := storetest.NewMemory()
	crawled(t, s, 0, brokenPages(numbered(15, "/b%d/x")...)...)
	keep(t, s, firstCrawl.Add(time.Hour))
	crawled(t, s, 1, brokenPages(append(numbered(25, "/b%d/x"), "/a/x", "/b3/y/x")...)...)
	h, err := audit.ReadHistory(t.Context(), s)
	check(t, err)
	past, err := audit.ReadPast(t.Context(), s, h.Before())
	check(t, err)
	f := auditOf(t, s, audit.Options{Since: past, Areas: true}).Find("broken.gone")
	for _, c := range []struct {
		filter audit.Filter
		from   int
		want   []string
	}{
		{audit.Filter{}, 0, []string{"new 12 URLs: a.test/…/x", "remaining 15 URLs: a.test/…/x"}},
		{audit.Filter{}, 1, []string{"remaining 15 URLs: a.test/…/x"}},
		{audit.Filter{Change: audit.New}, 0, []string{"new 12 URLs: a.test/…/x"}},
		{audit.Filter{Section: "/b3/"}, 0, []string{"new https://a.test/b3/y/x", "remaining https://a.test/b3/x"}},
	} {
		var got []string
		for row, err := range f.Select(c.filter).Rows(t.Context(), c.from) {
			check(t, err)
			name := string(cell(t, row, "url").(audit.URL))
			if len(row.Alike) > 0 {
				name = cell(t, row, "pattern").(string)
			}
			got = append(got, string(row.Change)+" "+name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v from %d: %q, want %q", c.filter, c.from, got, c.want)
		}
	}
	n := 0
	for row, err := range f.Rows(t.Context(), 0) {
		check(t, err)
		if n++; len(row.Alike) > 0 {
			t.Errorf("a row for programs stands for %v, too", row.Alike)
		}
	}
	if n != 27 {
		t.Errorf("%d rows for programs, want 27", n)
	}
}
