package audit

import (
	"sort"
	"strings"
	"unique"

	"skink/extract/markup"
	"skink/store"
)

const maxFragments = 1 << 20

// links returns the list of pages with faulty links: links to missing fragments, and links with
// faults from [markup.Checks]. The crawl itself checks links to fragments of the same page. Links
// to fragments of other pages are checked here against the anchors of those pages, which only a
// crawl with --audit keeps.
func links(a *Audit) *List {
	anchors := map[int32]string{} // hashes of each page's anchors, two bytes per anchor
	missing := map[entry]string{} // fragments that the other page does not have
	l := &List{
		Name: "links", Of: "pages",
		Columns: brief(
			linksColumn, urlColumn,
			column("fragments", "Fragments", func(s *subject, _ *store.Record) any {
				return text(strings.ReplaceAll(missing[s.entry], "\n", " "))
			}).where((*subject).hasOther),
			column("target", "Linked page", otherURL).where((*subject).hasOther),
		).more(titleColumn),
		Findings: []*Finding{{Name: "nofollow"}}, // which the list orphans fills
	}
	l.see = func(at int32, r *store.Record) {
		if isHTML(r) && r.Words > 0 && r.NeedsScripts == "" && r.Bounds == "" && len(r.Anchors) > 0 {
			anchors[at] = string(r.Anchors)
		}
	}
	l.link = func(at int32, c *store.Content) {
		for _, way := range c.Links {
			if way.Fragments == "" || len(missing) == maxFragments {
				continue
			}
			to, known := a.site.index(way.URL)
			if !known || anchors[to] == "" {
				continue
			}
			if lost := without(way.Fragments, anchors[to]); lost != "" {
				missing[entry{at, to}] = lost
				l.checks.add(l.named("fragments"), entry{at, to}, unique.Make(store.HostOf(c.Record.URL)).Value(), way.URL+lost)
			}
		}
	}
	l.conclude = func() {
		switch {
		case !a.Links:
			l.lack(noLinks, "fragments", "nofollow")
		case len(anchors) == 0:
			l.lack("fragments of links to other pages, because the crawl did not store fragments (crawl --audit does)", "fragments")
		}
	}
	return l
}

// without returns the fragments that are missing from anchors, separated by line feeds.
func without(fragments, anchors string) string {
	var lost []string
	for fragment := range strings.SplitSeq(fragments, "\n") {
		hash := markup.Anchor(fragment)
		at := func(i int) uint16 { return uint16(anchors[2*i])<<8 | uint16(anchors[2*i+1]) }
		n := len(anchors) / 2
		if i := sort.Search(n, func(i int) bool { return at(i) >= hash }); i == n || at(i) != hash {
			lost = append(lost, "#"+fragment)
		}
	}
	return strings.Join(lost, "\n")
}
