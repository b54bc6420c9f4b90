package crawler

import (
	"time"

	"skink/crawler/wire"
	"skink/frontier"
)

// # What a page needs to look right
//
// An archive can show a page again only if it has the files that a browser loads with the page:
// style sheets, scripts, pictures and fonts, and the files that style sheets name. With
// Options.Requisites they are items of the frontier, so each is fetched once, and the delays,
// robots.txt, retries and the guard of addresses apply as for pages. They may be on any host, as
// browsers load them from there. They come before the pages that wait on the same host, as in
// Heritrix, so that an interrupted crawl leaves few pages without their files.
//
// Requisites do not count against the budget of their host. [Budget].Requisites is their own. The
// requisites beyond it fail with ProblemBudget, and can be retried with a larger budget.
//
// A requisite that turns out to be an HTML page of the crawl is processed as one: the frontier keeps
// each URL only once, so a link to it would not fetch it.
//
// Known weaknesses: a text or PDF file that one page embeds, and that pages fetched later link to,
// is not judged. Files that only scripts name are not found; a browser finds them, see draw.go.

// requisitePriority puts requisites before pages.
const requisitePriority = -1

// require adds a URL to Items that the page needs to look right. The URL may be outside the scope. A
// style sheet may import others, so the number of steps from the page is limited.
func (l *Leads) require(url string) {
	o, from := l.opt, l.from
	if o.Scope == nil || o.Scope.excludes(url) || o.logsOut(url) || o.trespasses(from.URL, url) {
		return
	}
	item := frontier.Item{URL: url, Depth: from.Depth + 1, Kind: frontier.Requisite, Priority: requisitePriority}
	if from.Kind == frontier.Requisite {
		if from.Hops >= MaxHops {
			return
		}
		item.Depth, item.Hops = from.Depth, from.Hops+1
	}
	l.Items = append(l.Items, item)
}

func isRequisite(it *frontier.Item) bool { return it.Kind == frontier.Requisite }

// requisite returns the page for a requisite that need not be requested: a browser loaded the file
// for a page a short time ago, or the budget of its host is spent. Otherwise it returns nil.
func (c *Crawl) requisite(t *turn) *Page {
	page := &Page{Item: t.item, FetchedAt: time.Now()}
	if a, ok := c.parts.latest(t.item.URL); ok { // the archive has the answer
		page.fill(&wire.Exchange{Status: a.Status, Header: a.Header, Body: a.Body})
		return page
	}
	if c.schedule.requisitesSpent(t) {
		page.Problem, page.Detail = ProblemBudget, "the requisites of its host have reached --max-host-requisites"
		return page
	}
	return nil
}

// requisitesSpent reports whether the budget for requisites of a turn's host is spent.
func (s *schedule) requisitesSpent(t *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := t.host.rules.budget.Requisites
	return most > 0 && t.host.spent.Requisites >= most
}
