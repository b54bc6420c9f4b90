package crawler

import (
	"time"

	"skink/crawler/wire"
	"skink/frontier"
)

// # What a page needs to look right
//
// An archive can show a page again only if it has the files that a browser loads with the page (its
// requisites): style sheets, scripts, images, fonts, and frames that are no pages of the crawl, and the
// files that these refer to.
// With Options.Requisites, these files are items of the frontier. So each is fetched once, and
// delays, robots.txt, retries and address checks apply to them as to pages. They may be on
// any host, because browsers load them from any host. They are fetched before the pending pages of
// their host, as in Heritrix, so that an interrupted crawl leaves few pages without their files.
//
// Requisites do not count toward the pages or bytes of their host's budget. They have their own
// limit, [Budget].Requisites. Requisites beyond this limit fail with ProblemBudget, and can be
// retried with a larger limit.
//
// A player shows a page with the first capture of a file after the page's own. If the crawl fetched the
// file before, for another page, that would be the capture of the next crawl, and the file may have
// changed by then. So such files are requested again after the pages:
// Options.SharedFiles queues those that pages name, and Options.OnReused those that a browser requests. A crawl
// that is stopped or reaches a limit of time or bytes does not get so far.
//
// If a requisite turns out to be an HTML page of the crawl, it is processed as a page at once. A
// later link could not queue it again, because the frontier keeps each URL only once.
//
// Known weaknesses: If a page embeds a text or PDF file, the file is not processed as a page, even
// if pages fetched later link to it. Files that only scripts load are not found unless a
// browser renders the page; see draw.go.

// RequisitePriority is added to the priority of a page for its requisites, which puts them before the page's like.
const RequisitePriority = -1

// require adds the URL of a requisite to Items. The URL may be outside the scope. A style sheet may
// import others, so the number of steps from the page is limited.
func (l *Leads) require(url string) {
	from := l.from
	imports := from.Kind == frontier.Requisite
	if l.opt.Scope == nil || imports && from.Hops >= MaxHops || l.opt.refuse(url, forRequisite, from.URL, 0) != "" {
		return
	}
	item := frontier.Item{URL: url, From: l.via, Depth: from.Depth + 1, Kind: frontier.Requisite, Priority: min(from.Priority, 0) + RequisitePriority}
	if imports {
		item.From, item.Depth, item.Hops, item.Priority = from.URL, from.Depth, from.Hops+1, min(from.Priority, RequisitePriority)
	}
	l.Items = append(l.Items, item)
}

// requisite returns a page for a requisite that need not be requested, because a browser recently
// loaded the file for a page, or because the budget of its host is spent. Otherwise it returns nil.
func (c *Crawl) requisite(t *turn) *Page {
	page := &Page{Item: t.item, FetchedAt: time.Now()}
	if !t.item.Due.IsZero() { // it is visited again, after the pages that need it
		c.parts.visited(t.item.URL)
	} else if a, at, ok := c.parts.latest(t.item.URL); ok { // the archive already has this response
		page.FetchedAt = at
		page.fill(&wire.Exchange{Status: a.Status, Header: a.Header, Body: a.Body}, true)
		return page
	}
	spent := func(*schedule) bool {
		most := t.host.rules.budget.Requisites
		return most > 0 && t.host.spent.Requisites >= most
	}
	if now(c.schedule, spent) {
		page.Problem, page.Detail = ProblemBudget, "the page requisites of this host have reached the limit --max-host-requisites"
		return page
	}
	return nil
}
