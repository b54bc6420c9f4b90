package extract

import "golang.org/x/net/html/atom"

// # Pages filled only by scripts
//
// If only scripts write the text of a page, its HTML has a menu, a footer, and perhaps a line such
// as "Please enable JavaScript". That line is the same on all such pages of a site. As main text,
// it would make them duplicates of each other. So a main text of less than a sentence counts as
// empty if menus and footers have at least ten times as many words. A short notice in <noscript>
// counts as empty too.
//
// Weakness: by this rule, a page with an image, a short caption and large menus has no text.

const (
	frameTimes = 10           // minimum number of words in menus and footers for each word of main text
	notice     = 3 * sentence // text in <noscript> with fewer words is only a notice
)

func (s *survey) isShell() bool {
	words, inNoscript := 0, true
	for i := range s.blocks {
		b := &s.blocks[i]
		if !b.taken {
			continue
		}
		words += b.words
		inNoscript = inNoscript && s.isIn(b.elem, atom.Noscript)
		if words >= sentence && !inNoscript || words >= notice {
			return false
		}
	}
	return inNoscript || s.frame() >= frameTimes*words
}

// frame returns the number of words in menus and footers that are not in the main text.
func (s *survey) frame() int {
	words := 0
	for i := int32(0); i < int32(len(s.elems)); i++ {
		e := &s.elems[i]
		if e.mark&markNav == 0 && e.node.DataAtom != atom.Footer {
			continue
		}
		for _, b := range s.blocks[e.first:e.last] {
			if !b.taken {
				words += b.words
			}
		}
		i = e.end - 1
	}
	return words
}

func (s *survey) isIn(i int32, name atom.Atom) bool {
	for ; i >= 0; i = s.elems[i].parent {
		if s.elems[i].node.DataAtom == name {
			return true
		}
	}
	return false
}
