package audit

import (
	"regexp"
	"strings"

	"golang.org/x/text/language"

	"skink/dedup"
	"skink/extract/markup"
	"skink/report"
	"skink/store"
)

// canonicals returns the list of pages with findings about their canonical URLs (rel=canonical, RFC
// 6596). It checks these URLs against the crawled pages. Wrong canonical URLs are common, because
// site templates generate them.
func canonicals(a *Audit) *List {
	l := &List{
		Name: "canonicals", Of: "pages",
		Columns: brief(
			linksColumn, column("resemblance", "Resemblance", alike), urlColumn, canonicalColumn.titled("Canonical URL"),
			column("is", "Canonical URL type", canonicalIs),
		).more(
			column("all", "All canonical URLs", func(_ *subject, r *store.Record) any { return listed(r.Canonicals) }),
			titleColumn, indexedColumn,
		),
		Findings: []*Finding{{Name: "error"}, {Name: "redirect"}, {Name: "other", want: store.WantText}, {Name: "several"}, {Name: "chain"}, {Name: "host"}, {Name: "missing"}, {Name: "unseen"}, {Name: "noindex"}, {Name: "agreed"}, {Name: "self"}},
	}
	elsewhere := map[int32]bool{} // pages whose canonical URL is on another host
	l.see = func(at int32, r *store.Record) {
		if !isHTML(r) {
			return
		}
		if len(r.Canonicals) > 1 {
			l.found("several", at, nobody)
		}
		if r.NoIndex && namesAnother(r) {
			l.found("noindex", at, nobody)
		}
		switch {
		case r.CanonicalURL == "" && r.NoIndex: // it needs no canonical URL, because search engines do not list it
		case r.CanonicalURL == "" && !markup.Set(r.Faults).Has(markup.CanonicalScheme):
			l.found("missing", at, nobody)
		case r.CanonicalURL == "":
		case r.CanonicalURL == r.URL:
			l.found("self", at, nobody)
		case store.HostOf(r.CanonicalURL) != store.HostOf(r.URL):
			elsewhere[at] = true
		}
	}
	l.conclude = func() {
		for at := range int32(len(a.site.pages)) {
			if p := &a.site.pages[at]; p.names {
				l.found(a.site.canonicalFault(p, elsewhere[at]), at, p.to)
			}
		}
	}
	return l
}

// canonicalIs returns a table cell that describes the page's canonical URL. The cell is empty if
// there is none.
func canonicalIs(s *subject, r *store.Record) any {
	switch {
	case r.CanonicalURL == "":
		return nil
	case r.CanonicalURL == r.URL:
		return "itself"
	case s.other != nil:
		return endsWith(&s.other.Record)
	}
	return "not crawled"
}

// canonicalFault returns the name of the finding for a page whose canonical URL is not its own URL.
// The argument elsewhere reports whether the canonical URL is on another host.
func (s *site) canonicalFault(p *page, elsewhere bool) string {
	if p.to == nobody {
		if elsewhere {
			return "host"
		}
		return "unseen"
	}
	switch target := &s.pages[p.to]; {
	case target.kind == store.Redirect:
		return "redirect"
	case target.kind == store.Error || target.kind == store.Other:
		return "error"
	case target.kind != store.Page:
		return "unseen"
	case target.cluster != p.cluster:
		return "other"
	case target.names:
		return "chain"
	}
	if elsewhere {
		return "host"
	}
	return "agreed"
}

// hreflang returns the list of pages that declare wrong versions in other languages (hreflang),
// such as a version that does not refer back to the page. Search engines ignore a pair unless both
// pages refer to each other.
func hreflang(a *Audit) *List {
	l := &List{
		Name: "hreflang", Of: "pages",
		Columns: brief(
			linksColumn, column("language", "Language", languageOfOther).where((*subject).hasOther),
			column("unknown", "Unknown", func(_ *subject, r *store.Record) any { return listed(badLanguages(r)) }).where(func(s *subject) bool { return s.finding.Name == "code" }),
			urlColumn,
			column("alternate", "Translation", otherURL).where((*subject).hasOther),
			column("is", "Translation is", func(s *subject, _ *store.Record) any { return endsWith(&s.other.Record) }).where((*subject).hasOther),
		).more(
			column("names", "Translations listed there", func(s *subject, _ *store.Record) any {
				return listedOf(s.other.Record.Alternates, func(alt store.Alternate) string { return alt.Lang + " " + alt.URL })
			}).where((*subject).hasOther),
			column("languages", "Languages", func(_ *subject, r *store.Record) any { return languages(r) }),
		),
		Findings: []*Finding{{Name: "dead", pairs: true}, {Name: "code"}, {Name: "hidden", pairs: true}, {Name: "several"}, {Name: "one-way", pairs: true}, {Name: "same", pairs: true}, {Name: "self"}, {Name: "default"}},
	}
	type named struct {
		from int32
		to   dedup.Hash
		lang string
	}
	own := map[int32]string{} // language that each page declares as its own
	var all []named
	pairs := map[[2]dedup.Hash]bool{}
	declared := false
	cut := map[int32]bool{} // pages with more versions in other languages than a record can hold
	l.see = func(at int32, r *store.Record) {
		if r.Kind != store.Page {
			return
		}
		if len(r.Alternates) == store.MaxAlternates {
			cut[at] = true
		} else {
			for _, name := range alternateFaults(r) {
				l.found(name, at, nobody)
			}
		}
		for _, alt := range r.Alternates {
			declared = true
			base, _, _ := strings.Cut(strings.ToLower(alt.Lang), "-")
			if alt.URL == r.URL {
				if base != "x" {
					own[at] = base
				}
				continue
			}
			to := dedup.HashOf([]byte(alt.URL))
			if key := [2]dedup.Hash{r.ID, to}; !pairs[key] {
				pairs[key] = true
				all = append(all, named{at, to, base})
			}
		}
	}
	l.conclude = func() {
		if !declared {
			l.Unknown = "no page names its translations (hreflang)"
		}
		unknown := int64(0)
		for _, n := range all {
			to, known := a.site.at[n.to]
			if !known || cut[to] {
				unknown++
				continue
			}
			switch a.site.pages[to].kind {
			case store.Error, store.Redirect:
				l.found("dead", n.from, to)
			case store.Page:
				if !pairs[[2]dedup.Hash{n.to, a.site.pages[n.from].id}] {
					l.found("one-way", n.from, to)
				}
				if a.site.pages[to].aside() {
					l.found("hidden", n.from, to)
				}
				if n.lang != own[n.from] && n.lang != "x" && own[n.from] != "" && a.site.pages[n.from].cluster == n.to {
					l.found("same", n.from, to)
				}
			}
		}
		if unknown > 0 {
			l.Unknown = "links back to the page are unknown for " + report.Counted(unknown, "translation") + " that the crawl did not fetch"
		}
	}
	return l
}

// hreflangCode matches the form of hreflang: a language (ISO 639), an optional script (ISO 15924)
// and an optional region (ISO 3166-1 or UN M.49).
var hreflangCode = regexp.MustCompile(`^([a-z]{2,3})(?:-([a-z]{4}))?(?:-([a-z]{2}|[0-9]{3}))?$`)

// isHreflang reports whether a value of hreflang, in lower case, is x-default or consists of codes
// that are assigned. "uk" and "eu" are reserved, but are no regions of languages.
func isHreflang(value string) bool {
	parts := hreflangCode.FindStringSubmatch(value)
	if parts == nil || parts[3] == "uk" || parts[3] == "eu" {
		return value == "x-default"
	}
	if _, err := language.ParseBase(parts[1]); err != nil {
		return false
	}
	if _, err := language.ParseScript(parts[2]); parts[2] != "" && err != nil {
		return false
	}
	region, err := language.ParseRegion(parts[3])
	return parts[3] == "" || err == nil && !region.IsPrivateUse()
}

// badLanguages returns the values of hreflang that are not valid.
func badLanguages(r *store.Record) (bad []string) {
	for _, alt := range r.Alternates {
		if !isHreflang(strings.ToLower(alt.Lang)) {
			bad = append(bad, alt.Lang)
		}
	}
	return bad
}

func alternateFaults(r *store.Record) (names []string) {
	if len(r.Alternates) == 0 {
		return nil
	}
	self, byDefault, several := false, false, false
	urls := map[string]string{}
	for _, alt := range r.Alternates {
		lang := strings.ToLower(alt.Lang)
		self = self || alt.URL == r.URL
		byDefault = byDefault || lang == "x-default"
		if before, known := urls[lang]; known && before != alt.URL {
			several = true
		}
		urls[lang] = alt.URL
	}
	if !self && !namesAnother(r) {
		names = append(names, "self")
	}
	if !byDefault {
		names = append(names, "default")
	}
	if several {
		names = append(names, "several")
	}
	if len(badLanguages(r)) > 0 {
		names = append(names, "code")
	}
	return names
}

// languageOfOther returns a table cell with the languages for which the page declares the other
// page of its entry as its version.
func languageOfOther(s *subject, r *store.Record) any {
	return listedOf(r.Alternates, func(alt store.Alternate) string {
		if alt.URL == s.other.Record.URL {
			return alt.Lang
		}
		return ""
	})
}
