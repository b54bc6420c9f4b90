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
	failed := map[int32]bool{}
	l.see = func(at int32, r *store.Record) {
		checked = checked || r.Checked || r.Requisite
		switch {
		case r.Kind == store.Error && r.Problem != unfetched:
			failed[at] = true
		case r.Kind == store.Other && r.Size > largeImage && strings.HasPrefix(r.ContentType, "image/"):
			l.found("large", at, nobody)
		}
	}
	shown := map[int32]bool{} // failed URLs that a page shows as an image
	l.link = func(_ int32, links []store.Link) {
		for i := range links {
			if links[i].Kind == store.LinkImage {
				if at, known := a.site.index(links[i].URL); known && failed[at] {
					shown[at] = true
				}
			}
		}
	}
	l.conclude = func() {
		for at := range shown {
			l.found("broken", at, nobody)
		}
		if !checked {
			l.lack("whether images exist, and how large they are, because the crawl did not check files (crawl --audit or --check-assets does)", "broken", "large")
		}
	}
	return l
}
