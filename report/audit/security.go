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
	secure := map[int32]string{} // host of each https page
	l.see = func(at int32, r *store.Record) {
		if isHTML(r) && strings.HasPrefix(r.URL, "https://") {
			secure[at] = store.HostOf(r.URL)
		}
	}
	l.link = func(at int32, links []store.Link) {
		host, is := secure[at]
		if !is {
			return
		}
		for i := range links {
			if link := &links[i]; link.Kind == store.LinkAnchor && strings.HasPrefix(link.URL, "http://") && store.HostOf(link.URL) == host {
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
