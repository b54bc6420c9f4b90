package audit

import (
	"cmp"
	"context"
	"iter"
	"regexp"
	"slices"

	"skink/base/segment"
	"skink/store"
)

// An Area is a section of a host: the URLs whose path begins with the same folder, and that have the same segment and
// language.
type Area struct {
	Host    string
	Section string // first folder of the path, such as "/blog/"; "/" means that the URL is in no folder
	Segment string // "" if the URLs have none
	Lang    string // "" if it is not known
}

// firstFolder matches URLs as they are stored. Package net/url refuses some of them, such as
// https://example.com/docs/100%.
var firstFolder = regexp.MustCompile(`^https?://[^/?#]*(/[^/?#]+/)`)

func (p *areas) of(r *store.Record) Area {
	area := Area{store.HostOf(r.URL), "/", p.segments.Of(r.URL), r.Lang}
	if found := firstFolder.FindStringSubmatch(r.URL); found != nil {
		area.Section = found[1]
	}
	return area
}

type areas struct {
	all  []Area
	urls []int
	at   map[Area]int32

	segments segment.List
}

// add returns the index in p.all of the area of a record's URL, and adds the area if it is new.
func (p *areas) add(r *store.Record) int32 {
	area := p.of(r)
	i, known := p.at[area]
	if !known {
		i = int32(len(p.all))
		p.at[area] = i
		p.all, p.urls = append(p.all, area), append(p.urls, 0)
	}
	p.urls[i]++
	return i
}

// Hosts returns the hosts of the audited URLs, sorted by number of URLs, largest first. It returns
// nil if Options.Areas was not set.
func (a *Audit) Hosts() []string {
	return a.maxUsed(func(p Area) string { return p.Host })
}

// Sections returns the sections of a host, sorted by number of URLs, largest first. If host is "",
// it returns the sections of all hosts. It returns nil if Options.Areas was not set.
func (a *Audit) Sections(host string) []string {
	return a.maxUsed(func(p Area) string {
		if host != "" && p.Host != host {
			return ""
		}
		return p.Section
	})
}

// Segments returns the names of the segments, in the order of the configuration.
func (a *Audit) Segments() []string { return a.segments.Names() }

// Languages returns the languages of the audited URLs, sorted by number of URLs, largest first. It
// returns nil if Options.Areas was not set.
func (a *Audit) Languages() []string {
	return a.maxUsed(func(p Area) string { return p.Lang })
}

// maxUsed returns the distinct names of the areas, sorted by number of URLs, largest first. It
// omits empty names.
func (a *Audit) maxUsed(name func(Area) string) (names []string) {
	if a.site.areas == nil {
		return nil
	}
	urls := map[string]int{}
	for i, p := range a.site.areas.all {
		if n := name(p); n != "" {
			urls[n] += a.site.areas.urls[i]
		}
	}
	for n := range urls {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(urls[b], urls[a]), cmp.Compare(a, b)) })
	return names
}

// A Filter selects some rows of a finding. A field with the zero value matches all rows. All but
// Change need Options.Areas.
type Filter struct {
	Host, Section, Segment, Lang string
	Change                       Change
}

func (w Filter) matches(s *site, c compared) bool {
	if w.Change != "" && c.change != w.Change {
		return false
	}
	if w = (Filter{w.Host, w.Section, w.Segment, w.Lang, ""}); w == (Filter{}) {
		return true
	}
	if s.areas == nil {
		return false
	}
	p := s.areas.all[s.pages[c.page].area]
	return (w.Host == "" || p.Host == w.Host) && (w.Section == "" || p.Section == w.Section) &&
		(w.Segment == "" || p.Segment == w.Segment) && (w.Lang == "" || p.Lang == w.Lang)
}

// covers reports whether the audit is about a URL, given by its index in site.pages. See Options.Segments.
func (a *Audit) covers(at int32) bool {
	return Filter{Segment: a.Segment}.matches(a.site, compared{entry: entry{page: at}})
}

// restrict removes the entries of URLs that the audit is not about.
func (l *List) restrict() {
	for _, f := range l.Findings {
		f.entries = slices.DeleteFunc(f.entries, func(e entry) bool { return !l.audit.covers(e.page) })
	}
}

// Select returns the part of the finding that w selects.
func (f *Finding) Select(w Filter) Selection {
	s := Selection{Finding: f, filter: w}
	if f.list.folds() {
		s.alike = map[likeness][]int32{}
	}
	if f.since != nil {
		s.difference = &Difference{}
	}
	for i := range f.RowCount() {
		c := f.rowAt(i)
		if !w.matches(f.list.audit.site, c) {
			continue
		}
		s.rows++
		if k, is := s.likeness(c); is {
			if s.alike[k] = append(s.alike[k], c.page); len(s.alike[k]) > 1 {
				s.rows--
			}
		}
		if f.since == nil {
			if i < f.Count() {
				s.count++
			}
			continue
		}
		if c.change != "" {
			*s.difference.of(c.change)++
			if c.listed {
				s.count++
			}
		}
	}
	return s
}

// A Selection is the part of a finding that a filter selects. Broken URLs with the same pattern are one row.
type Selection struct {
	*Finding
	filter     Filter
	rows       int
	count      int
	difference *Difference
	alike      map[likeness][]int32 // URLs that are one row
}

// A likeness is what broken URLs in one row have in common.
type likeness struct {
	pattern string
	change  Change
	apart   bool
}

func (s *Selection) likeness(c compared) (k likeness, is bool) {
	if s.alike != nil && c.listed {
		k.change, k.apart = c.change, s.list.isApart(&s.list.audit.site.pages[c.page])
		k.pattern, _ = s.list.audit.patterns.largest(c.page)
	}
	return k, k.pattern != ""
}

// Count returns the number of selected entries, except those that [Finding.Apart] counts.
func (s Selection) Count() int { return s.count }

// RowCount returns the number of selected rows.
func (s Selection) RowCount() int { return s.rows }

// Since returns how the selected entries differ from the earlier crawl, or nil if there is none.
func (s Selection) Since() *Difference { return s.difference }

// Rows yields the selected rows, starting at index from.
func (s Selection) Rows(ctx context.Context, from int) iter.Seq2[Row, error] {
	return s.rowsWhere(ctx, from, func(c *compared) bool {
		if !s.filter.matches(s.list.audit.site, *c) {
			return false
		}
		if k, is := s.likeness(*c); is {
			c.alike = s.alike[k][1:]
			return c.page == s.alike[k][0]
		}
		return true
	})
}
