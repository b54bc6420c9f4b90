package extract

import (
	"bytes"
	"slices"
)

// # Pruning
//
// Pruning drops marked boxes. A mark comes from a class name or an element that may have another
// purpose: a forum has its threads in "comments", a page has its whole content in "modal", or loads
// its text in <div hidden>. So each rule has limits. If the marked boxes hold too much of the
// running text, the rule does not fit the page, and drops nothing.
//
// Two kinds of box have no limit: consent managers, and navigation that is mostly links. With a
// limit for navigation, a page whose text is produced by scripts would keep its menu, and all such
// pages of a site would look alike.

// A guard is a rule that drops elements with certain marks, together with its limits.
type guard struct {
	mark  mark
	part  float64 // an element is dropped if its share of the page's weight is at most this, 0 to 1
	whole float64 // maximum share of the page's weight for all elements of the rule together; 1 means no maximum, but enough text must remain
	holds func(*genre) bool
}

// guards lists the rules in the order in which they are applied, most reliable first.
var guards = []guard{
	{markNever, 1, 1, (*genre).anything},
	{markHidden, 0.5, 0.6, (*genre).anything},
	{markNav | markAside, 0.6, 0.8, (*genre).anything},
	{markClass | markSidebar, 0.4, 0.6, (*genre).notManual},
	{markRelated, 1, 1, (*genre).isArticle},                 // no limit, because related articles may be longer than the article
	{markClass | markSidebar, 0.6, 0.8, (*genre).isProduct}, // high limits, because other products may have more text than the description
	{markByline, 0.4, 0.6, (*genre).notThread},
	{markCall, 0.4, 0.6, (*genre).isArticle},
	{markSignature, 1, 0.8, (*genre).isThread},
	{markReviews, 1, 0.9, (*genre).isProduct},
	{markUser, 0.1, 0.4, (*genre).isThread},
	{markComments, 0.4, 0.5, (*genre).hasRemarks},
}

// A sum holds totals over a range of blocks, excluding dropped blocks.
type sum struct {
	weight int
	size   int // bytes of text
	link   int // bytes of text in links
	runs   int // number of blocks of running text
	code   int // number of lines of code
}

// weight returns the number of bytes of a block outside links, times eight for running text.
// Running text shows where the content of a page is, because labels and links are on every page.
// They still have a small weight, so a page without running text has a root too.
func (b *block) weight() int {
	text := b.size() - b.link
	if b.runs() {
		return text * 8
	}
	return text
}

func (b *block) runs() bool { return b.words >= sentence && b.link*2 < b.size() }

const sentence = 10 // minimum number of words in running text

// recount recomputes the prefix sums. Call it after dropping blocks.
func (s *survey) recount() {
	s.sums = slices.Grow(s.sums[:0], len(s.blocks)+1)
	var t sum
	for i := range s.blocks {
		s.sums = append(s.sums, t)
		if b := &s.blocks[i]; !b.dropped {
			t.weight += b.weight()
			t.size += b.size()
			t.link += b.link
			if b.runs() {
				t.runs++
			}
			if b.kind == pre {
				t.code++
			}
		}
	}
	s.sums = append(s.sums, t)
}

// own returns the number of bytes outside links.
func (s sum) own() int { return s.size - s.link }

func (s *survey) total(first, last int32) sum {
	a, b := s.sums[first], s.sums[last]
	return sum{b.weight - a.weight, b.size - a.size, b.link - a.link, b.runs - a.runs, b.code - a.code}
}

func (s *survey) within(e int32) sum { return s.total(s.elems[e].first, s.elems[e].last) }

func (s *survey) whole() sum { return s.sums[len(s.blocks)] }

func (s *survey) prune() {
	for _, g := range guards {
		if !g.holds(&s.genre) || s.manual && g.mark&(markComments|markRelated) != 0 { // in a manual, these names describe the subjects of sections
			continue
		}
		if g.mark&markClass != 0 {
			s.dropConsent()
		}
		least := enough
		switch {
		case g.mark == markComments && (s.article || s.blog && !s.thread):
			g.part, g.whole, least = 1, 1, enough/4 // comments may be longer than the article
		case g.mark == markComments && s.thread:
			g.part = 1 // the posts of a thread may be marked as comments, so only the limit for all elements together applies
		}
		boxes, taken := s.suspects(g)
		left := s.whole().weight - taken.weight
		if len(boxes) == 0 || g.isMore(taken, g.whole, s.whole()) || g.whole == 1 && g.mark != markNever && left < 8*least {
			continue
		}
		for _, i := range boxes {
			s.drop(s.elems[i].first, s.elems[i].last)
		}
		s.recount()
	}
}

// isMore reports whether the weight of part exceeds a share of the weight of whole. For marks from
// class names, the bytes outside links are measured as well, because a page that is a table or a
// list has little running text.
func (g guard) isMore(part sum, share float64, whole sum) bool {
	return float64(part.weight) > share*float64(whole.weight) || g.mark&markClass != 0 && float64(part.own()) > share*float64(whole.own())
}

// weight returns the weight of an element, or 0 if it is navigation that is mostly links.
func (g guard) weight(in sum) int {
	if g.mark&markNav != 0 && in.runs == 0 && in.link*2 > in.size {
		return 0
	}
	return in.weight
}

// suspects returns the elements that guard g may drop, and their sum. Readers comment on a text above
// their comments. So a box called "comment" with no running text above it is a description, and so
// are all boxes of its kind.
func (s *survey) suspects(g guard) (boxes []int32, taken sum) {
	whole := s.whole()
	var large []boxKind // boxes of these kinds are text, because one of them has much of the text or is above it
	for i := int32(0); i < int32(len(s.elems)); {
		e := &s.elems[i]
		if e.mark&g.mark == 0 || g.mark == markHidden && e.mark&markPanel != 0 {
			i++
			continue
		}
		in := s.within(i)
		in.weight = g.weight(in)
		if g.isMore(in, g.part, whole) || g.mark == markComments && s.total(0, e.first).runs == 0 {
			large = append(large, s.kindOfBox(i))
			i++ // the element is not dropped as a whole, so try the elements inside
			continue
		}
		boxes = append(boxes, i)
		i = e.end
	}
	boxes = slices.DeleteFunc(boxes, func(i int32) bool {
		if len(large) == 0 || g.mark&(markClass|markComments) == 0 {
			return false
		}
		k := s.kindOfBox(i)
		return k != (boxKind{}) && slices.Contains(large, k)
	})
	for _, i := range boxes {
		in := s.within(i)
		taken.weight += g.weight(in)
		taken.size += in.size
		taken.link += in.link
	}
	return boxes, taken
}

// dropConsent drops the elements that ask for cookie consent. It runs before the rule for class
// names, because on a short page such elements may outweigh the text.
func (s *survey) dropConsent() {
	dropped := false
	for i := range s.outermost(func(i int32) bool { return s.elems[i].mark&markClass != 0 && s.asksConsent(&s.elems[i]) }) {
		s.drop(s.elems[i].first, s.elems[i].last)
		dropped = true
	}
	if dropped {
		s.recount()
	}
}

const consentBlocks = 64 // maximum number of blocks in a consent notice

// asksConsent reports whether at least half the text of an element is running text with the word
// "cookie", which most languages use.
func (s *survey) asksConsent(e *elem) bool {
	all, cookies := 0, 0
	for i := e.first; i < min(e.last, e.first+consentBlocks); i++ {
		b := &s.blocks[i]
		if b.dropped {
			continue
		}
		all += b.size()
		if b.runs() && bytes.Contains(s.text[b.start:b.end], []byte("ookie")) {
			cookies += b.size()
		}
	}
	return e.last-e.first <= consentBlocks && cookies > 0 && all <= 2*cookies
}

func (s *survey) drop(first, last int32) {
	for i := first; i < last; i++ {
		s.blocks[i].dropped = true
	}
}
