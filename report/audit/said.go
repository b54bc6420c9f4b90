package audit

import (
	"regexp"
	"strings"

	"skink/dedup"
	"skink/store"
)

// A saying is a line by which a page describes itself: its title, its description or a heading. The
// fields define how the audit checks it.
type saying struct {
	name        string                         // plural name of the list, such as "titles"
	of          func(r *store.Record) []string // returns a page's lines of this kind
	short, long int64                          // minimum and maximum length in characters; shorter and longer lines are listed
	ofText      bool                           // whether the line may be missing on a page without text
	logo        bool                           // whether most pages may have the same line because it is the site's name; see isLogo
}

func titles(a *Audit) *List {
	return saying{name: "titles", short: shortTitle, long: longTitle, of: func(r *store.Record) []string {
		if r.TitleFrom != "" {
			return nil // without a <title>, Title comes from another element
		}
		return []string{r.Title}
	}}.list(a)
}

func descriptions(a *Audit) *List {
	return saying{name: "descriptions", short: shortDescription, long: longDescription, of: func(r *store.Record) []string {
		if r.SharedOnly {
			return nil // og:description is for link previews on other sites; search engines do not read it
		}
		return []string{r.Description}
	}}.list(a)
}

func headings(a *Audit) *List {
	l := saying{name: "headings", short: shortHeading, long: longHeading, ofText: true, logo: true, of: func(r *store.Record) []string { return r.H1 }}.list(a)
	l.Findings = append(l.Findings, &Finding{Name: "several"})
	see := l.see
	l.see = func(at int32, r *store.Record) {
		if see(at, r); r.Kind == store.Page && len(r.H1) > 1 {
			l.found("several", at, nobody)
		}
	}
	return l
}

// list returns the list of problems with these lines: missing, short, long, repeated.
func (s saying) list(a *Audit) *List {
	one := strings.TrimSuffix(s.name, "s")
	l := &List{Name: s.name, Of: "pages", aside: notMeant}
	seen := &repeats{site: a.site, at: map[dedup.Hash]int32{}, said: map[string]int32{}, keys: map[entry]uint64{}}
	follows := func(s *subject) bool { return s.hasOther() && !s.leads() }
	l.Columns = brief(
		linksColumn,
		column(one, strings.ToUpper(one[:1])+one[1:], func(_ *subject, r *store.Record) any { return text(firstOf(s.of(r))) }),
		column("characters", "Characters", func(_ *subject, r *store.Record) any { return known(characters(firstOf(s.of(r)))) }),
		urlColumn,
		column("shared_by", "Pages with this "+one, func(s *subject, _ *store.Record) any { return int64(seen.counts[s.entry.other]) }).where((*subject).hasOther),
		column("same_as", "Same "+one+" as", otherURL).where(follows),
		column("resemblance", "Resemblance", alike).where(follows),
	).more(verdictColumn)
	l.Findings = []*Finding{{Name: "missing"}, {Name: "repeated", want: store.WantText, groups: true}, {Name: "paged", keys: seen.keys}, {Name: "short"}, {Name: "long"}}
	if s.logo {
		l.Findings = append(l.Findings, &Finding{Name: "logo", keys: seen.keys})
	}
	l.see = func(at int32, r *store.Record) {
		if !isHTML(r) {
			return
		}
		first := firstOf(s.of(r))
		switch n := characters(first); {
		case n == 0 && s.ofText && r.Words == 0:
			return
		case n == 0:
			l.found("missing", at, nobody)
			return
		case n < s.short && r.Words > 0: // a page without text is in the list no-text instead
			l.found("short", at, nobody)
		case n > s.long:
			l.found("long", at, nobody)
		}
		seen.add(at, r, first)
	}
	l.conclude = func() {
		for _, p := range seen.pages {
			switch g := seen.groups[p.group]; {
			case s.logo && seen.isLogo(g):
				if p.at == g.first {
					l.found("logo", p.at, nobody)
					seen.keys[entry{p.at, nobody}] = g.key
				}
			case p.further:
				if p.at == g.further && g.all > 1 {
					l.found("paged", p.at, nobody)
					seen.keys[entry{p.at, nobody}] = g.key
				}
			case g.pages > 1 && g.differ:
				l.found("repeated", p.at, g.first)
			}
		}
		seen.keepCounts()
	}
	return l
}

// isHTML reports whether a record describes an HTML page that is not empty. Only such a page can
// have a title.
func isHTML(r *store.Record) bool {
	return r.Kind == store.Page && r.Size > 0 && (r.ContentType == "" || strings.Contains(strings.ToLower(r.ContentType), "html"))
}

// firstOf returns the first line that is not blank, with runs of white space collapsed, or "" if
// there is none.
func firstOf(lines []string) string {
	for _, line := range lines {
		if s, ok := text(line).(string); ok {
			return s
		}
	}
	return ""
}

// repeats finds lines, such as titles, that several pages of a host share. It ignores pages that
// search engines do not list: a print view, for example, may have the same title as the page
// itself. It also ignores duplicates, which are in the list duplicates.
type repeats struct {
	site   *site
	at     map[dedup.Hash]int32 // index in groups by the hash of host and line
	said   map[string]int32     // for each host, the number of its pages with such a line
	groups []repeated           // one element for each line of each host
	pages  []grouped            // pages with such a line, in the order of site.pages
	keys   map[entry]uint64     // maps the first page of a group that is listed as one entry to a number that identifies the group
	counts map[int32]int32      // maps the index of a page to the number of pages with the same line
}

// A grouped is a page and its group of pages with the same line. The field at is an index in
// site.pages, and group is an index in repeats.groups.
type grouped struct {
	at, group int32
	further   bool // whether the URL is page 2 or later of a list; see furtherPage
}

// A repeated describes the pages of a host with the same line. Further pages, such as ?page=2 of a
// list, may repeat the line of the list's first page. The fields first and further are indexes in
// site.pages.
type repeated struct {
	host    string
	first   int32  // first page that is not a further page; nobody if there is none
	further int32  // first further page; nobody if there is none
	pages   int32  // number of pages that are not further pages
	all     int32  // total number of pages
	key     uint64 // hash of the host and the line
	differ  bool   // whether any of the pages differ; equal pages without words are copies

	text dedup.Hash // hash of the first page's text; a page without words is in no cluster with another
	size int64      // size of the first page's body
}

// minLogo is the minimum number of pages with the same heading for it to count as the site's
// logo.
const minLogo = 10

// isLogo reports whether a line counts as the name of the site rather than of a page: whether it is
// on at least minLogo pages, and on more than half of the host's pages that have such a line.
func (r *repeats) isLogo(g repeated) bool {
	return g.pages >= minLogo && 2*g.all > r.said[g.host]
}

// furtherPage matches the URLs of page 2 and later of a list, such as /page/2, /page2.html, ?page=3
// and ?paged=3.
var furtherPage = regexp.MustCompile(`(?i)(/page[/-]?|[?&](page|paged|pg)=)0*([2-9]|[1-9][0-9]+)(\.[a-z]+)?(/|&|\?|$)`)

func (r *repeats) add(at int32, rec *store.Record, line string) {
	p, url := &r.site.pages[at], rec.URL
	if p.aside() || p.follows() {
		return
	}
	host := store.HostOf(url)
	r.said[host]++
	id := dedup.HashOf([]byte(host + "\n" + line))
	group, known := r.at[id]
	if !known {
		group = int32(len(r.groups))
		r.at[id] = group
		r.groups = append(r.groups, repeated{host: host, first: nobody, further: nobody, key: shortID(id)})
	}
	g := &r.groups[group]
	g.all++
	further := furtherPage.MatchString(url)
	switch {
	case further && g.further == nobody:
		g.further = at
	case !further && g.first == nobody:
		g.first, g.text, g.size = at, rec.Hash, rec.Size
	}
	if !further {
		g.pages++
		g.differ = g.differ || at != g.first && (rec.Words > 0 || rec.Hash != g.text || rec.Size != g.size)
	}
	r.pages = append(r.pages, grouped{at, group, further})
}

// keepCounts fills counts, and frees the other fields, which are no longer needed.
func (r *repeats) keepCounts() {
	r.counts = map[int32]int32{}
	for _, p := range r.pages {
		if g := r.groups[p.group]; g.pages > 1 && !p.further {
			r.counts[p.at] = g.pages
		}
	}
	r.at, r.said, r.groups, r.pages = nil, nil, nil, nil
}
