package extract

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"
)

// dropRepeats drops copies of running text, commands below entries, and columns of line numbers.
func (s *survey) dropRepeats() {
	commands, numbers, copies := s.dropCommands(), s.dropLineNumbers(), s.dropCopies()
	if commands || numbers || copies {
		s.recount()
	}
}

// dropCopies drops blocks of running text that repeat an earlier block. Pages repeat text in a
// copy for narrow screens, in an excerpt, or in a quoted post. A chorus stays. On product pages
// shorter lines are dropped too, because carousels repeat them.
//
// List items and rows of data are not dropped, because steps of instructions may repeat. In manuals
// and on pages with code, examples repeat, so nothing is dropped there. dropCopies reports whether it
// has dropped anything, as the next two do.
func (s *survey) dropCopies() (dropped bool) {
	if s.manual || s.whole().code > 0 {
		return false
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
			b.dropped, b.again, dropped = true, true, true
		}
	}
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.dropped && isText(b) && !b.again {
			_, b.again = seen[string(s.text[b.start:b.end])]
		}
	}
	return dropped
}

// dropCommands drops lines of at most three linked words that the page has four times, such as
// "Source Edit" below each entry of a manual, and those that ask to wait for the text.
func (s *survey) dropCommands() (dropped bool) {
	var room [64]*block
	linked, runs := room[:0], s.whole().runs > 0
	for i := range s.blocks {
		b := &s.blocks[i]
		switch {
		case runs && b.words < drawnWords && s.text[b.start] == 'L' && isWaiting(s.text[b.start:b.end]):
			b.dropped, dropped = true, true
		case b.links > 0 && b.words <= label && b.size()-b.link <= b.links && (b.kind == group || b.kind == para || b.kind == item && b.links > 1):
			linked = append(linked, b)
		}
	}
	if len(linked) < entries {
		return dropped
	}
	var alike [256]uint16 // number of lines with each sum of some bytes; few lines need the map
	sumOf := func(b *block) byte { return s.text[b.start] + 5*s.text[b.end-1] + 11*byte(b.size()) }
	for _, b := range linked {
		alike[sumOf(b)]++
	}
	linked = slices.DeleteFunc(linked, func(b *block) bool { return alike[sumOf(b)] < entries })
	lines := map[string]int{}
	for _, b := range linked {
		lines[string(s.text[b.start:b.end])]++
	}
	for _, b := range linked {
		if lines[string(s.text[b.start:b.end])] >= entries {
			b.dropped, dropped = true, true
		}
	}
	return dropped
}

const numbered = 6 // minimum number of lines in a column of line numbers

// dropLineNumbers drops code whose lines are consecutive numbers, such as the column beside a listing.
func (s *survey) dropLineNumbers() (dropped bool) {
	if s.whole().code < numbered {
		return false
	}
	for i := range s.elems {
		if e := &s.elems[i]; e.kind == pre && e.last >= e.first+numbered && s.isCount(s.blocks[e.first:e.last]) {
			s.drop(e.first, e.last)
			dropped = true
		}
	}
	return dropped
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

// isWaiting reports whether a page shows a line until its scripts have loaded the text, such as "Loading…".
func isWaiting(line []byte) bool {
	what, is := bytes.CutPrefix(line, []byte("Loading"))
	return is && utf8.RuneCount(what) <= 63 && (bytes.HasSuffix(what, []byte("…")) || bytes.HasSuffix(what, []byte("...")))
}

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
