package audit

import (
	"cmp"
	"slices"
	"strings"
	"unique"

	"skink/crawler/learn"
	"skink/report"
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

// # Patterns of broken URLs
//
// One wrong link in a template, or one folder that is gone, breaks many URLs. Text, HTML and the view show
// those with the same pattern as one row. A broken URL has two patterns: the URLs of the same form in its folder
// ([learn.Shape]), and those with its last segment in any folder, as a relative link of a menu makes them. The
// one with more broken URLs counts, or the segment if both have the same number.

// leastAlike is the minimum number of broken URLs with the same pattern for one row. Fewer fit on a page.
const leastAlike = 20

type patterns struct {
	of    map[int32][]string // patterns of a broken URL, by its index in site.pages
	count map[string]int
}

func (p *patterns) add(at int32, url string) {
	host, shape := store.HostOf(url), learn.Shape(url)
	all := []string{host + shape}
	path, _, _ := strings.Cut(url, "?")
	last := max(strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/'), 0)
	if strings.Count(path[:last], "/") > 2 { // the URL is in a folder
		all = []string{host + "/…" + path[last:] + shape[strings.IndexByte(shape+"?", '?'):], all[0]}
	}
	for _, pattern := range all {
		pattern = unique.Make(pattern).Value()
		p.of[at] = append(p.of[at], pattern)
		p.count[pattern]++
	}
}

// largest returns the pattern of a URL that has more broken URLs, and their number. It returns "" and 0 if there
// are fewer than leastAlike.
func (p *patterns) largest(at int32) (pattern string, n int) {
	for _, one := range p.of[at] {
		if count := p.count[one]; count >= leastAlike && count > n {
			pattern, n = one, count
		}
	}
	return pattern, n
}

// patternColumn has the pattern of a broken URL. If the row stands for further URLs, it says how many they are.
var patternColumn = column("pattern", "Pattern", func(s *subject, _ *store.Record) any {
	pattern, _ := s.audit().patterns.largest(s.entry.page)
	if s.alike > 0 {
		pattern = report.Counted(int64(s.alike+1), "URL") + ": " + pattern
	}
	return text(pattern)
})

// folds reports whether broken URLs with the same pattern are one row of the list.
func (l *List) folds() bool {
	return slices.ContainsFunc(l.Columns, func(c Column) bool { return c.Name == patternColumn.Name })
}
