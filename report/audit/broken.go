package audit

import (
	"cmp"

	"skink/crawler/learn"
	"skink/store"
)

// broken returns the list of URLs that could not be fetched, with one finding for each kind of
// failure. The finding files has the style sheets, scripts and media that pages load but no link leads
// to. A URL that pages only show as an image is in the list images, and one that only a sitemap lists is
// in the list sitemap, so that each URL is counted once, by what has to be changed.
//
// Later crawls still request a broken URL after the link to it has been corrected. Such a URL is
// listed, but not counted.
func broken(a *Audit) *List {
	l := &List{
		Name: "broken", Of: "URLs", Linked: true, ofErrors: true,
		aside: func(_ *site, p *page) bool {
			return a.Links && !a.Settings.SkipTexts && !p.start && !p.target && p.links == 0
		},
		asideIs: "to which no page links",
		Columns: brief(
			linksColumn,
			reasonColumn,
			patternColumn, urlColumn,
		).more(
			detailColumn, statusColumn, depthColumn,
			column("tries", "Tries", func(_ *subject, r *store.Record) any { return known(int64(r.Tries)) }),
			visitedColumn,
		),
		Findings: []*Finding{{Name: "gone"}, {Name: "soft"}, {Name: "refused"}, {Name: "server"}, {Name: "unreachable"}, {Name: "private"}, {Name: "unreadable"}, {Name: "files"}},
	}
	how := map[int32]string{}
	l.see = func(at int32, r *store.Record) {
		if r.Kind == store.Error && r.Problem != unfetched && !r.Sitemap { // sitemaps have their own list
			how[at] = brokenHow(r)
			a.patterns.add(at, r.URL)
		}
	}
	l.conclude = func() {
		for at, name := range how {
			switch p := &a.site.pages[at]; {
			case p.linked, p.links == 0 && (p.listed == 0 || p.start || p.target):
				l.found(name, at, nobody)
			case p.shown:
				a.List("images").found("broken", at, nobody)
			case p.loaded:
				l.found("files", at, nobody)
			}
		}
	}
	return l
}

var reasonColumn = column("reason", "Reason", func(_ *subject, r *store.Record) any { return text(cmp.Or(r.Problem, "unknown")) })

// unfetched is the problem of a file that was not requested because the limit on its host's
// requisites had been reached (crawler.ProblemBudget). The file itself may be fine.
const unfetched = "requisite limit"

// privateAddress is the problem of a host that skink must not connect to (crawler.ProblemPrivate).
const privateAddress = "private address"

func brokenHow(r *store.Record) string {
	switch {
	case r.Problem == learn.SoftProblem:
		return "soft"
	case r.Status == 404 || r.Status == 410:
		return "gone"
	case r.Status >= 400 && r.Status < 500:
		return "refused"
	case r.Status >= 500:
		return "server"
	case r.Problem == privateAddress:
		return "private"
	case r.Status == 0:
		return "unreachable"
	}
	return "unreadable"
}
