package extract

import "bytes"

// # Labels
//
// Labels, counts and lone links stand between the paragraphs of every template: "Share", "12
// comments", "Read more". Their words are no guide, for there are too many languages. What tells
// them is that they are short, in boxes without a meaning of their own, beside text that runs on.
//
// Short lines of the text are told from labels by what is around them. Lines that the markup treats
// alike are all text or all labels: the short heads of a list's items, a short answer among long
// ones. A box that the text flows around has a title. And a text may show where something is to be
// found, below the sentence that says so.

const (
	label  = 3 // words
	kicker = 5 // words of what stands above and below an article, such as its section
)

// dropLabels drops the labels of blocks[first:last], which are prose.
func (s *survey) dropLabels(first, last int32) {
	alike, text := s.shapes(first, last), s.stretches()
	s.dropDates(first, last)
	if s.isArticle() {
		s.dropLinkLists(first, last)
	}
	below := false // a running text
	for i := first; i < last; i++ {
		b := &s.blocks[i]
		if b.dropped {
			continue
		}
		switch {
		case !s.isLabel(b), below && s.isAddress(b), b.link == 0 && (b.kind == group && alike[s.shapeOf(b)] > 0 || s.isTitle(i, text)):
		default:
			b.dropped = true
		}
		below = b.runs()
	}
}

// isLabel reports a block to leave out of prose.
func (s *survey) isLabel(b *block) bool {
	linked := b.link*2 > b.size()
	if s.isArticle() && (isTagLine(b) || isPointer(b)) {
		return true
	}
	switch b.kind {
	case group:
		return b.words <= label || s.isText() && b.words <= kicker || linked && b.words < sentence || !s.hasLetters(b)
	case para:
		return linked && b.words < sentence || !s.hasLetters(b)
	case item:
		return (linked || s.thread) && b.words <= label
	}
	return false
}

// shape is what the markup makes of a block: the kinds of the two boxes around it, or the outer box
// itself where it is of no kind.
type shape struct {
	box, around boxKind
	in          int32
}

func (s *survey) shapeOf(b *block) shape {
	if b.kind != group || b.elem < 0 {
		return shape{}
	}
	of := shape{box: s.kindOfBox(b.elem)}
	if p := s.elems[b.elem].parent; p >= 0 {
		if of.around = s.kindOfBox(p); of.around == (boxKind{}) {
			of.in = p + 1
		}
		of.box.name = s.elems[b.elem].node.DataAtom
	}
	return of
}

// shapes tells of each shape whether more of its blocks in blocks[first:last] are text, above zero,
// or labels, below. Blocks of one shape are all text or all labels.
func (s *survey) shapes(first, last int32) map[shape]int {
	alike := make(map[shape]int)
	for i := first; i < last; i++ {
		b := &s.blocks[i]
		if b.dropped || b.kind != group {
			continue
		}
		if s.isLabel(b) {
			alike[s.shapeOf(b)]--
		} else {
			alike[s.shapeOf(b)]++
		}
	}
	return alike
}

// isTitle reports the head of a box of text that the text flows around.
func (s *survey) isTitle(i int32, text *stretches) bool {
	if int(i)+1 >= len(s.blocks) || !s.hasLetters(&s.blocks[i]) {
		return false
	}
	if below := &s.blocks[i+1]; below.dropped || !below.runs() {
		return false
	}
	box := s.blocks[i].elem
	for box >= 0 && s.elems[box].last == i+1 {
		box = s.elems[box].parent
	}
	for box >= 0 && s.elems[box].first == i {
		if p := s.elems[box].parent; p >= 0 && text.flowsAround(s, box) {
			return true
		}
		box = s.elems[box].parent
	}
	return false
}

// isAddress reports a line that shows where it leads, as a text does and no menu.
func (s *survey) isAddress(b *block) bool {
	return b.words <= label && bytes.Contains(s.text[b.start:b.end], []byte("://"))
}

func (s *survey) hasLetters(b *block) bool {
	for _, c := range s.text[b.start:b.end] {
		if 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80 {
			return true
		}
	}
	return false
}
