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
	seen, repeated := make(map[string]bool), false
	isText := func(b *block) bool { return b.words >= words && (b.kind != item || s.isProduct()) }
	for i := range s.blocks {
		b := &s.blocks[i]
		switch text := s.text[b.start:b.end]; {
		case b.dropped || !isText(b):
		case seen[string(text)]:
			b.dropped, b.again, repeated = true, true, true
		default:
			seen[string(text)] = true
		}
	}
	for i := range s.blocks {
		b := &s.blocks[i]
		b.again = b.again || b.dropped && isText(b) && seen[string(s.text[b.start:b.end])]
	}
	if repeated {
		s.recount()
	}
}
