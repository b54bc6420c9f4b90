package audit

import "skink/store"

// pagination returns the list of pages whose rel=next or rel=prev leads to no page, or to a page
// that they do not otherwise link to.
func pagination(a *Audit) *List {
	l := &List{
		Name: "pagination", Of: "pages",
		Columns: brief(
			linksColumn, urlColumn, column("neighbour", "Names", otherURL).where((*subject).hasOther),
			column("is", "Status of the named URL", func(s *subject, _ *store.Record) any { return endsWith(&s.other.Record) }).where((*subject).hasOther),
		).more(titleColumn),
		Findings: []*Finding{{Name: "broken", pairs: true}, {Name: "unlinked", pairs: true}},
	}
	l.link = func(at int32, c *store.Content) {
		for i := range c.Links {
			if c.Links[i].Kind != store.LinkNeighbour {
				continue
			}
			to, known := a.site.index(c.Links[i].URL)
			switch {
			case !known:
			case a.site.pages[to].kind == store.Error || a.site.pages[to].kind == store.Redirect:
				l.found("broken", at, to)
			case a.site.pages[to].kind == store.Page:
				l.found("unlinked", at, to)
			}
		}
	}
	return l
}
