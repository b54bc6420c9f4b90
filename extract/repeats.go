package extract

// dropRepeats drops sentences that the page has shown before: pages hold one copy for wide screens and one for narrow ones,
// an excerpt behind a button, a post quoted whole. Shops repeat shorter things, in every carousel.
//
// Lists of steps do repeat themselves, and so do references, from example to example; they keep what they say.
func (s *survey) dropRepeats() {
	if s.whole().code > 0 {
		return
	}
	words := sentence
	if s.isProduct() {
		words = label + 1
	}
	seen := make(map[string]bool)
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.dropped || b.words < words || b.kind == item && !s.isProduct() {
			continue
		}
		text := s.text[b.start:b.end]
		if seen[string(text)] {
			b.dropped, b.again = true, true
			continue
		}
		seen[string(text)] = true
	}
}
