package extract

import (
	"slices"

	"golang.org/x/net/html/atom"
)

// # Sections
//
// Documentation generators make the id of a section out of its heading or its label, so that
// "sponsors" and "metadata" name what a section is about and not what kind of box it is. An id is
// written for links. So it says nothing of a box in the page's declared article or main part, and
// nothing of a section of text anywhere. Only readers' comments are believed in an article.
//
// A class is written for a style sheet, and says more. But in the declared article or main part it
// says nothing of a box that has paragraphs of its own and few links, nor of others of its kind.

// byName are the marks that boxes mostly have for their class.
const byName = markClass | markRelated | markSidebar | markByline

// clearSections takes back what ids and classes say of sections of text.
func (s *survey) clearSections() {
	var texts []boxKind // of boxes with paragraphs; others of their kind may have one
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

// isTextSection reports a box that begins with a heading and has running text, code or a table
// right in it, or in a section of its own. A box with fields to fill in is none.
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

// hasParagraphs reports a box in a declared one that has several running paragraphs right in it, or in
// the one box in it that has all of them.
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

// isProse reports a box in a declared one that has running text and few links. It has no field to fill
// in, and does not ask for consent.
func (s *survey) isProse(i int32) bool {
	e, in := &s.elems[i], s.within(i)
	return e.kind == group && in.runs > 0 && in.link*4 <= in.size && e.controls == 0 && s.isInDeclared(e.parent) && !s.asksConsent(e)
}

const fewParagraphs = 2 // running paragraphs that make a box a text

// runsIn reports a box whose first line is running text that stands right in it.
func (s *survey) runsIn(i int32) bool {
	e := &s.elems[i]
	if e.mark != 0 || e.first == e.last {
		return false
	}
	b := &s.blocks[e.first]
	return b.elem == i && b.runs()
}
