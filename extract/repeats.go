package extract

// dropRepeats drops blocks of running text that repeat an earlier block. Pages repeat text in a
// copy for narrow screens, in an excerpt, or in a quoted post. On product pages shorter lines are
// dropped too, because carousels repeat them.
//
// List items are not dropped, because steps of instructions may repeat. Nothing is dropped in
// manuals or on pages with code, where examples repeat.
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

// restoreRepeats restores a repetition if a later rule dropped the first occurrence, for example
// with a menu. The first occurrence then counts as the repetition.
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
