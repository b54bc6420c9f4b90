package audit

import (
	"context"
	"fmt"
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
		Name: "duplicates", Title: "Duplicates", aside: handled,
		Columns: []Column{linksColumn, {"resemblance", "Alike", true}, urlColumn, {"duplicate_of", "Repeats", true}, {"title", "Title", false}, {"words", "Words", false}, {"indexed", "Indexed", false}},
		Findings: []*Finding{
			{Name: "exact", Weight: Doubt, Title: "Pages with the words of another",
				Means: "These pages have the same words as a page that was found before.",
				Mend:  "Redirect them to that page, or let them name it as their canonical URL."},
			{Name: "near", Weight: Doubt, Title: "Pages that are nearly another",
				Means: "These pages are as much like another as the similarity of the crawl says.",
				Mend:  "Make one page of them where they answer the same question; else say on each what only it has."},
		},
	}, func(r *store.Record) (string, bool) {
		return string(r.Verdict), r.Verdict == dedup.Exact || r.Verdict == dedup.Near
	}, func(s *subject, r *store.Record) []any {
		return []any{s.links(), Share(r.Resemblance), URL(r.URL), link(r.DuplicateOf), text(r.Title), int64(r.Words), indexed(r)}
	})
}

// thin lists the pages that say little.
func thin(a *Audit) *List {
	return simple(&List{
		Name: "thin", Title: "Thin pages", aside: notMeant,
		Columns: []Column{linksColumn, {"words", "Words", true}, urlColumn, titleColumn},
		Findings: []*Finding{{Weight: Doubt, Title: "Pages with few words",
			Means: "Beside menus and footers these pages have fewer words than the least that the crawl compares (min-words).",
			Mend:  "Say more, make one page of several, or ask with noindex that they are not found."}},
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
		Name: "no-text", Title: "Pages without text", aside: notMeant,
		Columns: []Column{linksColumn, {"why", "Why", true}, {"bytes", "Bytes", true}, urlColumn, titleColumn},
		Findings: []*Finding{
			{Name: "empty", Weight: Fault, Title: "Empty pages",
				Means: "The server sent nothing at all, and called that a page.",
				Mend:  "Answer with the page, or with 404 if there is none."},
			{Name: "unseen", Weight: Fault, Title: "Pages whose text is not in what the server sends", want: store.WantLinks,
				Means: "The page holds menus at most, or its text is drawn by scripts, so search engines that run none see nothing.",
				Mend:  "Let the server send the text within the page; if there is none to send, remove the page."},
			{Name: "links", Weight: Fine, Title: "Pages of links", want: store.WantLinks,
				Means: "The page holds links and no text, on a host whose other pages have texts.",
				Mend:  "Nothing is to be done."},
		},
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
		Name: "noindex", Title: "Pages that ask not to be indexed",
		Columns: []Column{linksColumn, urlColumn, titleColumn, {"words", "Words", false}, {"verdict", "Verdict", false}},
		Findings: []*Finding{{Weight: Note, Title: "Pages that ask not to be indexed",
			Means: "These pages ask search engines to leave them out (noindex, in the page or in a header).",
			Mend:  "Take noindex away from pages that are to be found; it is often left from before a site was opened."}},
	}, func(r *store.Record) (string, bool) { return "", r.NoIndex }, func(s *subject, r *store.Record) []any {
		return []any{s.links(), URL(r.URL), text(r.Title), int64(r.Words), string(r.Verdict)}
	})
}

func slow(a *Audit) *List {
	return simple(&List{
		Name: "slow", Title: "Slow pages",
		Columns: []Column{linksColumn, {"milliseconds", "Milliseconds", true}, {"bytes", "Bytes", true}, urlColumn, titleColumn},
		Findings: []*Finding{{Weight: Doubt, Title: "Pages that took more than a second",
			Means: "The whole answer took longer than a second, after which people notice that they wait.",
			Mend:  "Look at what the server does for these pages; what is the same for everybody can be kept ready."}},
	}, func(r *store.Record) (string, bool) {
		return "", time.Duration(r.Took)*time.Millisecond > slowAnswer
	}, func(s *subject, r *store.Record) []any {
		return []any{s.links(), r.Took, r.Size, URL(r.URL), text(r.Title)}
	})
}

func large(a *Audit) *List {
	return simple(&List{
		Name: "large", Title: "Large pages",
		Columns: []Column{linksColumn, {"bytes", "Bytes", true}, {"words", "Words", true}, urlColumn, titleColumn},
		Findings: []*Finding{{Weight: Doubt, Title: "Pages of more than 1 MB, without pictures",
			Means: "A phone with a poor line needs five seconds and more for these pages, before any picture.",
			Mend:  "Divide lists over several pages, and take out data and style sheets that stand in the page itself."}},
	}, func(r *store.Record) (string, bool) { return "", r.Size > largePage }, func(s *subject, r *store.Record) []any {
		return []any{s.links(), r.Size, int64(r.Words), URL(r.URL), text(r.Title)}
	})
}

func deep(a *Audit) *List {
	return simple(&List{
		Name: "deep", Title: "Deep pages",
		Columns: []Column{linksColumn, {"depth", "Clicks", true}, urlColumn, titleColumn},
		Findings: []*Finding{{Weight: Note, Title: fmt.Sprintf("Pages %d clicks or more from the start", deepPage),
			Means: "Nobody comes to these pages in fewer clicks, counted from where the crawl began.",
			Mend:  "Link to the better ones from pages that are closer to the start."}},
	}, func(r *store.Record) (string, bool) { return "", r.Depth >= deepPage }, func(s *subject, r *store.Record) []any {
		return []any{s.links(), int64(r.Depth), URL(r.URL), text(r.Title)}
	})
}

// orphans lists the pages to which no page links. It says so only of hosts that were crawled to
// their end: of others nobody knows.
func orphans(a *Audit) *List {
	l := &List{
		Name: "orphans", Title: "Orphans", Of: "pages",
		Columns: []Column{{"words", "Words", true}, urlColumn, titleColumn, {"indexed", "Indexed", false}},
		Findings: []*Finding{{Weight: Doubt, Title: "Pages to which no page links",
			Means: "These pages are known from a sitemap, a feed or an earlier visit, and no page that was crawled links to them.",
			Mend:  "Link to them from where a visitor would look for them, or take them out of the sitemap."}},
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
