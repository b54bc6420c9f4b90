package extract

import "bytes"

// # Labels
//
// A label is a short line that a template puts between the paragraphs: "Share", "12 comments",
// "Read more". Words cannot identify labels in every language. So a label is recognized by its
// shape: a short line, or a line that is mostly a link, beside running text.
//
// A short line may also belong to the text. Three rules keep such lines:
//
// - Lines with the same markup (a shape) are all text or all labels, by majority. So one short
//   answer among long ones stays.
// - The title of a box stays if running text is above and below the box.
// - A line with a URL stays below a running paragraph, because the paragraph refers to it.

const (
	label  = 3 // maximum number of words in a label
	kicker = 5 // maximum number of words in a label, such as a section name, on articles and other text pages
)

func (s *survey) dropLabels() {
	_, _, first, last := s.span(s.root)
	if !s.hasLabels(first, last) {
		return
	}
	alike, text := s.shapes(first, last), s.stretches()
	below := false
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

// A shape identifies blocks with the same markup: the boxKinds of the block's element and of its
// parent. If the parent has no class, the in field identifies the parent itself, by its index in
// elems plus one.
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

// shapes returns, for each shape in blocks[first:last], the number of blocks that are not labels
// minus the number of those that are.
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

// isTitle reports whether block i is the title of an element of running text, with more running
// text above and below the element.
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

// isAddress reports whether b is a short line that shows a URL. Such lines occur in text, but not
// in menus.
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

// Two kinds of lines around an article are labels in any language, although they have more words:
// tags, such as "Filed under: News, Sport", and links to other pages, such as "Read also: ...".
const (
	tagSpace = 24 // maximum number of bytes before the links in a line, as in "Filed under: "
	tagWords = 5  // maximum average number of words in a tag
)

// isTagLine reports whether b consists of at least three short links, such as tags, with little
// text between them.
func isTagLine(b *block) bool {
	if b.kind != group && b.kind != para || b.links < 3 || b.words > tagWords*(b.links+1) {
		return false
	}
	between := b.size() - b.link
	return 2*(b.links-1) <= between && between <= 3*b.links+tagSpace
}

// isPointer reports whether b consists of one link and at most a few other words, such as "Read
// also: ...".
func isPointer(b *block) bool {
	between := b.size() - b.link
	return (b.kind == group || b.kind == para) && b.links == 1 && between <= tagSpace && 2*between < b.link
}
