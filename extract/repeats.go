package extract

import (
	"bytes"
	"regexp"
	"strconv"
)

// dropRepeats drops blocks of running text that repeat an earlier block. Pages repeat text in a
// copy for narrow screens, in an excerpt, or in a quoted post. A chorus stays. On product pages
// shorter lines are dropped too, because carousels repeat them.
//
// List items and rows of data are not dropped, because steps of instructions may repeat. In manuals
// and on pages with code, examples repeat, so only commands are dropped there.
func (s *survey) dropRepeats() {
	s.dropCommands()
	s.dropLineNumbers()
	defer s.recount()
	if s.manual || s.whole().code > 0 {
		return
	}
	words := sentence
	if s.isProduct() {
		words = label + 1
	}
	seen := make(map[string]int32)
	isText := func(b *block) bool { return b.words >= words && (b.kind != item || s.isProduct()) }
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.dropped || !isText(b) {
			continue
		}
		first, again := seen[string(s.text[b.start:b.end])]
		switch {
		case !again:
			seen[string(s.text[b.start:b.end])] = int32(i)
		case s.isRowOfData(b.elem), s.isChorus(first, int32(i)):
			seen[string(s.text[b.start:b.end])] = int32(i)
		default:
			if a := &s.blocks[first]; b.runs() && !a.runs() && a.kind != heading {
				b = a
				seen[string(s.text[b.start:b.end])] = int32(i)
			}
			b.dropped, b.again = true, true
		}
	}
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.dropped && isText(b) && !b.again {
			_, b.again = seen[string(s.text[b.start:b.end])]
		}
	}
}

// dropCommands drops lines of at most three linked words that the page has four times, such as
// "Source Edit" below each entry of a manual, and those that ask to wait for the text.
func (s *survey) dropCommands() {
	lines := make(map[string][]*block)
	for i := range s.blocks {
		b := &s.blocks[i]
		line := s.text[b.start:b.end]
		switch {
		case b.words < drawnWords && s.whole().runs > 0 && waiting.Match(line):
			b.dropped = true
		case b.links > 0 && b.size()-b.link <= b.links && b.words <= label && (b.kind == group || b.kind == para || b.kind == item && b.links > 1):
			lines[string(line)] = append(lines[string(line)], b)
		}
	}
	for _, same := range lines {
		for _, b := range same {
			b.dropped = b.dropped || len(same) >= entries
		}
	}
}

const numbered = 6 // minimum number of lines in a column of line numbers

// dropLineNumbers drops code whose lines are consecutive numbers, such as the column beside a listing.
func (s *survey) dropLineNumbers() {
	for i := range s.elems {
		if e := &s.elems[i]; e.kind == pre && e.last >= e.first+numbered && s.isCount(s.blocks[e.first:e.last]) {
			s.drop(e.first, e.last)
		}
	}
}

func (s *survey) isCount(lines []block) bool {
	last := 0
	for i, b := range lines {
		number, err := strconv.Atoi(string(s.text[b.start:b.end]))
		if err != nil || i > 0 && number != last+1 {
			return false
		}
		last = number
	}
	return true
}

// waiting matches a line that a page shows until its scripts have loaded the text.
var waiting = regexp.MustCompile(`^Loading.{0,60}(…|\.\.\.)$`)

const maxChorus = 8 // a run of this many repeated lines is a copy of a box

// isChorus reports whether block i repeats an earlier paragraph of the same column, in the same kind
// of box, with text in between that is not repeated. A copied box has no such text in between.
// Boxes other than paragraphs do not count, because a carousel repeats its first one at its end.
func (s *survey) isChorus(first, i int32) bool {
	a, b := &s.blocks[first], &s.blocks[i]
	if s.thread || s.isProduct() || b.link > 0 || b.kind != para && a.elem != b.elem || !s.inOneColumn(a.elem, b.elem) {
		return false
	}
	above, below := int32(0), int32(1)
	for first > above && above < maxChorus && s.sameText(first-above-1, i-above-1) {
		above++
	}
	for int(i+below) < len(s.blocks) && below < maxChorus && s.sameText(first+below, i+below) {
		below++
	}
	return above < maxChorus && below < maxChorus && s.total(first+below, max(i-above, first+below)).runs > 0
}

// isRowOfData reports whether an element is in a table row that is one block.
func (s *survey) isRowOfData(i int32) bool {
	for ; i >= 0 && s.elems[i].last == s.elems[i].first+1; i = s.elems[i].parent {
		if s.elems[i].kind == row {
			return true
		}
	}
	return false
}

// inOneColumn reports whether two elements with one block each stand alike in the same element.
func (s *survey) inOneColumn(a, b int32) bool {
	for a >= 0 && b >= 0 && a != b {
		x, y := &s.elems[a], &s.elems[b]
		if x.last != x.first+1 || y.last != y.first+1 || x.node.Data != y.node.Data || firstClass(x.node) != firstClass(y.node) {
			return false
		}
		a, b = x.parent, y.parent
	}
	return a >= 0 && a == b
}

func (s *survey) sameText(i, j int32) bool {
	a, b := &s.blocks[i], &s.blocks[j]
	return bytes.Equal(s.text[a.start:a.end], s.text[b.start:b.end])
}
