package audit

import (
	"regexp"
	"slices"
	"strings"

	"skink/dedup"
	"skink/store"
)

func duplicates(*Audit) *List {
	l := &List{
		Name: "duplicates", Of: "pages", aside: handled, asideIs: "handled by noindex, robots.txt or their canonical URL",
		Columns:  brief(linksColumn, alikeColumn, urlColumn, repeatsColumn).more(titleColumn, wordsColumn, indexedColumn),
		Findings: []*Finding{{Name: "exact"}, {Name: "near"}},
	}
	return l.pick(store.Page, func(r *store.Record) (string, bool) {
		return string(r.Verdict), r.Verdict == dedup.Exact || r.Verdict == dedup.Near
	})
}

func thin(*Audit) *List {
	l := &List{Name: "thin", Of: "pages", aside: notMeant, Columns: brief(linksColumn, wordsColumn, urlColumn, titleColumn), Findings: []*Finding{{Name: "text"}, {Name: "index"}}}
	return l.pick(store.Page, func(r *store.Record) (string, bool) {
		switch {
		case r.Verdict != dedup.Thin, r.Words == 0, r.NeedsScripts != "": // pages without text are in the list no-text
			return "", false
		case isIndex(r.Title) || isIndex(firstOf(r.H1)):
			return "index", true
		}
		return "text", true
	})
}

// indexTitle matches titles of generated pages without text of their own, such as a folder listing,
// the index of a manual, or the list of a class's uses.
var indexTitle = regexp.MustCompile(`(?i)^(index of /.*|directory listing for /.*|` +
	`uses of (annotation|class|enum|interface|module|package|record)\b.*|.*\bclass hierarchy( \(.*\))?|hierarchy for .*|(deprecated list|constant field values|serialized form)( \(.*\))?|` +
	`((general|module|all|full) )?index|index pages?|contents|table of contents|all (classes|packages|members|files|functions)|` +
	`(class|file|member|function|namespace|package) (list|index|members)|search( (page|results))?|site ?map|archives?|categories|tags|` +
	`inhaltsverzeichnis|stichwortverzeichnis|suche|verzeichnis von /.*|sommaire|recherche|índice|buscar)$`)

// isIndex reports whether a title belongs to a page without text of its own. The title may end with
// the name of the site.
func isIndex(title string) bool {
	for _, mark := range []string{" — ", " – ", " - ", " | ", " · ", " :: "} {
		title, _, _ = strings.Cut(title, mark)
	}
	return indexTitle.MatchString(strings.TrimSpace(title))
}

// noText returns the list of pages and documents without text, by cause. A page with links counts
// as a mere list of links if it loads no script, or if most other pages of its host have text. If
// most pages of a host have no text, the host probably needs a browser that runs scripts.
func noText(a *Audit) *List {
	l := &List{
		Name: "no-text", Of: "pages", aside: notMeant,
		Columns: brief(
			linksColumn,
			column("why", "Why", func(s *subject, _ *store.Record) any { return whyNoText(s.page) }),
			bytesColumn, urlColumn, titleColumn,
		),
		Findings: []*Finding{{Name: "empty"}, {Name: "scripts"}, {Name: "unseen", want: store.WantLinks}, {Name: "documents"}, {Name: "links", want: store.WantLinks}},
	}
	unseen := map[int32]string{} // host of each page without text
	texts := map[string]int{}    // for each host, the number of pages with text minus the number without
	l.see = func(at int32, r *store.Record) {
		switch host := store.HostOf(r.URL); {
		case r.Kind == store.Other && r.Detail != "":
			l.found("documents", at, nobody)
		case r.Kind != store.Page:
		case r.NeedsScripts != "":
			l.found("scripts", at, nobody)
		case r.Words > 0:
			texts[host]++
		case r.Size == 0:
			l.found("empty", at, nobody)
		default:
			texts[host]--
			unseen[at] = host
		}
	}
	l.conclude = func() {
		for at, host := range unseen {
			name := "unseen"
			if p := &a.site.pages[at]; p.ways > 0 && (texts[host] > 0 || !p.scripts) {
				name = "links"
			}
			l.found(name, at, nobody)
		}
	}
	return l
}

// needs maps each recorded reason why a page needs scripts to its description for users.
var needs = map[string]string{
	"root":     "the element that scripts fill is empty",
	"data":     "scripts read the text from JSON in the page",
	"noscript": "the page asks for JavaScript",
}

// whyNoText returns a table cell with the probable reason why a page has no text, based on its
// record and links.
func whyNoText(c *store.Content) any {
	r := &c.Record
	scripts, ways := 0, 0
	for _, l := range c.Links {
		switch {
		case l.Kind == store.LinkScript:
			scripts++
		case !l.Kind.Asset():
			ways++
		}
	}
	switch {
	case r.Kind == store.Other:
		return text(r.Detail)
	case r.Size == 0:
		return "the response is empty"
	case r.NeedsScripts != "" && r.RenderError != "":
		return "rendering failed: " + r.RenderError
	case needs[r.NeedsScripts] != "":
		return needs[r.NeedsScripts]
	case r.Bounds != "":
		return "the page exceeds these limits: " + r.Bounds
	case scripts > 0 && ways > 0:
		return "the page has only navigation, or its text is added by scripts"
	case scripts > 0:
		return "scripts add the text"
	case ways > 0:
		return "the page has only navigation"
	}
	return "the page has no words"
}

// rendered returns the list of rendered pages that were read before and after their scripts ran.
func rendered(a *Audit) *List {
	pair := func(name, title string, before, after func(r *store.Record) any) columns {
		return columns{
			column("html_"+name, title+" in the HTML", func(_ *subject, r *store.Record) any { return before(r) }),
			column(name, title, func(_ *subject, r *store.Record) any { return after(r) }),
		}
	}
	counts := slices.Concat(
		pair("words", "Words", func(r *store.Record) any { return int64(r.Source.Words) }, func(r *store.Record) any { return int64(r.Words) }),
		pair("links", "Links", func(r *store.Record) any { return int64(r.Source.Links) }, func(r *store.Record) any { return int64(r.Source.LinksAfter) }),
		pair("headings", "Headings", func(r *store.Record) any { return int64(r.Source.Headings) }, func(r *store.Record) any { return int64(len(r.H1)) }),
	)
	heads := slices.Concat(
		pair("title", "Title", func(r *store.Record) any { return text(r.Source.Title) }, func(r *store.Record) any { return text(r.Title) }),
		pair("canonical", "Canonical", func(r *store.Record) any { return known(URL(r.Source.CanonicalURL)) }, func(r *store.Record) any { return known(URL(r.CanonicalURL)) }),
		pair("robots", "Robots", func(r *store.Record) any { return robots(r.Source.NoIndex, r.Source.NoFollow) }, func(r *store.Record) any { return robots(r.NoIndex, r.NoFollow()) }),
	)
	l := &List{
		Name: "rendered", Of: "pages", Columns: append(brief(append(counts, urlColumn)...), brief(heads...)...),
		Findings: []*Finding{{Name: "changed"}, {Name: "added"}},
	}
	some := false
	l.see = func(at int32, r *store.Record) {
		some = some || r.Rendered || r.RenderError != ""
		s := &r.Source
		switch {
		case !s.Read:
		case s.Title != r.Title, s.CanonicalURL != r.CanonicalURL, s.NoIndex != r.NoIndex, s.NoFollow != r.NoFollow():
			l.found("changed", at, nobody)
		default:
			l.found("added", at, nobody)
		}
	}
	l.conclude = func() {
		if !some {
			l.Unknown = "no page was rendered (crawl --render does)"
			a.List("unrendered").Unknown = l.Unknown
		}
	}
	return l
}

func robots(noIndex, noFollow bool) any {
	switch {
	case noIndex && noFollow:
		return "noindex, nofollow"
	case noIndex:
		return "noindex"
	case noFollow:
		return "nofollow"
	}
	return nil
}

func deep(a *Audit) *List {
	l := &List{Name: "deep", Of: "pages", Columns: brief(linksColumn, depthColumn, urlColumn, titleColumn)}
	l.conclude = func() {
		for at := range a.site.pages {
			if p := &a.site.pages[at]; p.kind == store.Page && p.clicks >= deepPage {
				l.found("", int32(at), nobody)
			}
		}
	}
	return l
}

const noLinks = "the store has no links (crawl --links off)"

// orphans returns the list of pages that no page links to, on hosts that were crawled completely.
// On other hosts, an unfetched page may link to them.
func orphans(a *Audit) *List {
	l := &List{
		Name: "orphans", Of: "pages",
		Columns: brief(
			wordsColumn, urlColumn,
			column("sitemap", "Listed in", otherURL).where((*subject).hasOther),
			titleColumn,
		).more(indexedColumn),
	}
	hosts := map[int32]string{} // host of each page that may be an orphan
	l.see = func(at int32, r *store.Record) {
		if r.Kind == store.Page && r.Depth > 0 && r.Hops == 0 {
			hosts[at] = store.HostOf(r.URL)
		}
	}
	l.conclude = func() {
		if !a.Links {
			l.lack(noLinks)
			return
		}
		a.site.followRedirects()
		left := false
		for at, host := range hosts {
			switch p := &a.site.pages[at]; {
			case p.reached || p.obeyed || p.links > 0 && !p.linked:
			case a.site.unfinished[host]:
				left = left || p.links == 0
			case p.linked:
				if !p.aside() {
					a.List("links").found("nofollow", at, nobody)
				}
			default:
				l.found("", at, p.by)
			}
		}
		if left {
			l.Unknown = "orphan pages on hosts that were not crawled completely"
		}
	}
	return l
}

// followRedirects marks pages that can be reached through a redirect that a page links to. They are
// not orphans.
func (s *site) followRedirects() {
	for at := range int32(len(s.pages)) {
		if s.pages[at].kind == store.Redirect && s.pages[at].links > 0 {
			hops, _ := s.way(at)
			for _, hop := range hops {
				s.pages[hop].reached = true
			}
		}
	}
}

// images returns the list of broken and large images. The list broken adds the broken ones.
func images(a *Audit) *List {
	l := &List{
		Name: "images", Of: "URLs", Linked: true,
		Columns: brief(
			linksColumn, statusColumn.where(func(s *subject) bool { return !s.isPage() }),
			bytesColumn.where(func(s *subject) bool { return !s.isPage() }), patternColumn, urlColumn,
		).more(titleColumn),
		Findings: []*Finding{{Name: "broken"}, {Name: "large"}},
	}
	checked := false
	l.see = func(at int32, r *store.Record) {
		checked = checked || r.Checked || r.Requisite
		if r.Kind == store.Other && r.Size > largeImage && strings.HasPrefix(r.ContentType, "image/") {
			l.found("large", at, nobody)
		}
	}
	l.conclude = func() {
		switch {
		case a.Links && !a.site.images:
			l.Unknown = "no page shows an image"
		case !checked:
			l.lack("whether images exist, and how large they are, because the crawl did not check files (crawl --audit or --check-assets does)", "broken", "large")
		}
	}
	return l
}

// security returns the list of pages that can be read or changed in transit, and of hosts whose
// responses lack a header that protects visitors.
func security(a *Audit) *List {
	l := checkList("security")
	l.Findings = append(l.Findings, &Finding{Name: "links"})
	l.Columns = brief(linksColumn, urlColumn, column("target", "Links to", otherURL).where((*subject).hasOther)).more(titleColumn)
	l.link = func(at int32, c *store.Content) {
		if !isHTML(&c.Record) || !strings.HasPrefix(c.Record.URL, "https://") {
			return
		}
		for i := range c.Links {
			if link := &c.Links[i]; link.Kind == store.LinkAnchor && strings.HasPrefix(link.URL, "http://") && store.HostOf(link.URL) == store.HostOf(c.Record.URL) {
				to, known := a.site.index(link.URL)
				if !known {
					to = nobody
				}
				l.found("links", at, to)
				return
			}
		}
	}
	return l
}
