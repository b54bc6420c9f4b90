package audit

import (
	"strings"

	"skink/store"
)

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
