package extract

import "bytes"

// # Pruning
//
// Pruning is guarded. A class name is a hint that someone wrote for another purpose: a forum keeps
// its threads in "comments", a page wraps all it has in "modal", and pages that stream their text
// have it in <div hidden>. So what a rule would take is weighed first. A rule that would take most
// of the running text is wrong about this page. Two things need no weighing: the boxes of consent
// managers, and navigation that is nothing but links. If navigation were weighed, a page whose text
// is made by scripts would keep its menu, and all such pages of a site would look alike.

// guard is a rule and what it may take.
type guard struct {
	mark  mark
	part  float64 // the largest share of the running text in one box that is dropped
	whole float64 // the same of all boxes under the rule; of 1, enough text must be left
	holds func(*genre) bool
}

// guards are in the order they are applied, the surer first.
var guards = []guard{
	{markNever, 1, 1, (*genre).anything},
	{markHidden, 0.5, 0.6, (*genre).anything},
	{markNav | markAside, 0.6, 0.8, (*genre).anything},
	{markClass | markSidebar, 0.4, 0.6, (*genre).anything},
	{markRelated, 1, 1, (*genre).isArticle},                 // outweighs a short article
	{markClass | markSidebar, 0.6, 0.8, (*genre).isProduct}, // outweighs a description
	{markByline, 0.4, 0.6, (*genre).notThread},
	{markCall, 0.4, 0.6, (*genre).isArticle},
	{markSignature, 1, 0.8, (*genre).isThread},
	{markReviews, 1, 0.9, (*genre).isProduct},
	{markUser, 0.1, 0.4, (*genre).isThread},
	{markComments, 0.4, 0.5, (*genre).hasRemarks},
}

// sum is what the blocks before a point amount to, dropped ones left out.
type sum struct {
	weight int // see weight
	size   int // bytes of text
	link   int // bytes of text in links
	runs   int // blocks of running text
	code   int // lines of code
}

// weight is how much a block counts as running text. Words that run on in sentences are what a page
// is about; links and labels are found on every page of a site. They count a little, so that a page
// of nothing else still has a middle.
func (b *block) weight() int {
	text := b.size() - b.link
	if b.runs() {
		return text * 8
	}
	return text
}

// runs reports a block of running text.
func (b *block) runs() bool { return b.words >= sentence && b.link*2 < b.size() }

const sentence = 10 // words that make a block running text

// recount makes the prefix sums anew.
func (s *survey) recount() {
	s.sums = append(s.sums[:0], make([]sum, len(s.blocks)+1)...)
	var t sum
	for i := range s.blocks {
		s.sums[i] = t
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
	s.sums[len(s.blocks)] = t
}

// own is the text outside of links, in bytes.
func (s sum) own() int { return s.size - s.link }

// total is what blocks[first:last] amount to.
func (s *survey) total(first, last int32) sum {
	a, b := s.sums[first], s.sums[last]
	return sum{b.weight - a.weight, b.size - a.size, b.link - a.link, b.runs - a.runs, b.code - a.code}
}

func (s *survey) within(e int32) sum { return s.total(s.elems[e].first, s.elems[e].last) }

func (s *survey) whole() sum { return s.sums[len(s.blocks)] }

// dropMenuLines drops lines of nothing but several short links: menus that no markup tells.
func (s *survey) dropMenuLines() {
	for i := range s.blocks {
		b := &s.blocks[i]
		switch b.kind {
		case group, row, cell:
			if b.links >= 4 && b.size()-b.link <= b.links && b.link < 18*b.links {
				b.dropped = true
			}
		}
	}
}

// prune drops the blocks of suspect boxes.
func (s *survey) prune() {
	for _, g := range guards {
		if !g.holds(&s.genre) {
			continue
		}
		if g.mark&markClass != 0 {
			s.dropConsent()
		}
		switch {
		case g.mark == markComments && (s.article || s.blog && !s.thread):
			g.part, g.whole = 1, 1 // a long discussion is no part of a short article
		case g.mark == markComments && s.thread:
			g.part = 1 // all or none, for they may be the posts themselves
		}
		boxes, taken := s.suspects(g)
		left := s.whole().weight - taken.weight
		if len(boxes) == 0 || g.isMore(taken, g.whole, s.whole()) || g.whole == 1 && g.mark != markNever && left < 8*enough {
			continue
		}
		for _, i := range boxes {
			s.drop(s.elems[i].first, s.elems[i].last)
		}
		s.recount()
	}
}

// isMore reports more than a share of the whole. A list of things has next to no running text, so a
// name is weighed by all text outside of links too: a table of two hundred books may be named after
// its tooltips.
func (g guard) isMore(part sum, share float64, whole sum) bool {
	return float64(part.weight) > share*float64(whole.weight) || g.mark&markClass != 0 && float64(part.own()) > share*float64(whole.own())
}

// suspects are the outermost boxes that a rule would drop, and what they weigh together.
func (s *survey) suspects(g guard) (boxes []int32, taken sum) {
	whole := s.whole()
	for i := int32(0); i < int32(len(s.elems)); {
		e := &s.elems[i]
		if e.mark&g.mark == 0 || g.mark == markHidden && e.mark&markPanel != 0 {
			i++
			continue
		}
		in := s.within(i)
		if g.mark&markNav != 0 && in.runs == 0 && in.link*2 > in.size {
			in.weight = 0
		}
		if g.isMore(in, g.part, whole) {
			i++ // too much to lose; what is inside is looked at on its own
			continue
		}
		boxes = append(boxes, i)
		taken.weight += in.weight
		taken.size += in.size
		taken.link += in.link
		i = e.end
	}
	return boxes, taken
}

// dropConsent drops the boxes that ask for consent. It does so before names are weighed, because on
// a short page such boxes outweigh the text. A name may take a share only of what is left.
func (s *survey) dropConsent() {
	dropped := false
	for i := int32(0); i < int32(len(s.elems)); {
		e := &s.elems[i]
		if e.mark&markClass == 0 || !s.asksConsent(e) {
			i++
			continue
		}
		s.drop(e.first, e.last)
		dropped = true
		i = e.end
	}
	if dropped {
		s.recount()
	}
}

const consentBlocks = 64 // blocks of a box that asks for consent

// asksConsent reports a box of which half the text is sentences about cookies, which is their name
// in most languages.
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
		s.blocks[i].dropped, s.blocks[i].copies = true, -1
	}
}
