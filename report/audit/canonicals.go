package audit

import (
	"context"
	"slices"

	"skink/dedup"
	"skink/store"
)

// canonicals lists what pages name as their own URL (rel=canonical, RFC 6596), held against what
// was crawled. Many templates name one that is something else.
func canonicals(a *Audit) *List {
	l := &List{
		Name: "canonicals", Of: "pages",
		Columns: []Column{
			{"links", "Links", true}, {"resemblance", "Alike", true}, {"url", "URL", true}, {"canonical", "Names", true}, {"is", "Which is", true},
			{"all", "All it names", false}, {"title", "Title", false}, {"indexed", "Indexed", false},
		},
		Findings: []*Finding{{Name: "error"}, {Name: "redirect"}, {Name: "other", want: store.WantText}, {Name: "several"}, {Name: "chain"}, {Name: "host"}, {Name: "missing"}, {Name: "unseen"}, {Name: "agreed"}, {Name: "self"}},
	}
	elsewhere := map[int32]bool{} // pages that name another host
	l.see = func(at int32, r *store.Record) {
		if !isHTML(r) {
			return
		}
		if len(r.Canonicals) > 1 {
			l.found("several", at, nobody)
		}
		switch {
		case r.CanonicalURL == "" && r.NoIndex: // nobody is to find it by any address
		case r.CanonicalURL == "":
			l.found("missing", at, nobody)
		case r.CanonicalURL == r.URL:
			l.found("self", at, nobody)
		case store.HostOf(r.CanonicalURL) != store.HostOf(r.URL):
			elsewhere[at] = true
		}
	}
	l.conclude = func() {
		for at := range int32(len(a.site.pages)) {
			if p := &a.site.pages[at]; p.names {
				l.found(a.site.canonicalIs(p, elsewhere[at]), at, p.to)
			}
		}
	}
	l.cells = func(_ context.Context, s *subject) ([]any, error) {
		r := &s.page.Record
		is := any("not crawled")
		switch {
		case r.CanonicalURL == "":
			is = nil
		case r.CanonicalURL == r.URL:
			is = "itself"
		case s.other != nil:
			is = endsWith(&s.other.Record)
		}
		return []any{
			s.links(), s.alike(), URL(r.URL), link(r.CanonicalURL), is,
			listed(r.Canonicals), text(r.Title), indexed(r),
		}, nil
	}
	return l
}

// canonicalIs says what the page is that another names.
func (s *site) canonicalIs(p *page, elsewhere bool) string {
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

// hreflang lists pages that name another as the same in another language, which does not name them.
// Search engines believe only what both say.
func hreflang(a *Audit) *List {
	l := &List{
		Name: "hreflang", Of: "pages",
		Columns:  []Column{{"links", "Links", true}, {"language", "Language", true}, {"url", "URL", true}, {"alternate", "Names", true}, {"is", "Which is", true}, {"names", "And names", false}},
		Findings: []*Finding{{Name: "dead"}, {Name: "one-way"}},
	}
	type named struct {
		from int32
		to   dedup.Hash
	}
	var all []named
	pairs := map[[2]dedup.Hash]bool{}
	l.see = func(at int32, r *store.Record) {
		if r.Kind != store.Page {
			return
		}
		for _, alt := range r.Alternates {
			if alt.URL == r.URL {
				continue
			}
			to := dedup.HashOf([]byte(alt.URL))
			if key := [2]dedup.Hash{r.ID, to}; !pairs[key] {
				pairs[key] = true
				all = append(all, named{at, to})
			}
		}
	}
	l.conclude = func() {
		for _, n := range all {
			to, known := a.site.at[n.to]
			if !known {
				continue
			}
			switch a.site.pages[to].kind {
			case store.Error, store.Redirect:
				l.found("dead", n.from, to)
			case store.Page:
				if !pairs[[2]dedup.Hash{n.to, a.site.pages[n.from].id}] {
					l.found("one-way", n.from, to)
				}
			}
		}
		all, pairs = nil, nil
	}
	l.cells = func(_ context.Context, s *subject) ([]any, error) {
		r := &s.page.Record
		var langs, back []string
		if s.other == nil {
			return []any{s.links(), nil, URL(r.URL), nil, nil, nil}, nil
		}
		for _, alt := range r.Alternates {
			if alt.URL == s.other.Record.URL {
				langs = append(langs, alt.Lang)
			}
		}
		for _, alt := range s.other.Record.Alternates {
			back = append(back, alt.Lang+" "+alt.URL)
		}
		return []any{s.links(), listed(langs), URL(r.URL), s.otherURL(), endsWith(&s.other.Record), listed(back)}, nil
	}
	return l
}

func listed(all []string) any {
	if all = slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "" }); len(all) == 0 {
		return nil
	}
	joined := all[0]
	for _, s := range all[1:] {
		joined += ", " + s
	}
	return text(joined)
}

// indexed says whether a page is meant to be found.
func indexed(r *store.Record) any {
	switch {
	case r.NoIndex:
		return "no: noindex"
	case namesAnother(r):
		return "no: names another"
	}
	return "yes"
}
