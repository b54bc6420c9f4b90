package extract

import "slices"

// # Cards
//
// Below an article, templates show other articles of the site. Each is a card: a small box with a
// linked headline, one or two lines of description, and a date. A row is a box that contains
// several cards of the same class and little else. Rows are recognized by this shape, not by a
// class name.
//
// An article may itself be a list of such boxes, such as "10 books to read". So a row stays if its
// box also contains paragraphs, if a lot of text follows it, or if little text precedes it. Rows
// are dropped only on pages that declare themselves articles: the services on a company's page look
// like cards, but are the page's text.

const (
	cardAbove  = 2 * 8 * enough // minimum weight of the text above a row of cards
	cardRow    = 3              // minimum number of cards in a row
	cardBlocks = 8              // maximum number of blocks in a card
	cardSize   = 700            // maximum number of bytes of text in a card
	cardShare  = 3              // a row weighs at most this many times as much as the text above it
)

// dropCards drops the rows of cards below an article. It starts with the last row, so that a
// dropped row does not count as text below the rows above it.
func (s *survey) dropCards() {
	if !s.isArticle() || s.whole().code > 0 {
		return
	}
	rows := slices.Collect(s.outermost(s.isRow))
	if rows == nil {
		return
	}
	columns, taken := s.columns(), 0
	for k := len(rows) - 1; k >= 0; k-- {
		e := &s.elems[rows[k]]
		above, row := s.sums[e.first].weight, s.within(rows[k]).weight
		if after := s.whole().weight - above - row - taken; above < cardAbove || row > cardShare*above || after*5 > above {
			break
		}
		if s.inColumn(rows[k], columns) {
			continue
		}
		s.drop(e.first, e.last)
		taken += row
	}
	if taken > 0 {
		s.recount()
	}
}

// columns counts, for each element, the child paragraphs that are running text, up to minRuns.
func (s *survey) columns() []uint8 {
	runs := make([]uint8, len(s.elems))
	for i := range s.elems {
		e := &s.elems[i]
		if e.kind == para && e.parent >= 0 && runs[e.parent] < minRuns && s.within(int32(i)).runs > 0 {
			runs[e.parent]++
		}
	}
	return runs
}

// inColumn reports whether any ancestor of element i has at least minRuns running paragraphs as
// children.
func (s *survey) inColumn(i int32, columns []uint8) bool {
	return s.around(s.elems[i].parent, func(p int32) bool { return columns[p] == minRuns }) >= 0
}

// isRow reports whether element i is a row of cards. At least cardRow of its children must be cards
// of the same class, and together they must contain four fifths of its text.
func (s *survey) isRow(i int32) bool {
	cards, size := 0, 0
	kind := ""
	for j := i + 1; j < s.elems[i].end; j = s.elems[j].end {
		if !s.isCard(j) {
			continue
		}
		n := s.elems[j].node
		switch name := firstClass(n); {
		case cards == 0:
			kind = name
		case name != kind:
			continue
		}
		cards++
		size += s.within(j).size
	}
	return cards >= cardRow && size*10 >= s.within(i).size*8
}

// isCard reports whether element i is a card: a small element with little running text and a
// headline. The headline is a line of more than two words, nearly all of which are link text.
func (s *survey) isCard(i int32) bool {
	e := &s.elems[i]
	if e.kind != group && e.kind != item || e.mark&markPanel != 0 || e.last-e.first < 1 || e.last-e.first > cardBlocks {
		return false
	}
	if in := s.within(i); in.size > cardSize || in.runs > 2 {
		return false
	}
	return slices.ContainsFunc(s.blocks[e.first:e.last], func(b block) bool { return !b.dropped && b.link*10 >= b.size()*8 && b.words >= label })
}
