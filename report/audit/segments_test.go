package audit_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/base/segment"
	"skink/internal/tools/storetest"
	"skink/report/audit"
)

// An audit of a segment has the rows of the whole audit whose URLs are in the segment, and no others. So has the
// filter of the view. Findings about hosts have a row for a page of the segment.
func TestSegments(t *testing.T) {
	t.Parallel()
	s := filled(t, shop())
	list := segment.List{{Name: "short", Path: regexp.MustCompile(`^/.{0,8}$`)}, {Name: "dashed", Path: regexp.MustCompile(`-`)}}
	rows := func(a *audit.Audit, w audit.Filter, keep string) (all []string) {
		for _, f := range a.Findings() {
			if f.List().Name == "security" || f.List().Name == "transfer" {
				continue
			}
			for row, err := range f.Select(w).Rows(t.Context(), 0) {
				check(t, err)
				url, in := fmt.Sprint(cell(t, row, "url")), list.Of(fmt.Sprint(cell(t, row, "url")))
				if got := cell(t, row, "segment"); got != any(in) && (got != nil || in != "") {
					t.Errorf("%s: the segment of %s is %v, want %q", f.FullName(), url, got, in)
				}
				if keep == "" || in == keep {
					all = append(all, f.FullName()+" "+url)
				}
			}
		}
		slices.Sort(all)
		return all
	}
	whole := auditOf(t, s, audit.Options{Areas: true, Segments: segment.Choice{List: list}, Nearly: nearly})
	for _, name := range list.Names() {
		want := rows(whole, audit.Filter{}, name)
		if len(want) < 10 {
			t.Fatalf("only %d rows of %s: choose another expression", len(want), name)
		}
		if got := rows(whole, audit.Filter{Segment: name}, ""); !slices.Equal(got, want) {
			t.Errorf("the filter %s has\n%q, want\n%q", name, got, want)
		}
		part := auditOf(t, s, audit.Options{Segments: segment.Choice{List: list, Name: name}, Nearly: nearly})
		if got := rows(part, audit.Filter{}, ""); !slices.Equal(got, want) {
			t.Errorf("the audit of %s has\n%q, want\n%q", name, got, want)
		}
		urls := int64(0)
		for _, p := range shop() {
			if list.Of(p.URL) == name {
				urls++
			}
		}
		if part.URLs != urls || part.Segment != name || part.List("pages").Count() != int(urls) {
			t.Errorf("%s: %d URLs, %d in the list, want %d", name, part.URLs, part.List("pages").Count(), urls)
		}
	}
}

// A fault of the template is one row of a segment that has the element on any page, also if the element was first seen
// elsewhere. An audit of a segment compares only the URLs of the segment with the earlier crawl.
func TestSegmentOfTemplate(t *testing.T) {
	t.Parallel()
	s := storetest.NewMemory()
	crawled(t, s, 0, menuPages(12, true, 3)...)
	part := func(path string, since *audit.Past) *audit.Finding {
		list := segment.List{{Name: "part", Path: regexp.MustCompile(path)}}
		return auditOf(t, s, audit.Options{Segments: segment.Choice{List: list, Name: "part"}, Since: since}).Find("links.vague")
	}
	if got := paths(t, part("^/p[4-7]$", nil)); got != "https://a.test/p4" {
		t.Errorf("got %s, want /p4 for all pages of the segment", got)
	}
	if got := cell(t, firstRow(t, auditOf(t, s, audit.Options{}), "links.vague"), "pages"); got != "12 of 12 (100.0%): fix the template" {
		t.Errorf("share: %v", got)
	}
	keep(t, s, firstCrawl.Add(time.Hour))
	crawled(t, s, 1, menuPages(12, true, 5, 9)...)
	h, err := audit.ReadHistory(t.Context(), s)
	check(t, err)
	past, err := audit.ReadPast(t.Context(), s, h.Before())
	check(t, err)
	for path, want := range map[string]string{"^/p[4-7]$": "new /p5 remaining /p4", "^/p[0-3]$": "remaining /p0", "^/p1": "remaining /p1"} {
		f := part(path, past)
		if got := strings.Join(changesOf(t, f), " "); got != want || f.Since().New+f.Since().Fixed+f.Since().Remaining+f.Since().Unchecked != len(strings.Fields(want))/2 {
			t.Errorf("%s: changes %s, want %s; counts %v", path, got, want, f.Since())
		}
	}
}

// The sections are cut from the URLs as they are stored, also where net/url refuses them.
func TestSections(t *testing.T) {
	var pages []planted
	for _, path := range []string{"/docs/100%", "/docs/a", "/docs/b?to=/x/", "/a", "//a/", "?in=/y/"} {
		p := shop()[0]
		p.URL = "https://sections.example" + path
		pages = append(pages, p)
	}
	a := auditOf(t, filled(t, pages), audit.Options{Areas: true, Nearly: nearly})
	if got, want := a.Sections(""), []string{"/", "/docs/"}; !slices.Equal(got, want) {
		t.Errorf("sections %q, want %q", got, want)
	}
}
