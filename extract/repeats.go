package extract

// dropRepeats drops sentences that the page has shown before. Pages hold one copy for wide screens
// and one for narrow ones, an excerpt behind a button, a post that is quoted whole. Shops repeat
// shorter things, in every carousel.
//
// Lists of steps do repeat themselves, and references do from example to example. They keep what
// they say.
func (s *survey) dropRepeats() {
	if s.manual || s.whole().code > 0 {
		return
	}
	words := sentence
	if s.isProduct() {
		words = label + 1
	}
	seen, repeated := make(map[string]int32), false
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.dropped || b.words < words || b.kind == item && !s.isProduct() {
			continue
		}
		text := s.text[b.start:b.end]
		if first, ok := seen[string(text)]; ok {
			b.dropped, b.again, b.copies = true, true, first
			repeated = true
			continue
		}
		seen[string(text)] = int32(i)
	}
	if repeated {
		s.recount()
	}
}

// restoreRepeats takes back what is repeated only in a box that was dropped: the page's menu, or
// the copy for the other screen. The first of the repetitions stands in for it.
func (s *survey) restoreRepeats() {
	restored := false
	for i := range s.blocks {
		b := &s.blocks[i]
		if !b.again || b.copies < 0 {
			continue
		}
		if first := &s.blocks[b.copies]; first.dropped && !first.again {
			b.dropped, b.again = false, false
			first.again, first.copies = true, -1
			restored = true
		}
	}
	if restored {
		s.recount()
	}
}
