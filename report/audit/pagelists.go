package audit

import (
	"context"
	"time"

	"skink/dedup"
	"skink/store"
)

// simple makes a list of pages, of which a record alone says which finding they are in.
func simple(l *List, pick func(r *store.Record) (name string, ok bool), cells func(s *subject, r *store.Record) []any) *List {
	l.Of = "pages"
	l.see = func(at int32, r *store.Record) {
		if r.Kind != store.Page {
			return
		}
		if name, ok := pick(r); ok {
			l.found(name, at, nobody)
		}
	}
	l.cells = func(_ context.Context, s *subject) ([]any, error) { return cells(s, &s.page.Record), nil }
	return l
}

// The columns that most lists of pages begin and end with.
var (
	linksColumn = Column{"links", "Links", true}
	urlColumn   = Column{"url", "URL", true}
	titleColumn = Column{"title", "Title", true}
)

// duplicates lists the pages that repeat another.
func duplicates(a *Audit) *List {
	return simple(&List{
		Name: "duplicates", aside: handled,
		Columns:  []Column{linksColumn, {"resemblance", "Alike", true}, urlColumn, {"duplicate_of", "Repeats", true}, {"title", "Title", false}, {"words", "Words", false}, {"indexed", "Indexed", false}},
		Findings: []*Finding{{Name: "exact"}, {Name: "near"}},
	}, func(r *store.Record) (string, bool) {
		return string(r.Verdict), r.Verdict == dedup.Exact || r.Verdict == dedup.Near
	}, func(s *subject, r *store.Record) []any {
		return []any{s.links(), Share(r.Resemblance), URL(r.URL), link(r.DuplicateOf), text(r.Title), int64(r.Words), indexed(r)}
	})
}

// thin lists the pages that say little.
func thin(a *Audit) *List {
	return simple(&List{
		Name: "thin", aside: notMeant,
		Columns:  []Column{linksColumn, {"words", "Words", true}, urlColumn, titleColumn},
		Findings: []*Finding{{}},
	}, func(r *store.Record) (string, bool) {
		return "", r.Verdict == dedup.Thin && r.Words > 0
	}, func(s *subject, r *store.Record) []any {
		return []any{s.links(), int64(r.Words), URL(r.URL), text(r.Title)}
	})
}

// noText lists the pages that say nothing without scripts. A page of links has nothing else to say if
// most pages of its host do have a text: then the server sends texts where there are any.
func noText(a *Audit) *List {
	l := simple(&List{
		Name: "no-text", aside: notMeant,
		Columns:  []Column{linksColumn, {"why", "Why", true}, {"bytes", "Bytes", true}, urlColumn, titleColumn},
		Findings: []*Finding{{Name: "empty"}, {Name: "unseen", want: store.WantLinks}, {Name: "links", want: store.WantLinks}},
	}, nil, func(s *subject, r *store.Record) []any {
		return []any{s.links(), whyNoText(s.page), r.Size, URL(r.URL), text(r.Title)}
	})
	unseen := map[int32]string{} // host of a page without text
	texts := map[string]int{}    // of a host: pages with a text, less those without
	l.see = func(at int32, r *store.Record) {
		switch host := store.HostOf(r.URL); {
		case r.Kind != store.Page:
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
		for at := range int32(len(a.site.pages)) {
			host, is := unseen[at]
			switch {
			case !is:
			case a.site.pages[at].ways > 0 && texts[host] > 0:
				l.found("links", at, nobody)
			default:
				l.found("unseen", at, nobody)
			}
		}
		unseen, texts = nil, nil
	}
	return l
}

// whyNoText says what a page has in place of a text, as far as its links tell.
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
	case r.Size == 0:
		return "the answer is empty"
	case r.Bounds != "":
		return "the page has too much of: " + r.Bounds
	case scripts > 0 && ways > 0:
		return "it is all navigation, or scripts draw it"
	case scripts > 0:
		return "scripts draw it"
	case ways > 0:
		return "it is all navigation"
	}
	return "no words were found in it"
}

func noIndex(a *Audit) *List {
	return simple(&List{
		Name:     "noindex",
		Columns:  []Column{linksColumn, urlColumn, titleColumn, {"words", "Words", false}, {"verdict", "Verdict", false}},
		Findings: []*Finding{{}},
	}, func(r *store.Record) (string, bool) { return "", r.NoIndex }, func(s *subject, r *store.Record) []any {
		return []any{s.links(), URL(r.URL), text(r.Title), int64(r.Words), string(r.Verdict)}
	})
}

func slow(a *Audit) *List {
	return simple(&List{
		Name:     "slow",
		Columns:  []Column{linksColumn, {"milliseconds", "Milliseconds", true}, {"bytes", "Bytes", true}, urlColumn, titleColumn},
		Findings: []*Finding{{}},
	}, func(r *store.Record) (string, bool) {
		return "", time.Duration(r.Took)*time.Millisecond > slowAnswer
	}, func(s *subject, r *store.Record) []any {
		return []any{s.links(), r.Took, r.Size, URL(r.URL), text(r.Title)}
	})
}

func large(a *Audit) *List {
	return simple(&List{
		Name:     "large",
		Columns:  []Column{linksColumn, {"bytes", "Bytes", true}, {"words", "Words", true}, urlColumn, titleColumn},
		Findings: []*Finding{{}},
	}, func(r *store.Record) (string, bool) { return "", r.Size > largePage }, func(s *subject, r *store.Record) []any {
		return []any{s.links(), r.Size, int64(r.Words), URL(r.URL), text(r.Title)}
	})
}

func deep(a *Audit) *List {
	return simple(&List{
		Name:     "deep",
		Columns:  []Column{linksColumn, {"depth", "Clicks", true}, urlColumn, titleColumn},
		Findings: []*Finding{{}},
	}, func(r *store.Record) (string, bool) { return "", r.Depth >= deepPage }, func(s *subject, r *store.Record) []any {
		return []any{s.links(), int64(r.Depth), URL(r.URL), text(r.Title)}
	})
}

// orphans lists the pages to which no page links. It says so only of hosts that were crawled to
// their end: of others nobody knows.
func orphans(a *Audit) *List {
	l := &List{
		Name: "orphans", Of: "pages",
		Columns:  []Column{{"words", "Words", true}, urlColumn, titleColumn, {"indexed", "Indexed", false}},
		Findings: []*Finding{{}},
	}
	hosts := map[int32]string{} // of pages that may be orphans
	l.see = func(at int32, r *store.Record) {
		if r.Kind == store.Page && r.Depth > 0 && r.Hops == 0 {
			hosts[at] = store.HostOf(r.URL)
		}
	}
	l.conclude = func() {
		if !a.Links {
			l.Unknown = "the store keeps no links of its pages"
			hosts = nil
			return
		}
		a.site.followRedirects()
		left := false
		for at := range int32(len(a.site.pages)) {
			host, may := hosts[at]
			switch p := &a.site.pages[at]; {
			case !may || p.links > 0 || p.reached:
			case a.site.unfinished[host]:
				left = true
			default:
				l.found("", at, nobody)
			}
		}
		if left {
			l.Unknown = "of hosts that were not crawled to their end nobody knows which pages are orphans"
		}
		hosts = nil
	}
	l.cells = func(_ context.Context, s *subject) ([]any, error) {
		r := &s.page.Record
		return []any{int64(r.Words), URL(r.URL), text(r.Title), indexed(r)}, nil
	}
	return l
}

// followRedirects notes which pages are reached by redirects to which something links.
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
