package extract

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// # Tables of contents and line numbers
//
// A table of contents repeats the headings of a page as links such as <a href="#part">. A column of
// line numbers appears beside code. Neither adds to the text. Both are recognized by their content,
// because their class names differ from site to site.

const fewHeadings = 3 // minimum number of items in a table of contents

// dropContents drops tables of contents, each with the one-line heading above it, if any, and
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

// isCount reports whether e is a column of line numbers: it is inside a table cell, and has two or
// more lines that are consecutive numbers. Outside a table, such lines may be the output of a
// program.
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
