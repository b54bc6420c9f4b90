package extract

import "golang.org/x/net/html/atom"

// # Pages that only scripts fill
//
// A page whose text only scripts would write is not empty. It says that JavaScript is needed, or it
// has the shop's name and a hint in its search field, between a menu and a footer. That is the same
// on all such pages of a site, and would make them copies of one another. So less than a sentence
// is no text where the frame around it says ten times as much. Nor is a short notice in <noscript>.
//
// What it gets wrong: a picture with a caption of a few words, between a large menu and a large
// footer, has no text either.

const (
	frameTimes = 10           // words of menus and footers to one of what is left of the page
	notice     = 3 * sentence // words that <noscript> has for a reader without scripts, at most
)

// isShell reports a main text that is none: see above.
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

// frame counts the words of menus and footers.
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

// isIn reports a box that is, or is in, an element of a name.
func (s *survey) isIn(i int32, name atom.Atom) bool {
	for ; i >= 0; i = s.elems[i].parent {
		if s.elems[i].node.DataAtom == name {
			return true
		}
	}
	return false
}
