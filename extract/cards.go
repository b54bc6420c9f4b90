package extract

// # Cards
//
// Below an article stand other articles of its site. Each is a card: a headline that is a link, a
// line or two of what it is about, a date. No class name need tell. That several of a kind stand in
// a box of their own, one after the other, does.
//
// An article may itself be such a list, of things to buy or to see. So cards stay if they stand
// between paragraphs, or if text stands below them. A list of articles has nothing but cards: where
// little stands above them, they are what the page says. They are so, too, on a page that does not
// call itself an article: a company's services are cards below what it says of itself.

const (
	cardAbove  = 2 * 8 * enough // weight of the text above a row
	cardRow    = 3              // cards that make a row
	cardBlocks = 8              // blocks of a card
	cardSize   = 700            // bytes of a card
	cardShare  = 3              // times as much as what is above them
)

// dropCards drops the rows of cards below an article, from the last up, so that what is below each
// is no card.
func (s *survey) dropCards() {
	if !s.isArticle() || s.whole().code > 0 {
		return
	}
	var rows []int32
	for i := int32(0); i < int32(len(s.elems)); {
		if !s.isRow(i) {
			i++
			continue
		}
		rows = append(rows, i)
		i = s.elems[i].end
	}
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

// columns counts for each box the paragraphs of running text right in it, up to what makes a
// column.
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

// inColumn reports a box in a column of text.
func (s *survey) inColumn(i int32, columns []uint8) bool {
	for p := s.elems[i].parent; p >= 0; p = s.elems[p].parent {
		if columns[p] == minRuns {
			return true
		}
	}
	return false
}

// isRow reports a box of cards of a kind and next to nothing else.
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

// isCard reports a box with a headline that is a link, and little else.
func (s *survey) isCard(i int32) bool {
	e := &s.elems[i]
	if e.kind != group && e.kind != item || e.mark&markPanel != 0 || e.last-e.first < 1 || e.last-e.first > cardBlocks {
		return false
	}
	if in := s.within(i); in.size > cardSize || in.runs > 2 {
		return false
	}
	for _, b := range s.blocks[e.first:e.last] {
		if !b.dropped && b.link*10 >= b.size()*8 && b.words >= label {
			return true
		}
	}
	return false
}
