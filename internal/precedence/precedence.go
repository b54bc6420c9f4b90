// Package precedence decides which of several pages with one text leads the others. The crawl, the
// report, the comparison of all pages and the feed use this package, so they all name the same
// page.
//
//	leader := precedence.Leader(pages)
//
// # The order
//
// The first of these criteria in which two pages differ decides:
//
//  1. A page that may be indexed leads one that may not (noindex).
//  2. A page leads that the other one names as its canonical URL (rel=canonical), if the other
//     one would lead by the rest of this list.
//  3. The place of the host: in the order of --prefer, then of the seeds. See [Order].
//  4. A page that a sitemap lists.
//  5. The page that was seen first with its text. If a page was gone and comes back with the same
//     text, the first time counts.
//  6. https.
//  7. A page that declares no other language than that of its text.
//  8. The shortest path.
//  9. The smallest URL, so that no two pages are equal.
//
// All but the second are properties of a page alone, and make a total order. The second depends
// only on the page that loses by it: a copy that would not lead anyway cannot pass the lead to a
// third page. It is ignored if the named page names yet another page, because such chains may be
// circular. So the leader depends only on the set of pages and not on their order of arrival,
// except for the fifth criterion.
package precedence

import (
	"cmp"
	"strings"
	"time"

	"skink/store"
)

// A Standing holds everything that decides whether a page leads others.
type Standing struct {
	URL       string
	NoIndex   bool
	Names     string    // URL of the other page that it names as its canonical URL; "": none
	Place     int       // of its host, counted from 0; see [Order.Place]
	Listed    bool      // a sitemap lists it
	Seen      time.Time // when it was first seen with its text
	OtherLang bool      // it declares another language than that of its text
}

// Of returns the standing of a page. A nil order has no hosts.
func Of(r *store.Record, order *Order) Standing {
	s := Standing{
		URL: r.URL, NoIndex: r.NoIndex, Place: order.Place(r.URL),
		Listed: r.Listed, Seen: r.Seen(), OtherLang: r.OtherLang,
	}
	if r.CanonicalURL != r.URL {
		s.Names = r.CanonicalURL
	}
	return s
}

// A Reason is the criterion by which a page precedes the next one. The values are printed, so they
// must not change.
type Reason string

const (
	Indexed      Reason = "may be indexed"
	Canonical    Reason = "canonical link"
	HostOrder    Reason = "order of hosts"
	InSitemap    Reason = "in the sitemap"
	FirstSeen    Reason = "first seen"
	HTTPS        Reason = "https"
	Language     Reason = "language of the text"
	ShortestPath Reason = "shortest path"
	SmallestURL  Reason = "smallest URL"
	LedBefore    Reason = "led before" // a page that arrived later precedes it, such as one of a host that has become a seed
)

// order lists the criteria that compare two pages, except canonical URLs, in their order.
var order = []struct {
	reason  Reason
	compare func(a, b *Standing) int
}{
	{Indexed, func(a, b *Standing) int { return yesFirst(!a.NoIndex, !b.NoIndex) }},
	{HostOrder, func(a, b *Standing) int { return cmp.Compare(a.Place, b.Place) }},
	{InSitemap, func(a, b *Standing) int { return yesFirst(a.Listed, b.Listed) }},
	{FirstSeen, func(a, b *Standing) int { return a.Seen.Compare(b.Seen) }},
	{HTTPS, func(a, b *Standing) int { return yesFirst(isHTTPS(a.URL), isHTTPS(b.URL)) }},
	{Language, func(a, b *Standing) int { return yesFirst(!a.OtherLang, !b.OtherLang) }},
	{ShortestPath, func(a, b *Standing) int { return cmp.Compare(pathLen(a.URL), pathLen(b.URL)) }},
	{SmallestURL, func(a, b *Standing) int { return cmp.Compare(a.URL, b.URL) }},
}

// Compare compares two pages by all criteria except canonical URLs, and returns the first criterion
// that decides. The number is negative if a precedes b, and positive if b precedes a. It is 0 only
// for the same page.
func Compare(a, b *Standing) (int, Reason) {
	for _, c := range order {
		if d := c.compare(a, b); d != 0 {
			return d, c.reason
		}
	}
	return 0, ""
}

// Yields reports whether page a, if it would lead, passes the lead to page to, because its
// canonical URL names that page.
func Yields(a, to *Standing) bool {
	return a.Names == to.URL && to.Names == "" && (a.NoIndex || !to.NoIndex)
}

// Leader returns the index of the page that leads pages with one text, or -1 if pages is empty.
func Leader(pages []Standing) int {
	best := -1
	for i := range pages {
		if best < 0 {
			best = i
		} else if d, _ := Compare(&pages[i], &pages[best]); d < 0 {
			best = i
		}
	}
	if best < 0 || pages[best].Names == "" {
		return best
	}
	for i := range pages {
		if Yields(&pages[best], &pages[i]) {
			return i
		}
	}
	return best
}

// Why returns why a page leads. next is the first of the other pages by [Compare].
func Why(leader, next *Standing) Reason {
	d, reason := Compare(leader, next)
	switch {
	case reason == Indexed && d < 0:
		return Indexed
	case Yields(next, leader):
		return Canonical
	case d < 0:
		return reason
	}
	return LedBefore
}

func yesFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func isHTTPS(url string) bool { return strings.HasPrefix(url, "https:") }

// pathLen returns the length in bytes of the path and query of a URL. For a file on disk it returns
// the length of the whole name.
func pathLen(url string) int {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return len(url)
	}
	return len(rest) - max(strings.IndexByte(rest, '/'), 0)
}
