package audit

import (
	"context"
	"fmt"
	"hash/maphash"
	"regexp"
	"strings"
	"unicode/utf8"

	"skink/store"
)

// A saying is what a page says of itself in one line: its title, its description, its heading.
type saying struct {
	list        *List
	of          func(r *store.Record) []string
	short, long int // characters

	noun     string // one of it, as a sentence calls it
	missing  Weight // of pages without one
	absent   string // what it costs to have none
	repeated string // what it costs when different pages have the same one
	logo     bool   // whether the name of the site may stand in it on most pages, see isLogo
}

// What stands in a list of results is the title and the description.
const (
	absentResult   = "search results show something else in its place"
	repeatedResult = "nobody can tell them apart in a list of results"
)

func titles(a *Audit) *List {
	return newSaying(a, saying{
		list: &List{Name: "titles", Title: "Titles"},
		of: func(r *store.Record) []string {
			if r.TitleFrom != "" {
				return nil // what stands in its place is no title
			}
			return []string{r.Title}
		}, short: shortTitle, long: longTitle,
		noun: "title", missing: Fault, absent: absentResult, repeated: repeatedResult,
	}, []*Finding{
		{Name: "short", Weight: Note, Title: fmt.Sprintf("Titles under %d characters", shortTitle),
			Means: "So few characters name a site or a kind of page, and not what the page is about.",
			Mend:  "Say in the title what is found on this page and on no other."},
		{Name: "long", Weight: Note, Title: fmt.Sprintf("Titles over %d characters", longTitle),
			Means: fmt.Sprintf("Search results show some %d characters of a title, and cut off the rest.", longTitle),
			Mend:  "Put what tells the page from others first, and the name of the site last."},
	})
}

func descriptions(a *Audit) *List {
	return newSaying(a, saying{
		list: &List{Name: "descriptions", Title: "Descriptions"},
		of: func(r *store.Record) []string {
			if r.SharedOnly {
				return nil // search engines do not read what is for those who share the page
			}
			return []string{r.Description}
		}, short: shortDescription, long: longDescription,
		noun: "description", missing: Note, absent: absentResult, repeated: repeatedResult,
	}, []*Finding{
		{Name: "short", Weight: Note, Title: fmt.Sprintf("Descriptions under %d characters", shortDescription),
			Means: "Search results have room for twice as much, and fill it with text of their own choice.",
			Mend:  "Say in one or two sentences what a reader finds on the page."},
		{Name: "long", Weight: Note, Title: fmt.Sprintf("Descriptions over %d characters", longDescription),
			Means: fmt.Sprintf("Search results show some %d characters of a description, and cut off the rest.", longDescription),
			Mend:  "Say what matters in the first sentence."},
	})
}

func headings(a *Audit) *List {
	s := saying{
		list: &List{Name: "headings", Title: "Headings"},
		of:   func(r *store.Record) []string { return r.H1 }, short: shortHeading, long: longHeading,
		noun: "main heading (h1)", missing: Doubt, absent: "neither readers nor search engines are told at once what they are about",
		repeated: "a reader who goes from one to another cannot tell by it where they are",
		logo:     true,
	}
	l := newSaying(a, s, []*Finding{
		{Name: "short", Weight: Note, Title: fmt.Sprintf("Headings under %d characters", shortHeading),
			Means: "So few characters say nothing of the page.",
			Mend:  "Say in the heading what the page is about."},
		{Name: "long", Weight: Note, Title: fmt.Sprintf("Headings over %d characters", longHeading),
			Means: "The heading is as long as a paragraph, which nobody takes in at a glance.",
			Mend:  "Keep the heading to one line, and put the rest below it."},
		{Name: "logo", Weight: Note, Title: "Hosts with one main heading on most pages",
			Means: "Most pages of the host have the same h1, as if the logo stood in it; the host is counted once.",
			Mend:  "Take the name of the site out of the h1, and put the heading of each page there."},
		{Name: "several", Weight: Note, Title: "Pages with several main headings",
			Means: "The page has more than one h1, so that nobody can tell which names it.",
			Mend:  "Make the others h2, or what they are: often the name of the site stands in an h1."},
	})
	see := l.see
	l.see = func(at int32, r *store.Record) {
		if see(at, r); r.Kind == store.Page && len(r.H1) > 1 {
			l.found("several", at, nobody)
		}
	}
	return l
}

// newSaying makes a list of what a saying can be wrong in. A repeated one is one
// fault where the pages are copies, which need a canonical URL, and another where they are
// different pages, which need names.
func newSaying(a *Audit, s saying, more []*Finding) *List {
	l, noun := s.list, s.noun
	l.Of, l.aside = "pages", notMeant
	l.Columns = []Column{
		{"links", "Links", true}, {l.Name[:len(l.Name)-1], l.Title[:len(l.Title)-1], true}, {"characters", "Characters", true}, {"url", "URL", true},
		{"shared_by", "Shared by", true}, {"same_as", "Same as", true}, {"resemblance", "Alike", true}, {"verdict", "Verdict", false},
	}
	l.Findings = append([]*Finding{
		{Name: "missing", Weight: s.missing, Title: "Pages without a " + noun,
			Means: "These pages have no " + noun + ", and " + s.absent + ".",
			Mend:  "Give each page a " + noun + " of its own."},
		{Name: "repeated", Weight: Doubt, Title: "Different pages with the same " + noun, want: store.WantText, groups: true,
			Means: "These pages say different things under one " + noun + ", so that " + s.repeated + ".",
			Mend:  "Give each page a " + noun + " that says what only it has; look at the template first."},
		{Name: "copied", Weight: Note, Title: "Copies with the same " + noun, want: store.WantText, groups: true,
			Means: "These pages have one " + noun + " because they have one text.",
			Mend:  "Redirect the copies to one of them, or let them name it as their canonical URL."},
		{Name: "paged", Weight: Note, Title: "Lists over several pages with one " + noun,
			Means: "The further pages of a list have the " + noun + " of its first page; the list is counted once.",
			Mend:  "Add the number of the page to the " + noun + ", if the further pages are meant to be found."},
	}, more...)
	seen := &repeats{site: a.site, at: map[uint64]int32{}, said: map[string]int32{}, seed: maphash.MakeSeed()}
	l.see = func(at int32, r *store.Record) {
		if !isHTML(r) {
			return
		}
		first := firstOf(s.of(r))
		switch n := utf8.RuneCountInString(first); {
		case n == 0:
			l.found("missing", at, nobody)
			return
		case n < s.short:
			l.found("short", at, nobody)
		case n > s.long:
			l.found("long", at, nobody)
		}
		seen.add(at, r.URL, first)
	}
	l.conclude = func() {
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
			case g.differ:
				l.found("repeated", p.at, g.first)
			default:
				l.found("copied", p.at, g.first)
			}
		}
		seen.keepCounts()
	}
	l.cells = func(_ context.Context, s2 *subject) ([]any, error) {
		r := &s2.page.Record
		first := firstOf(s.of(r))
		var shared, same, alike any
		if s2.other != nil {
			shared = int64(seen.counts[s2.entry.other])
			if s2.entry.other != s2.entry.page {
				same, alike = s2.otherURL(), s2.alike()
			}
		}
		return []any{s2.links(), text(first), number(utf8.RuneCountInString(first)), URL(r.URL), shared, same, alike, string(r.Verdict)}, nil
	}
	return l
}

// isHTML says whether a record is of a page that can have a title: a plain text has none, and
// neither has nothing at all.
func isHTML(r *store.Record) bool {
	return r.Kind == store.Page && r.Size > 0 && (r.ContentType == "" || strings.Contains(strings.ToLower(r.ContentType), "html"))
}

// firstOf is the first of some lines that says something.
func firstOf(lines []string) string {
	for _, line := range lines {
		if s, ok := text(line).(string); ok {
			return s
		}
	}
	return ""
}

// repeats finds what more than one page of a host says. Pages that are not meant to be found are
// left out: a print view may have the title of its page.
type repeats struct {
	site   *site
	seed   maphash.Seed
	at     map[uint64]int32 // hash of host and line → place in groups; 64 bits with a secret seed do not meet by chance, nor by intent
	said   map[string]int32 // pages by host
	groups []repeated
	pages  []grouped
	counts map[int32]int32 // first page of a group that repeats → pages of it
}

type grouped struct {
	at, group int32
	further   bool // whether the page is a further page of a list
}

// A repeated line is on so many pages.
type repeated struct {
	host    string
	first   int32 // page, nobody if all are further pages of lists
	further int32 // first page that is a further page of a list, or nobody
	pages   int32 // without further pages of lists
	all     int32 // pages
	differ  bool  // whether some page is of another cluster than the first
}

// leastLogo is how many pages of a host must have the same heading before it can be its logo.
const leastLogo = 10

// isLogo says whether a line is on most pages of its host that have one.
func (r *repeats) isLogo(g repeated) bool {
	return g.pages >= leastLogo && 2*g.all > r.said[g.host]
}

// furtherPage matches the URL of a further page of a list: /page/2, /page2.html, ?page=3, ?paged=3.
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

// keepCounts forgets all but how many pages a repeated line is on.
func (r *repeats) keepCounts() {
	r.counts = map[int32]int32{}
	for _, g := range r.groups {
		if g.pages > 1 {
			r.counts[g.first] = g.pages
		}
	}
	r.at, r.said, r.groups, r.pages = nil, nil, nil, nil
}
