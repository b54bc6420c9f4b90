// Package precedence chooses the leader of several pages with the same text. The crawl, the report,
// the comparison of all pages and the feed use this package, so they all choose the same leader.
//
//	leader := precedence.Leader(pages)
//
// # The order
//
// The first of these criteria in which two pages differ decides:
//
//  1. A page that may be indexed precedes a page with noindex.
//  2. A public page precedes a private page.
//  3. A page precedes another page that names it as its canonical URL (rel=canonical), if the
//     other page would be the leader by the rest of this list.
//  4. The page whose URL matches an earlier expression of --prefer. See [Order].
//  5. The page on the host of an earlier seed.
//  6. A page that a sitemap lists.
//  7. The page that was seen first with its text. If a page disappears and returns with the same
//     text, the first time counts. The comparison of all pages skips this criterion.
//  8. A page with an https URL.
//  9. A page whose declared language is that of its text.
//  10. The page with the shortest path.
//  11. The page with the smallest URL, so that no two pages are equal.
//
// All criteria but the third are properties of a single page, and define a total order. The third
// criterion depends only on the canonical URL of the page that would be the leader; those of other
// copies are ignored. The criterion does not apply if the named page names yet another page,
// because such chains may be circular. So the leader depends only on the set of pages and, except
// for the seventh criterion, not on their order of arrival. A crawl needs that criterion: without it,
// a cluster would change its leader with each better copy that arrives. The comparison of all pages
// must not depend on times, so there the other criteria decide.
package precedence

import (
	"cmp"
	"encoding/binary"
	"strings"
	"time"

	"skink/store"
)

// A Standing contains the properties of a page that decide whether it is the leader.
type Standing struct {
	URL       string
	NoIndex   bool
	Private   bool      // see [store.Record.Private]
	Names     string    // canonical URL, if it is another page's; "" if none
	Place     int       // place in the order of hosts; see [Order.Place]
	Listed    bool      // a sitemap lists the page
	Seen      time.Time // when the page was first seen with its text
	OtherLang bool      // the page declares a language other than that of its text
}

// Of returns the standing of a page. A nil order is empty.
func Of(r *store.Record, order *Order) Standing {
	s := Standing{
		URL: r.URL, NoIndex: r.NoIndex, Private: r.Private, Place: order.Place(r.URL),
		Listed: r.Listed, Seen: r.Seen(), OtherLang: r.OtherLang,
	}
	if r.CanonicalURL != r.URL {
		s.Names = r.CanonicalURL
	}
	return s
}

// MostWithheld is the largest result of [Withheld].
const MostWithheld = 3

// Withheld returns how far a page is withheld from readers, from 0 (not at all) to 3. It is determined
// by the first two criteria. A page never leads a page that is withheld less, because an output might
// then contain neither.
func Withheld(r *store.Record) int { return withheld(r.NoIndex, r.Private) }

// Withheld is like the function [Withheld].
func (s *Standing) Withheld() int { return withheld(s.NoIndex, s.Private) }

func withheld(noIndex, private bool) (w int) {
	if noIndex {
		w += 2
	}
	if private {
		w++
	}
	return w
}

// A Reason is the criterion by which a page precedes the next one. The values appear in output, so
// they must not change.
type Reason string

const (
	Indexed      Reason = "may be indexed"
	Public       Reason = "public"
	Canonical    Reason = "canonical link"
	Preferred    Reason = "preferred"
	HostOrder    Reason = "order of hosts"
	InSitemap    Reason = "in the sitemap"
	FirstSeen    Reason = "first seen"
	HTTPS        Reason = "https"
	Language     Reason = "language of the text"
	ShortestPath Reason = "shortest path"
	SmallestURL  Reason = "smallest URL"
	LedBefore    Reason = "leader before" // the page was already the leader when a page that precedes it arrived, such as a page on the host of a new seed
)

// order lists all criteria except canonical URLs, most important first.
var order = []struct {
	reason  Reason
	compare func(a, b *Standing) int
}{
	{Indexed, func(a, b *Standing) int { return First(!a.NoIndex, !b.NoIndex) }},
	{Public, func(a, b *Standing) int { return First(!a.Private, !b.Private) }},
	{Preferred, func(a, b *Standing) int { return cmp.Compare(min(a.Place, 0), min(b.Place, 0)) }},
	{HostOrder, func(a, b *Standing) int { return cmp.Compare(a.Place, b.Place) }},
	{InSitemap, func(a, b *Standing) int { return First(a.Listed, b.Listed) }},
	{FirstSeen, func(a, b *Standing) int { return a.Seen.Compare(b.Seen) }},
	{HTTPS, func(a, b *Standing) int { return First(isHTTPS(a.URL), isHTTPS(b.URL)) }},
	{Language, func(a, b *Standing) int { return First(!a.OtherLang, !b.OtherLang) }},
	{ShortestPath, func(a, b *Standing) int { return cmp.Compare(pathLen(a.URL), pathLen(b.URL)) }},
	{SmallestURL, func(a, b *Standing) int { return cmp.Compare(a.URL, b.URL) }},
}

// Compare compares two pages by all criteria except canonical URLs, and returns the first criterion
// that decides. The returned number is negative if a precedes b, and positive if b precedes a. It
// is 0 only for the same page.
func Compare(a, b *Standing) (int, Reason) {
	for _, c := range order {
		if d := c.compare(a, b); d != 0 {
			return d, c.reason
		}
	}
	return 0, ""
}

// Yields reports whether page a gives up the lead to the other page because it names that page as
// its canonical URL.
func Yields(a, to *Standing) bool {
	return a.Names == to.URL && to.Names == "" && a.Withheld() >= to.Withheld()
}

// Leader returns the index of the leader of pages with the same text, or -1 if pages is empty.
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

// Why returns the criterion that makes a page the leader. next is the first of the other pages in
// the order of [Compare].
func Why(leader, next *Standing) Reason {
	d, reason := Compare(leader, next)
	switch {
	case d < 0 && (reason == Indexed || reason == Public):
		return reason
	case Yields(next, leader):
		return Canonical
	case d < 0:
		return reason
	}
	return LedBefore
}

// First compares two things of which those with a property come first.
func First(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func isHTTPS(url string) bool { return strings.HasPrefix(url, "https:") }

// pathLen returns the length in bytes of the path and query of a URL. For a file on disk, it
// returns the length of the whole name.
func pathLen(url string) int {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return len(url)
	}
	return len(rest) - max(strings.IndexByte(rest, '/'), 0)
}

// Key appends to dst a key of a standing without [Standing.Seen]. Keys have one length, and are in
// the order of [Compare] as byte strings. Pages with equal keys are in the order of their URLs.
func (s *Standing) Key(dst []byte) []byte {
	dst = append(dst, digit(s.NoIndex), digit(s.Private))
	dst = binary.BigEndian.AppendUint32(dst, uint32(s.Place)+1<<31)
	dst = append(dst, digit(!s.Listed), digit(!isHTTPS(s.URL)), digit(s.OtherLang))
	return binary.BigEndian.AppendUint32(dst, uint32(pathLen(s.URL)))
}

func digit(last bool) byte {
	if last {
		return 1
	}
	return 0
}
