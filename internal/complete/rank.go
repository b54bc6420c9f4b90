package complete

import (
	"cmp"
	"time"
	"unique"

	"skink/dedup"
	"skink/store"
	"skink/store/precedence"
)

// A ranked is a page as kept in memory by the comparison: its ID and the fields of its record that
// determine its rank.
type ranked struct {
	precedence.Standing
	id    dedup.Hash
	place int // position in storage order, from 0
	words int
	hash  dedup.Hash
	title dedup.Hash
	lang  string

	// yielding is another page that would rank first among the copies, but names this page as its
	// canonical URL. So this page ranks just before it. May be nil.
	yielding *precedence.Standing
}

// The result does not depend on when the page was first seen, because that depends on the timing of
// the crawl.
func rankedOf(r *store.Record, place int, order *precedence.Order) ranked {
	standing := precedence.Of(r, order)
	standing.Seen = time.Time{}
	return ranked{
		Standing: standing, place: place, id: r.ID, words: r.Words,
		hash: r.Hash, title: dedup.HashOf([]byte(r.Title)),
		lang: unique.Make(r.Lang).Value(), // there are few languages, so the pages share the strings
	}
}

// elect finds each page that leads its copies because the page that would otherwise lead them names
// it as its canonical URL. The canonical URL counts only if both pages have the same words, or were
// in one cluster during the crawl. Otherwise it is ignored, because some sites name their home page
// on every page. clusters[i] is the cluster of pages[i] in the crawl.
func elect(pages []ranked, clusters []dedup.Hash) {
	groups := joined{}
	for i := range pages {
		groups.join(clusters[i], pages[i].hash)
	}
	best := map[dedup.Hash]int{} // for each group, the index of the page that would lead it
	for i := range pages {
		group := groups.of(pages[i].hash)
		if first, ok := best[group]; ok {
			if d, _ := precedence.Compare(&pages[i].Standing, &pages[first].Standing); d > 0 {
				continue
			}
		}
		best[group] = i
	}
	for i := range pages {
		p := &pages[i]
		if would := &pages[best[groups.of(p.hash)]]; precedence.Yields(&would.Standing, &p.Standing) {
			standing := would.Standing // a copy, because sorting will move the elements of pages
			p.yielding = &standing
		}
	}
}

// A joined is a set of disjoint sets of hashes (union-find). Each hash maps to another hash of its
// set, and the set's representative maps to itself.
type joined map[dedup.Hash]dedup.Hash

func (j joined) of(h dedup.Hash) dedup.Hash {
	for {
		next, ok := j[h]
		if !ok || next == h {
			return h
		}
		if over, ok := j[next]; ok {
			j[h] = over // halve the path for the next call
		}
		h = next
	}
}

func (j joined) join(a, b dedup.Hash) {
	if a, b = j.of(a), j.of(b); a != b {
		j[a] = b
	}
}

// A ranking is an order of pages: by precedence, or with the longest text first. The second order
// is for a corpus that should keep as much text as possible. Of equally long texts, the one stored
// first is first if stored is set, and otherwise precedence decides.
type ranking struct{ longest, stored bool }

func (r ranking) compare(a, b *ranked) int {
	switch {
	case !r.longest:
		return a.compare(b)
	case a.Withheld() != b.Withheld():
		d, _ := precedence.Compare(&a.Standing, &b.Standing)
		return d
	}
	if d := cmp.Compare(b.words, a.words); d != 0 || !r.stored {
		return cmp.Or(d, a.compare(b))
	}
	return cmp.Compare(a.place, b.place)
}

func (r ranking) why(a, b *ranked) string {
	switch {
	case !r.longest || a.Withheld() != b.Withheld() || a.words == b.words && !r.stored:
		return string(precedence.Why(&a.Standing, &b.Standing))
	case a.words != b.words:
		return "longest text"
	}
	return string(precedence.FirstSeen)
}

// compare compares two pages by precedence. A page whose field yielding is set ranks just before
// the page in that field.
func (p *ranked) compare(q *ranked) int {
	d, _ := precedence.Compare(p.stands(), q.stands())
	switch {
	case d != 0:
		return d
	case p.yielding != nil:
		return -1
	case q.yielding != nil:
		return 1
	}
	return 0
}

func (p *ranked) stands() *precedence.Standing {
	if p.yielding != nil {
		return p.yielding
	}
	return &p.Standing
}
