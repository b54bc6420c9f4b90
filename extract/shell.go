package extract

import "golang.org/x/net/html/atom"

// # Pages filled only by scripts
//
// If only scripts write the text of a page, its HTML has a menu, a footer, and perhaps a line such
// as "Please enable JavaScript". That line is the same on all such pages of a site. As main text,
// it would make them duplicates of each other. So a main text of less than a sentence counts as
// empty if menus and footers have at least ten times as many words. An exception is a <main> with
// an <h1> and a statement, such as "No results". A text in <noscript> counts as empty too if it is
// a short notice, or if the JSON of the page has more text, and ten times as much running text.
//
// Weakness: by this rule, a page with an image, a short caption and large menus has no text.

const (
	frameTimes = 10           // minimum number of words in menus and footers, or in JSON, for each word of main text
	notice     = 3 * sentence // text in <noscript> with fewer words is only a notice
)

func (s *survey) isShell() bool {
	words, running, inNoscript := 0, 0, true
	isNoscript := func(i int32) bool { return s.elems[i].node.DataAtom == atom.Noscript }
	for i := range s.blocks {
		b := &s.blocks[i]
		if !b.taken {
			continue
		}
		words += b.words
		if b.runs() {
			running += b.words
		}
		inNoscript = inNoscript && s.around(b.elem, isNoscript) >= 0
		if words >= sentence && !inNoscript {
			return false
		}
	}
	if inNoscript {
		return words < notice || s.hasData(max(words, frameTimes*running))
	}
	return s.frame() >= frameTimes*words && !s.isStated(words)
}

// hasData reports whether the JSON of the page has more than some number of words of running text.
func (s *survey) hasData(words int) bool {
	top := s.elems[0].node
	for top.Parent != nil {
		top = top.Parent
	}
	var see needing
	see.shownBy(top)
	return see.data > words
}

// isStated reports whether a main text of some words is an <h1> and a statement in <main>.
func (s *survey) isStated(words int) bool {
	return s.doc.Root == RootMain && s.h1Block >= 0 && s.blocks[s.h1Block].taken && words > s.blocks[s.h1Block].words
}

// frame returns the number of words in menus and footers that are not in the main text.
func (s *survey) frame() int {
	words := 0
	isFrame := func(i int32) bool { return s.elems[i].mark&markNav != 0 || s.elems[i].node.DataAtom == atom.Footer }
	for i := range s.outermost(isFrame) {
		for _, b := range s.blocks[s.elems[i].first:s.elems[i].last] {
			if !b.taken {
				words += b.words
			}
		}
	}
	return words
}
