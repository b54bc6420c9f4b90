package extract

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// # Tables of contents and line numbers
//
// Two things stand in a text and say nothing of their own. A table of contents repeats the headings
// as links to places on the page. A column of line numbers stands beside code. Both are told by what
// they hold, whatever their names are.

const fewHeadings = 3 // items of a table of contents, at least

// dropContents drops the tables of contents, each with the line that it has for a heading, and the
// columns of line numbers.
func (s *survey) dropContents() {
	dropped := false
	for i := int32(0); i < int32(len(s.elems)); i++ {
		e := &s.elems[i]
		switch {
		case e.kind == list && s.isContents(e):
			first := e.first
			if p := e.parent; p >= 0 && s.elems[p].first == first-1 && s.elems[p].last == e.last {
				first--
			}
			s.drop(first, e.last)
		case e.kind == pre && s.isCount(e):
			s.drop(e.first, e.last)
		default:
			continue
		}
		i = e.end - 1
		dropped = true
	}
	if dropped {
		s.recount()
	}
}

// isContents reports a list of links to places on the page and nothing else.
func (s *survey) isContents(e *elem) bool {
	if e.last-e.first < fewHeadings {
		return false
	}
	for _, b := range s.blocks[e.first:e.last] {
		if b.here*10 < b.size()*9 {
			return false
		}
	}
	return true
}

// isCount reports several lines in a cell of a table that are numbers, each one more than the one
// above. Elsewhere such lines are what a program prints.
func (s *survey) isCount(e *elem) bool {
	if e.last-e.first < 2 || !s.isIn(e.parent, atom.Td) {
		return false
	}
	last := 0
	for k, b := range s.blocks[e.first:e.last] {
		n := 0
		for _, c := range strings.TrimSpace(string(s.text[b.start:min(b.end, b.start+20)])) {
			if c < '0' || c > '9' {
				return false
			}
			n = 10*n + int(c-'0')
		}
		if k > 0 && n != last+1 {
			return false
		}
		last = n
	}
	return true
}
