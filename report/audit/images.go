package audit

import (
	"strings"

	"skink/store"
)

func images(a *Audit) *List {
	l := &List{
		Name: "images", Of: "URLs", Linked: true,
		Columns: brief(
			linksColumn, statusColumn.where(func(s *subject) bool { return !s.isPage() }),
			bytesColumn.where(func(s *subject) bool { return !s.isPage() }), urlColumn,
		).more(titleColumn),
		Findings: []*Finding{{Name: "broken"}, {Name: "large"}},
	}
	checked := false
	var failed []int32
	l.see = func(at int32, r *store.Record) {
		checked = checked || r.Checked || r.Requisite
		switch {
		case r.Kind == store.Error && r.Problem != unfetched:
			failed = append(failed, at)
		case r.Kind == store.Other && r.Size > largeImage && strings.HasPrefix(r.ContentType, "image/"):
			l.found("large", at, nobody)
		}
	}
	l.conclude = func() {
		for _, at := range failed {
			if a.site.pages[at].shown {
				l.found("broken", at, nobody)
			}
		}
		if !checked && (a.site.images || !a.Links) {
			l.lack("whether images exist, and how large they are, because the crawl did not check files (crawl --audit or --check-assets does)", "broken", "large")
		}
	}
	return l
}
