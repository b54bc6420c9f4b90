package audit

import (
	"cmp"
	"hash/maphash"
	"regexp"
	"slices"
	"strings"

	"skink/store"
)

// A saying is a line in which a page describes itself: its title, its description or its main
// heading.
type saying struct {
	name        string // of the list: titles, descriptions or headings
	of          func(r *store.Record) []string
	short, long int64 // bounds in characters for the findings "short" and "long"
	ofText      bool  // whether a page without text may lack the line
	logo        bool  // whether a line on most pages may be the name of the site instead, see isLogo
}

func titles(a *Audit) *List {
	return saying{name: "titles", short: shortTitle, long: longTitle, of: func(r *store.Record) []string {
		if r.TitleFrom != "" {
			return nil // another text was used as title, because the page has none
		}
		return []string{r.Title}
	}}.list(a)
}

func descriptions(a *Audit) *List {
	return saying{name: "descriptions", short: shortDescription, long: longDescription, of: func(r *store.Record) []string {
		if r.SharedOnly {
			return nil // the description is meant for links in social networks (Open Graph), and search engines ignore it
		}
		return []string{r.Description}
	}}.list(a)
}

func headings(a *Audit) *List {
	l := saying{name: "headings", short: shortHeading, long: longHeading, ofText: true, logo: true, of: func(r *store.Record) []string { return r.H1 }}.list(a)
	l.Findings = append(l.Findings, &Finding{Name: "logo"}, &Finding{Name: "several"})
	see := l.see
	l.see = func(at int32, r *store.Record) {
		if see(at, r); r.Kind == store.Page && len(r.H1) > 1 {
			l.found("several", at, nobody)
		}
	}
	return l
}

// list returns the list of problems with a saying. A line that several pages share is one of two
// problems. If the pages are copies of each other, they need a canonical URL (finding "copied"). If
// they are different pages, they need different lines (finding "repeated").
func (s saying) list(a *Audit) *List {
	one := strings.TrimSuffix(s.name, "s")
	l := &List{Name: s.name, Of: "pages", aside: notMeant}
	seen := &repeats{site: a.site, at: map[uint64]int32{}, said: map[string]int32{}, seed: maphash.MakeSeed()}
	follows := func(s *subject) bool { return s.hasOther() && !s.leads() }
	l.Columns = brief(
		linksColumn,
		column(one, strings.ToUpper(one[:1])+one[1:], func(_ *subject, r *store.Record) any { return text(firstOf(s.of(r))) }),
		column("characters", "Characters", func(_ *subject, r *store.Record) any { return number(characters(firstOf(s.of(r)))) }),
		urlColumn,
		column("shared_by", "Pages with this "+one, func(s *subject, _ *store.Record) any { return int64(seen.counts[s.entry.other]) }).where((*subject).hasOther),
		column("same_as", "Same "+one+" as", otherURL).where(follows),
		column("resemblance", "Resemblance", alike).where(follows),
	).more(verdictColumn)
	l.Findings = []*Finding{{Name: "missing"}, {Name: "repeated", want: store.WantText, groups: true}, {Name: "copied", want: store.WantText, groups: true}, {Name: "paged"}, {Name: "short"}, {Name: "long"}}
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
		seen.add(at, r.URL, first)
	}
	l.conclude = func() {
		seen.leaveOutCopies()
		for _, p := range seen.pages {
			switch g := seen.groups[p.group]; {
			case s.logo && seen.isLogo(g):
				if p.at == g.first {
					l.found("logo", p.at, nobody)
				}
			case p.further:
				if p.at == g.further && g.all > 1 {
					l.found("paged", p.at, nobody)
				}
			case g.pages < 2:
			case seen.original(p) != nobody:
				l.found("copied", p.at, seen.original(p))
			case g.differ:
				l.found("repeated", p.at, g.first)
			case a.site.pages[p.at].follows(): // the page's leader has another line, or asks not to be indexed
				l.found("copied", p.at, g.first)
			}
		}
		seen.keepCounts()
	}
	return l
}

// isHTML reports whether a record is of an HTML page that is not empty. Other pages cannot have a
// title.
func isHTML(r *store.Record) bool {
	return r.Kind == store.Page && r.Size > 0 && (r.ContentType == "" || strings.Contains(strings.ToLower(r.ContentType), "html"))
}

// firstOf returns the first line that is not blank, or "".
func firstOf(lines []string) string {
	for _, line := range lines {
		if s, ok := text(line).(string); ok {
			return s
		}
	}
	return ""
}

// repeats finds lines that several pages of a host share. It ignores pages that ask not to be
// indexed or name another page as canonical, because a print view may have the title of its page.
type repeats struct {
	site *site
	seed maphash.Seed
	at   map[uint64]int32 // hash of host and line → index in groups; the seed is secret, so that 64 bits suffice even if a site tries to cause collisions
	said map[string]int32 // host → its pages that have a line
	// one for each host and line
	groups []repeated
	pages  []grouped       // by place of the page
	counts map[int32]int32 // place of a page → number of pages that share its line
}

// A grouped is a page, by its place, in the group of pages that share its line.
type grouped struct {
	at, group int32
	further   bool // whether the URL is that of page 2 or later of a list, see furtherPage
}

// A repeated is a line of a host, with the pages that have it. A further page is page 2 or later of
// a list.
type repeated struct {
	host    string
	first   int32 // first page with the line, further pages excepted; nobody: there is none
	further int32 // first further page with the line; nobody: there is none
	pages   int32 // number of pages with the line, without further pages
	all     int32 // number of pages with the line
	differ  bool  // whether the pages are in more than one cluster of duplicates
}

// leastLogo is how many pages of a host must share a heading before it can be taken for the site's
// logo.
const leastLogo = 10

// isLogo reports whether a line is on most pages of its host, and thus names the site instead of
// the page.
func (r *repeats) isLogo(g repeated) bool {
	return g.pages >= leastLogo && 2*g.all > r.said[g.host]
}

// furtherPage matches the URLs of page 2 and later of a list: /page/2, /page2.html, ?page=3,
// ?paged=3.
var furtherPage = regexp.MustCompile(`(?i)(/page[/-]?|[?&](page|paged|pg)=)0*([2-9]|[1-9][0-9]+)(\.[a-z]+)?(/|&|\?|$)`)

func (r *repeats) add(at int32, url, line string) {
	p := &r.site.pages[at]
	if p.aside() {
		return
	}
	host := store.HostOf(url)
	r.said[host]++
	var h maphash.Hash
	h.SetSeed(r.seed)
	h.WriteString(host)
	h.WriteByte('\n')
	h.WriteString(line)
	group, known := r.at[h.Sum64()]
	if !known {
		group = int32(len(r.groups))
		r.at[h.Sum64()] = group
		r.groups = append(r.groups, repeated{host: host, first: nobody, further: nobody})
	}
	g := &r.groups[group]
	g.all++
	further := furtherPage.MatchString(url)
	switch {
	case further && g.further == nobody:
		g.further = at
	case !further && g.first == nobody:
		g.first = at
	}
	if !further {
		g.pages++
		g.differ = g.differ || r.site.pages[g.first].cluster != p.cluster
	}
	r.pages = append(r.pages, grouped{at, group, further})
}

// original returns the place of the leader of p's page, if p's page is a duplicate and its leader
// has the same line; otherwise nobody.
func (r *repeats) original(p grouped) int32 {
	if p.further || !r.site.pages[p.at].follows() {
		return nobody
	}
	leader, known := r.site.at[r.site.pages[p.at].cluster]
	if !known {
		return nobody
	}
	i, found := slices.BinarySearchFunc(r.pages, leader, func(q grouped, at int32) int { return cmp.Compare(q.at, at) })
	if !found || r.pages[i].group != p.group || r.pages[i].further {
		return nobody
	}
	return leader
}

// leaveOutCopies sets the first page of each group to a page that is not a duplicate of another one
// in the group.
func (r *repeats) leaveOutCopies() {
	for _, p := range slices.Backward(r.pages) {
		if !p.further && r.original(p) == nobody {
			r.groups[p.group].first = p.at
		}
	}
}

// keepCounts sets counts and releases the memory of everything else.
func (r *repeats) keepCounts() {
	r.counts = map[int32]int32{}
	for _, p := range r.pages {
		if g := r.groups[p.group]; g.pages > 1 && !p.further {
			r.counts[p.at] = g.pages
		}
	}
	r.at, r.said, r.groups, r.pages = nil, nil, nil, nil
}
