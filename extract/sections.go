package extract

import (
	"slices"

	"golang.org/x/net/html/atom"
)

// # Sections
//
// Documentation generators make the id of a section from its heading. An id such as "sponsors" or
// "metadata" may name the subject of a section, although these words mark boilerplate elsewhere. So
// ids are ignored on sections of text. They are also ignored on boxes inside the declared <article>
// or <main>, except for ids that mean readers' comments or reviews.
//
// A class is stronger evidence, because it is written for a style sheet. Inside the declared
// <article> or <main>, a class is ignored on a box that has paragraphs of its own and few links,
// and on similar boxes with the same class.

// byName lists the marks that mostly come from class names.
const byName = markClass | markRelated | markSidebar | markByline

// clearSections removes the marks that sections of text got from their id or class.
func (s *survey) clearSections() {
	var texts []boxKind // kinds in which some element has several paragraphs; other elements of these kinds may have only one
	for i := range s.elems {
		if e := &s.elems[i]; e.mark != 0 && e.mark&^byName == 0 && s.hasParagraphs(int32(i)) {
			e.mark = 0
			if k := s.kindOfBox(int32(i)); k != (boxKind{}) {
				texts = append(texts, k)
			}
		}
	}
	for i := range s.elems {
		e := &s.elems[i]
		if e.mark != 0 && e.mark&^byName == 0 && slices.Contains(texts, s.kindOfBox(int32(i))) && s.isProse(int32(i)) {
			e.mark = 0
		}
		if e.byID == 0 {
			continue
		}
		switch {
		case s.isTextSection(int32(i)):
			e.mark &^= e.byID
		case e.controls == 0 && s.isInDeclared(int32(i)) && (e.last > e.first+1 || s.within(int32(i)).runs > 0):
			e.mark &^= e.byID &^ (markComments | markReviews)
		}
	}
}

// isTextSection reports whether an element begins with a heading, has no form fields, and has
// running text, code or a table as a child or in a child section.
func (s *survey) isTextSection(i int32) bool {
	e := &s.elems[i]
	if e.controls > 0 || !s.isHeaded(i) {
		return false
	}
	for j := i + 1; j < e.end; j = s.elems[j].end {
		switch c := &s.elems[j]; c.kind {
		case para:
			if s.within(j).runs > 0 {
				return true
			}
		case pre, table:
			return true
		case list:
			if c.node.DataAtom == atom.Dl && s.within(j).runs > 0 {
				return true
			}
		case group:
			if s.isTextSection(j) || s.runsIn(j) {
				return true
			}
		}
	}
	return false
}

// hasParagraphs reports whether element i is inside a declared element and has at least two running
// paragraphs as children. If a single child holds all its text, the paragraphs may be children of
// that child.
func (s *survey) hasParagraphs(i int32) bool {
	e, in := &s.elems[i], s.within(i)
	if in.runs < fewParagraphs || !s.isProse(i) {
		return false
	}
	for j := i + 1; j < e.end; j++ {
		if s.elems[j].kind == group && s.within(j).runs == in.runs {
			i = j
		}
	}
	n := 0
	for _, b := range s.blocks[e.first:e.last] {
		if p := &s.elems[b.elem]; !b.dropped && b.runs() && p.kind == para && p.parent == i {
			n++
		}
	}
	return n >= fewParagraphs
}

func (s *survey) isProse(i int32) bool {
	e, in := &s.elems[i], s.within(i)
	return e.kind == group && in.runs > 0 && in.link*4 <= in.size && e.controls == 0 && s.isInDeclared(e.parent) && !s.asksConsent(e)
}

const fewParagraphs = 2 // a class is ignored on an element with at least this many running paragraphs

// runsIn reports whether element i is unmarked and its first block is running text that belongs to
// element i itself, not to an element inside it.
func (s *survey) runsIn(i int32) bool {
	e := &s.elems[i]
	if e.mark != 0 || e.first == e.last {
		return false
	}
	b := &s.blocks[e.first]
	return b.elem == i && b.runs()
}
