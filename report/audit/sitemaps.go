package audit

import (
	"skink/report"
	"skink/store"
)

// sitemaps returns the list of differences between the sitemaps and the crawled pages. A sitemap
// should list exactly the pages that search engines may list: no redirects, no errors, no copies.
func sitemaps(a *Audit) *List {
	l := &List{
		Name: "sitemap", Of: "URLs",
		Columns: brief(
			linksColumn, patternColumn, urlColumn,
			column("is", "URL is", func(s *subject, r *store.Record) any { return text(listedIs(r)) }),
			column("sitemap", "Listed in", otherURL).where((*subject).hasOther),
			column("sitemaps", "Sitemaps", func(s *subject, _ *store.Record) any { return known(int64(s.site().listed)) }),
		).more(titleColumn),
		Findings: []*Finding{{Name: "unread"}, {Name: "broken"}, {Name: "noindex"}, {Name: "blocked"}, {Name: "redirect"}, {Name: "canonical"}, {Name: "missing"}, {Name: "several"}},
	}
	hosts := map[int32]string{} // host of each page that a sitemap should list
	partly := map[string]bool{} // hosts with a sitemap that was only partly read
	var left int64
	some := false
	l.see = func(at int32, r *store.Record) {
		some = some || r.Sitemap || r.Kind == store.Sitemap
		switch {
		case r.Sitemap && r.Kind == store.Error:
			l.found("unread", at, nobody)
			if !absent(r) {
				partly[store.HostOf(r.URL)] = true
			}
		case r.Kind == store.Sitemap && r.Bounds != "", r.Sitemap && r.Kind == store.Blocked:
			partly[store.HostOf(r.URL)] = true
		case isHTML(r) && !r.NoIndex && !r.Hidden && !namesAnother(r) && !r.Follows() && !furtherPage.MatchString(r.URL):
			hosts[at] = store.HostOf(r.URL)
		}
	}
	l.conclude = func() {
		if !a.Links {
			l.lack(noLinks)
			return
		}
		if !some {
			l.Unknown = "the crawl found no sitemap"
		}
		lists := map[string]bool{} // hosts with a page in a sitemap
		for at, host := range hosts {
			if a.site.pages[at].listed > 0 {
				lists[host] = true
			}
		}
		for at := range int32(len(a.site.pages)) {
			p := &a.site.pages[at]
			if name := listedFault(p); name != "" {
				l.found(name, at, p.by)
			}
			if p.listed > 1 {
				l.found("several", at, p.by)
			}
			switch host, should := hosts[at]; {
			case !should || p.listed > 0 || !lists[host]:
			case partly[host] || a.site.unfinished[host]:
				left++
			default:
				l.found("missing", at, nobody)
			}
		}
		if left > 0 {
			l.Unknown = "it is unknown whether sitemaps list " + report.Counted(left, "page") + ", because a sitemap of the host was not read completely"
		}
	}
	return l
}

// listedFault returns the name of the finding for a URL that is in a sitemap even though search
// engines cannot list it. It returns "" for any other URL.
func listedFault(p *page) string {
	switch {
	case p.listed == 0:
	case p.kind == store.Error:
		return "broken"
	case p.kind == store.Blocked && p.status == 0 || p.kind == store.Page && p.hidden:
		return "blocked"
	case p.kind == store.Redirect:
		return "redirect"
	case p.kind == store.Page && p.noIndex:
		return "noindex"
	case p.kind == store.Page && p.names:
		return "canonical"
	}
	return ""
}

func listedIs(r *store.Record) string {
	switch {
	case r.Kind == store.Page && r.Hidden:
		return "a page that robots.txt hides from search engines"
	case r.Kind == store.Page && r.NoIndex:
		return "a page with noindex"
	case r.Kind == store.Page && namesAnother(r):
		return "a page whose canonical URL is " + r.CanonicalURL
	case r.Kind == store.Redirect:
		return "a redirect to " + r.Location
	}
	return endsWith(r)
}
