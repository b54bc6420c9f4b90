package audit

import (
	"strings"

	"skink/store"
)

// security returns the list of pages that can be read or changed in transit, and of hosts whose
// responses lack a header that protects visitors.
func security(a *Audit) *List {
	l := checkList("security")
	l.Findings = append(l.Findings, &Finding{Name: "links"})
	l.Columns = brief(linksColumn, urlColumn, column("target", "Links to", otherURL).where((*subject).hasOther)).more(titleColumn)
	l.link = func(at int32, c *store.Content) {
		if !isHTML(&c.Record) || !strings.HasPrefix(c.Record.URL, "https://") {
			return
		}
		for i := range c.Links {
			if link := &c.Links[i]; link.Kind == store.LinkAnchor && strings.HasPrefix(link.URL, "http://") && store.HostOf(link.URL) == store.HostOf(c.Record.URL) {
				to, known := a.site.index(link.URL)
				if !known {
					to = nobody
				}
				l.found("links", at, to)
				return
			}
		}
	}
	return l
}
