package audit_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"skink/dedup"
	"skink/extract/markup"
	"skink/frontier"
	"skink/internal/tools/storetest"
	"skink/report/audit"
	"skink/store"
)

// planned has a line for each finding of the shop, with the paths that the finding must contain.
// Paths after a bar must be listed but not counted.
const planned = `
broken.gone            /gone
broken.soft            /soft
broken.refused         /members
broken.server          /fails
broken.unreachable     /silent
broken.private         /inside
broken.unreadable      /garbled
broken.files           /missing.js
redirects.loop         /loop-a /loop-b
redirects.dead-end     /to-gone
redirects.chain        /first /second
redirects.linked       /first /loop-a /moved-alone /old-offer /to-gone
redirects.other        /elsewhere /third
canonicals.error       /names-gone
canonicals.redirect    /names-moved
canonicals.other       /names-other
canonicals.several     /names-two
canonicals.chain       /copy-names-copy
canonicals.host        /names-host
canonicals.missing     /names-nothing
canonicals.unseen      /names-unseen
canonicals.agreed      /copy-names /listed-copy
hreflang.dead          /de
hreflang.one-way       /en /it /it /it
hreflang.code          /it
hreflang.hidden        /it
hreflang.several       /it
hreflang.self          /it
hreflang.default       /de /en /it
links.fragments        /leads
images.broken          /missing.png
images.large           /big.png
urls.spaces            /Upper%20case//part/part/longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong
urls.slashes           /Upper%20case//part/part/longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong
urls.repeated          /Upper%20case//part/part/longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong
urls.upper             /Upper%20case//part/part/longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong
urls.long              /Upper%20case//part/part/longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong
titles.missing         /title-of-h1 /untitled | /hidden
titles.repeated        /same-1 /same-2
titles.short           /brief
titles.long            /wordy
descriptions.missing   /shared-only /undescribed
descriptions.repeated  /same-words /same-words-2
descriptions.short     /brief
descriptions.long      /wordy
headings.missing       /unheaded
headings.repeated      /same-1 /same-2
headings.short         /brief
headings.long          /wordy
headings.several       /two-heads
duplicates.exact       /twin-copy | /copy-names /copy-names-copy /listed-copy
duplicates.near        /near
nearly                 /bergen /narvik /oslo
thin.text              /thin
thin.index             /index-of
no-text.empty          /empty
no-text.scripts        /app
no-text.unseen         /drawn
no-text.documents      /sealed.pdf
no-text.links          /menus
unrendered             /deep
rendered.changed       /brief
rendered.added         /deep
noindex                /hidden /listed-hidden
blocked                /secret
orphans                /orphan
sitemap.unread         /lost.xml
sitemap.broken         /gone
sitemap.noindex        /listed-hidden
sitemap.blocked        /secret
sitemap.redirect       /old-offer
sitemap.canonical      /listed-copy
sitemap.several        /linker
slow                   /slow
large                  /large
deep                   /deep
`

// TestPlanted checks that each finding of the shop has exactly the planned paths.
func TestPlanted(t *testing.T) {
	a := read(t, filled(t, shop()))
	want := map[string]string{"canonicals.self": "", "pages": "", "postponed": "", "titles.paged": "", "descriptions.paged": "", "headings.paged": "", "headings.logo": "", "sitemap.missing": "", "security.links": "", "canonicals.noindex": "", "hreflang.same": "", "links.nofollow": ""}
	for line := range strings.Lines(strings.TrimSpace(planned)) {
		name, paths, _ := strings.Cut(strings.TrimSpace(line), " ")
		want[name] = strings.TrimSpace(paths)
	}
	for _, c := range markup.Checks {
		want[c.Name] = strings.TrimSpace("/faulty " + want[c.Name])
	}
	for _, l := range a.Lists {
		for _, f := range l.Findings {
			name := f.FullName()
			expected, ok := want[name]
			if !ok {
				t.Errorf("nothing is planted for %s", name)
			}
			if name == "canonicals.self" || name == "pages" {
				continue // these findings contain most pages
			}
			if got := paths(t, f); got != expected {
				t.Errorf("%s\n got %s\nwant %s", name, got, expected)
			}
		}
	}
	if n, all := a.List("pages").Count(), len(shop()); n != all {
		t.Errorf("%d URLs are listed, of %d", n, all)
	}
}

// paths returns the paths in a finding, sorted. Paths that are not counted follow after a bar.
func paths(t *testing.T, f *audit.Finding) string {
	t.Helper()
	var counted, apart []string
	for row, err := range f.Rows(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		path := strings.TrimPrefix(string(cell(t, row, "url").(audit.URL)), origin)
		if row.Apart == "" {
			counted = append(counted, path)
		} else {
			apart = append(apart, path)
		}
	}
	if f.Count() != len(counted) || f.Apart() != len(apart) {
		t.Errorf("%s counts %d and %d apart, and has %d rows and %d", f.FullName(), f.Count(), f.Apart(), len(counted), len(apart))
	}
	slices.Sort(counted)
	slices.Sort(apart)
	if len(apart) > 0 {
		counted = append(append(counted, "|"), apart...)
	}
	return strings.Join(counted, " ")
}

// cell returns the row's cell in the column with a name.
func cell(t *testing.T, row audit.Row, name string) any {
	t.Helper()
	for i, c := range row.Finding.List().Columns {
		if c.Name == name {
			return row.Cells[i]
		}
	}
	t.Fatalf("%s has no column %s", row.Finding.FullName(), name)
	return nil
}

// rowOf returns the row of a finding for the page at path.
func rowOf(t *testing.T, a *audit.Audit, finding, path string) audit.Row {
	t.Helper()
	for row, err := range a.Find(finding).Rows(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if cell(t, row, "url") == audit.URL(origin+path) {
			return row
		}
	}
	t.Fatalf("%s has no row for %s", finding, path)
	return audit.Row{}
}

// TestCells checks some cells in columns other than the URL.
func TestCells(t *testing.T) {
	a := read(t, filled(t, shop()))
	for _, c := range []struct {
		finding, path, column string
		want                  any
	}{
		{"broken.gone", "/gone", "links", int64(2)},
		{"broken.gone", "/gone", "reason", "status 404"},
		{"redirects.chain", "/first", "way", origin + "/first → " + origin + "/second → " + origin + "/third → " + origin + "/linker"},
		{"redirects.chain", "/first", "hops", int64(3)},
		{"redirects.chain", "/first", "ends_with", "a page"},
		{"redirects.loop", "/loop-a", "way", origin + "/loop-a → " + origin + "/loop-b → " + origin + "/loop-a"},
		{"redirects.loop", "/loop-a", "ends_with", "itself"},
		{"redirects.dead-end", "/to-gone", "ends_with", "status 404"},
		{"redirects.other", "/elsewhere", "ends_at", audit.URL("https://other.example/")},
		{"redirects.other", "/elsewhere", "ends_with", "not crawled"},
		{"canonicals.other", "/names-other", "resemblance", audit.Share(0)},
		{"canonicals.several", "/names-two", "all", origin + "/names-two, " + origin + "/linker"},
		{"hreflang.one-way", "/en", "language", "fr"},
		{"images.alt", "/faulty", "example", "an example"},
		{"security.csp", "/faulty", "pages", "1 of 53"},
		{"links.fragments", "/leads", "fragments", "#lost"},
		{"links.fragments", "/leads", "target", audit.URL(origin + "/anchored")},
		{"sitemap.redirect", "/old-offer", "is", "a redirect to " + origin + "/linker"},
		{"sitemap.redirect", "/old-offer", "sitemap", audit.URL(origin + "/map.xml")},
		{"hreflang.dead", "/de", "alternate", audit.URL(origin + "/gone")},
		{"titles.repeated", "/same-2", "same_as", audit.URL(origin + "/same-1")},
		{"titles.repeated", "/same-2", "shared_by", int64(2)},
		{"no-text.empty", "/empty", "why", "the response is empty"},
		{"unrendered", "/deep", "why", "the page stopped responding"},
		{"rendered.added", "/deep", "links", int64(5)},
		{"rendered.changed", "/brief", "html_robots", "noindex, nofollow"},
		{"no-text.scripts", "/app", "why", "the element that scripts fill is empty"},
		{"no-text.unseen", "/drawn", "why", "scripts add the text"},
		{"no-text.documents", "/sealed.pdf", "why", "no text can be read from this PDF: the file is encrypted, and needs a password"},
		{"no-text.links", "/menus", "why", "the page has only navigation"},
		{"pages", "/gone", "findings", "broken.gone, sitemap.broken"},
		{"pages", "/same-2", "findings", "titles.repeated, headings.repeated"},
		{"pages", "/linker", "findings", "sitemap.several"},
		{"pages", "/fr", "findings", nil},
		{"pages", "/", "links_out", nil},
	} {
		got := cell(t, rowOf(t, a, c.finding, c.path), c.column)
		if c.column == "links_out" {
			if n, ok := got.(int64); !ok || n < 30 {
				t.Errorf("%s of %s: %s is %v", c.finding, c.path, c.column, got)
			}
		} else if got != c.want {
			t.Errorf("%s of %s: %s is %v, want %v", c.finding, c.path, c.column, got, c.want)
		}
	}
	if got := cell(t, rowOf(t, a, "titles.repeated", "/same-2"), "resemblance").(audit.Share); got > 0.5 {
		t.Errorf("different pages with one title resemble each other by %v", got)
	}
	from := rowOf(t, a, "broken.gone", "/gone").From
	want := []audit.From{{URL: origin + "/linker", Text: "our old offer", Kind: store.LinkAnchor}, {URL: origin + "/second-linker", Text: "gone too", Kind: store.LinkAnchor}}
	if !slices.Equal(from, want) {
		t.Errorf("who links to what is gone\n got %v\nwant %v", from, want)
	}
}

// TestAllFrom checks that an audit keeps 100 of the links to a broken URL, or all with AllFrom.
func TestAllFrom(t *testing.T) {
	all := shop()
	const links = 1200
	for i := range links {
		all = append(all, good(fmt.Sprint("/deep/", i), linking("/gone")))
	}
	s := filled(t, all)
	for _, tt := range []struct {
		allFrom bool
		want    int
	}{{false, 100}, {true, links + 2}} {
		a, err := audit.Read(t.Context(), s, audit.Options{AllFrom: tt.allFrom})
		if err != nil {
			t.Fatal(err)
		}
		from := rowOf(t, a, "broken.gone", "/gone").From
		if len(from) != tt.want || from[tt.want-1].URL != origin+fmt.Sprint("/deep/", tt.want-3) {
			t.Errorf("AllFrom %v: %d links, want %d", tt.allFrom, len(from), tt.want)
		}
	}
}

// TestOrder checks that findings are sorted by weight, then by the number of their pages and links.
func TestOrder(t *testing.T) {
	all := read(t, filled(t, shop())).Findings()
	if !slices.IsSortedFunc(all, func(f, g *audit.Finding) int {
		return cmp.Or(cmp.Compare(f.Weight, g.Weight), cmp.Compare(int64(g.Count())+g.Links(), int64(f.Count())+f.Links()))
	}) {
		t.Error("what touches less comes before what touches more")
	}
	if all[0].Weight != audit.Error {
		t.Errorf("a %s comes first", all[0].Weight)
	}
}

// TestUnknown checks that orphans are unknown if the store has no links, or if the crawl is not
// finished.
func TestUnknown(t *testing.T) {
	all := shop()
	s := filled(t, all)
	if _, err := s.Discover(context.Background(), []frontier.Item{{URL: origin + "/pending"}}); err != nil {
		t.Fatal(err)
	}
	if l := read(t, s).List("orphans"); l.Count() != 0 || l.Unknown == "" {
		t.Errorf("a crawl that has not ended has %d orphans (%q)", l.Count(), l.Unknown)
	}
	for i := range all {
		all[i].links = nil
	}
	a := readWith(t, filled(t, all), func(s *store.Settings) { s.NoLinks = true })
	if l := a.List("orphans"); l.Count() != 0 || l.Unknown == "" {
		t.Errorf("a store without links has %d orphans (%q)", l.Count(), l.Unknown)
	}
	if got := cell(t, rowOf(t, a, "broken.gone", "/gone"), "links"); got != nil {
		t.Errorf("%v links are known in a store without links", got)
	}
}

func TestEmpty(t *testing.T) {
	a := read(t, storetest.NewMemory())
	if all := a.Findings(); len(all) > 0 {
		t.Errorf("%s is found in an empty store", all[0].FullName())
	}
}

func TestFailOn(t *testing.T) {
	a := read(t, filled(t, shop()))
	for _, c := range []struct {
		on   string
		want string // "" if the audit meets the condition
	}{
		{"broken>0", "broken: 8, limit 0"},
		{"broken>8", ""},
		{"broken >= 8 , titles.missing>0", "broken: 8, must be below 8; titles.missing: 2, limit 0 (and 1 not for search engines)"},
		{"broken>50%", ""},
		{"broken>5%", "broken: 10.1% (8 of 79), limit 5%"},
		{"thin.text=1,pages<10", "thin.text: 1, must not be 1"},
		{"duplicates<=100%", "duplicates: 3.6% (2 of 55), must be above 100% (and 3 handled by noindex, robots.txt or their canonical URL)"},
	} {
		all, err := audit.ParseConditions(c.on)
		if err != nil {
			t.Errorf("%s: %v", c.on, err)
			continue
		}
		if got := strings.Join(a.Fails(all), "; "); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.on, got, c.want)
		}
	}
	for _, name := range audit.Names() {
		if _, err := audit.ParseConditions(name + ">0"); err != nil {
			t.Error(err)
		}
	}
	for on, want := range map[string]string{
		"":            "is not a limit",
		"broken":      "is not a limit",
		"broken>x":    `"x" is neither a number`,
		"broken>-1":   `"-1" is neither a number`,
		"broken>NaN":  `"NaN" is neither a number`,
		"broken>101%": "is neither a number",
		"broken>":     "is neither a number",
		"brocken>0":   "must be one of broken, redirects",
		"titles.x>0":  "must be one of titles.missing, titles.repeated",
		">0":          "must be one of broken, redirects",
		"broken>0,":   "is not a limit",
	} {
		if _, err := audit.ParseConditions(on); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, which does not say %q", on, err, want)
		}
	}
}

// A forgetful store returns no content for one page, as if the page was removed after the audit.
type forgetful struct {
	store.Reader
	id *dedup.Hash
}

func (f forgetful) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	all, err := f.Reader.Pages(ctx, ids, want)
	for i, id := range ids {
		if id == *f.id {
			all[i] = nil
		}
	}
	return all, err
}

// TestForgotten checks that a removed page does not change which linking pages are shown for other
// pages.
func TestForgotten(t *testing.T) {
	var id dedup.Hash
	a := read(t, forgetful{filled(t, shop()), &id})
	want := rowOf(t, a, "redirects.linked", "/loop-a").From
	id = dedup.HashOf([]byte(origin + "/old-offer"))
	got := rowOf(t, a, "redirects.linked", "/loop-a").From
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
