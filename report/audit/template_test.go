package audit_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/extract/markup"
	"skink/internal/tools/storetest"
	"skink/report/audit"
	"skink/store"
)

// menuPages returns n pages with a vague link in the menu, whose URL has more steps up in a folder. Of the
// pages with the numbers in own, each has another vague link. Without menu, only these have one.
func menuPages(n int, menu bool, own ...int) (all []visit) {
	for i := range n {
		v := visit{path: fmt.Sprintf("/p%d", i)}
		if menu {
			v.faulty = append(v.faulty, fmt.Sprintf("%d more: %sall", markup.LinkVague, []string{"", "../"}[i%2]))
		}
		if slices.Contains(own, i) {
			v.faulty = append(v.faulty, fmt.Sprintf("%d here: p%d", markup.LinkVague, i))
		}
		if v.faulty != nil {
			v.faults = 1 << markup.LinkVague
		}
		all = append(all, v)
	}
	return all
}

// partPages returns a page and n pages with a link to a part of it that does not exist. Of the pages with the
// numbers in own, each has a link to another part.
func partPages(n int, own ...int) []visit {
	all := []visit{{path: "/about", anchors: []byte{0, 0}}}
	for i := range n {
		v := visit{path: fmt.Sprintf("/p%d", i), links: []string{"/about#team"}}
		if slices.Contains(own, i) {
			v.links = append(v.links, fmt.Sprintf("/p%d#lost", i/2), fmt.Sprintf("/about?%d#lost", i))
			all = append(all, visit{path: fmt.Sprintf("/about?%d", i), anchors: []byte{0, 0}})
		}
		all = append(all, v)
	}
	return all
}

// TestTemplate checks that a fault which one link has on nearly all pages is one row, and that an audit of the
// next crawl shows no change but the one that there is.
func TestTemplate(t *testing.T) {
	for _, c := range []struct {
		what          string
		finding       string // "" means links.vague
		before, after []visit
		want          string // rows and shares after the first crawl
		changes       string
	}{
		{"no change", "", menuPages(12, true, 3), menuPages(12, true, 3), "/p0:12 of 12 (100.0%): fix the template /p3:", "remaining /p0 remaining /p3"},
		{"few pages", "", menuPages(9, true), menuPages(9, true), "/p0: /p1: /p2: /p3: /p4: /p5: /p6: /p7: /p8:", "remaining /p0 remaining /p1 remaining /p2 remaining /p3 remaining /p4 remaining /p5 remaining /p6 remaining /p7 remaining /p8"},
		{"another page is the first", "", append(menuPages(12, true)[1:], menuPages(1, false)...), menuPages(12, true), "/p1:11 of 12 (91.7%): fix the template", "remaining /p0"},
		{"more pages", "", menuPages(9, true), menuPages(12, true), "/p0: /p1: /p2: /p3: /p4: /p5: /p6: /p7: /p8:", "remaining /p0"},
		{"many pages without the fault", "", menuPages(10, true), append(menuPages(10, true), menuPages(15, false)[10:]...), "/p0:10 of 10 (100.0%): fix the template", "remaining /p0 remaining /p1 remaining /p2 remaining /p3 remaining /p4 remaining /p5 remaining /p6 remaining /p7 remaining /p8 remaining /p9"},
		{"one more fault", "", menuPages(12, true), menuPages(12, true, 5), "/p0:12 of 12 (100.0%): fix the template", "new /p5 remaining /p0"},
		{"the template is fixed", "", menuPages(12, true, 5), menuPages(12, false, 5), "/p0:12 of 12 (100.0%): fix the template /p5:", "fixed /p0 remaining /p5"},
		{"a fault of the template more", "", menuPages(12, false, 5), menuPages(12, true, 5), "/p5:", "new /p0 remaining /p5"},
		{"no change of parts", "links.fragments", partPages(12), partPages(12), "/p0:12 of 13 (92.3%): fix the template", "remaining /p0"},
		{"few pages with parts", "links.fragments", partPages(9), partPages(12), "/p0: /p1: /p2: /p3: /p4: /p5: /p6: /p7: /p8:", "remaining /p0"},
		{"one more part", "links.fragments", partPages(29), partPages(29, 5), "/p0:29 of 30 (96.7%): fix the template", "new /p5 remaining /p0"},
		{"the part is there", "links.fragments", partPages(29, 5), append(partPages(1, 5), menuPages(29, false)...), "/p0:29 of 31 (93.5%): fix the template /p5:", "fixed /p0 fixed /p5"},
	} {
		c.finding = cmp.Or(c.finding, "links.vague")
		s := storetest.NewMemory()
		crawled(t, s, 0, c.before...)
		got := ""
		for row, err := range auditOf(t, s, audit.Options{}).Find(c.finding).Rows(t.Context(), 0) {
			check(t, err)
			share := cell(t, row, "pages")
			if share == nil {
				share = ""
			}
			got += fmt.Sprintf(" %s:%s", strings.TrimPrefix(string(cell(t, row, "url").(audit.URL)), "https://a.test"), share)
		}
		if got = strings.TrimSpace(got); got != c.want {
			t.Errorf("%s: the rows are\n%s, want\n%s", c.what, got, c.want)
		}
		keep(t, s, firstCrawl.Add(time.Hour))
		crawled(t, s, 1, c.after...)
		if got := strings.Join(changesOf(t, since(t, s).Find(c.finding)), " "); got != c.changes {
			t.Errorf("%s: the changes are\n%s, want\n%s", c.what, got, c.changes)
		}
	}
}

// TestOf checks that a page has the finding of its template, which lists another page, and not that of its host.
func TestOf(t *testing.T) {
	all := menuPages(12, true)
	for i := range all {
		all[i].faults |= 1 << markup.NoCSP
	}
	s := storetest.NewMemory()
	crawled(t, s, 0, all...)
	a := auditOf(t, s, audit.Options{})
	for change, err := range s.Changes(t.Context(), "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range a.Of(&change.Record) {
			names = append(names, f.FullName())
		}
		if !slices.Contains(names, "links.vague") || slices.Contains(names, "security.csp") {
			t.Errorf("%s has the findings %q", change.Record.URL, names)
		}
	}
	if got := a.Of(&store.Record{}); got != nil {
		t.Errorf("an unknown page has the findings %v", got)
	}
}
