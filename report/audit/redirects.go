package audit

import (
	"context"
	"strings"

	"skink/store"
)

func redirects(a *Audit) *List {
	l := &List{
		Name: "redirects", Of: "URLs", Linked: true,
		Columns: brief(
			linksColumn,
			column("hops", "Hops", func(s *subject, _ *store.Record) any { return int64(len(s.way) - 1) }),
			urlColumn,
			column("ends_at", "Final URL", func(s *subject, _ *store.Record) any { return known(URL(s.end)) }),
			column("ends_with", "Final response", func(s *subject, _ *store.Record) any { return text(s.endsWith) }),
		).more(
			column("way", "Chain", func(s *subject, _ *store.Record) any { return text(strings.Join(s.way, " → ")) }),
			statusColumn, visitedColumn,
		),
		Findings: []*Finding{{Name: "loop"}, {Name: "dead-end"}, {Name: "chain"}, {Name: "linked"}, {Name: "other"}},
	}
	l.conclude = func() {
		for at := range int32(len(a.site.pages)) {
			if a.site.pages[at].kind == store.Redirect {
				for _, name := range a.redirectFaults(at) {
					l.found(name, at, nobody)
				}
			}
		}
	}
	l.prepare = a.follow
	return l
}

func (a *Audit) redirectFaults(at int32) (names []string) {
	hops, loops := a.site.way(at)
	end := at
	if len(hops) > 0 {
		end = hops[len(hops)-1]
	}
	switch kind := a.site.pages[end].kind; {
	case loops:
		names = append(names, "loop")
	case kind == store.Error:
		names = append(names, "dead-end")
	case len(hops) > 1:
		names = append(names, "chain")
	}
	if a.site.pages[at].links > 0 {
		names = append(names, "linked")
	}
	if names == nil {
		names = append(names, "other")
	}
	return names
}

// follow sets the fields of s that describe a redirect's target: the intermediate URLs, the last
// URL, and the kind of its record.
func (a *Audit) follow(ctx context.Context, s *subject) error {
	r := &s.page.Record
	hops, loops := a.site.way(s.entry.page)
	known, err := a.pagesAt(ctx, store.WantRecord, hops)
	if err != nil {
		return err
	}
	urls, end, with := []string{r.URL}, r.Location, "not crawled"
	for _, at := range hops {
		c := known[at]
		if c == nil {
			continue
		}
		urls = append(urls, c.Record.URL)
		if end, with = c.Record.URL, endsWith(&c.Record); c.Record.Kind == store.Redirect && !loops {
			end, with = c.Record.Location, "not crawled"
		}
	}
	if urls[len(urls)-1] != end {
		urls = append(urls, end)
	}
	if loops {
		with = "itself"
	}
	s.way, s.end, s.endsWith = urls, end, with
	return nil
}

func endsWith(r *store.Record) string {
	switch r.Kind {
	case store.Page:
		return "a page"
	case store.Other, store.Sitemap:
		return "a file"
	case store.Error:
		return r.Problem
	case store.Blocked:
		return "blocked by " + r.Problem
	}
	return string(r.Kind)
}
