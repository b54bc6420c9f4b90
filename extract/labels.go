package extract

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// # Labels
//
// A label is a short line that a template puts between the paragraphs: "Share", "12 comments",
// "Read more". Words cannot identify labels in every language. So a label is recognized by its
// shape: a short line, or a line that is mostly a link, beside running text.
//
// A short line may also belong to the text. These rules keep such lines:
//
// - Lines with the same markup (a shape) are all text or all labels, by majority. So one short
//   answer among long ones stays. Within one box, the majority of the words decides.
// - A line that a sentence with a colon announces stays, as does each item of an announced list.
// - A list, or a line of digits, stays between running paragraphs. So does a sentence with a link.
// - The name above a description stays, if the page has several such boxes.
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
	alike, text := s.alikes(first, last), s.stretches()
	below := false
	for i := first; i < last; i++ {
		b := &s.blocks[i]
		if b.dropped {
			continue
		}
		switch {
		case !s.isLabel(b), below && s.isAddress(b), b.link == 0 && alike.isText(s, b):
		case s.flows(b, text), s.isAnnounced(i), s.isName(i, alike):
		default:
			b.dropped = true
		}
		below = b.runs()
	}
}

// flows reports whether a paragraph or a list item stands between running paragraphs and is more
// than a link: a line of digits, a sentence with a link, or an item of a list.
func (s *survey) flows(b *block, text *stretches) bool {
	if s.thread || b.kind != item && b.kind != para || s.isArticle() && isPointer(b) {
		return false
	}
	e := s.outerList(b.elem)
	switch {
	case e >= 0 && s.elems[e].parent >= 0 && text.flowsAround(s, e):
		return true
	case b.kind == item || s.elems[b.elem].parent < 0:
		return false
	case b.link == 0:
		return text.flowsAround(s, b.elem)
	}
	return b.size() > b.link+2 && s.endsWith(b, ".!?…。！？")
}

// outerList returns the outermost list around element e, or -1 if e is not in a list item.
func (s *survey) outerList(e int32) int32 {
	found := int32(-1)
	for ; e >= 0 && s.elems[e].kind != group; e = s.elems[e].parent {
		if s.elems[e].kind == list {
			found = e
		}
	}
	return found
}

// isAnnounced reports whether the line above a block, or above its list, ends with a colon.
func (s *survey) isAnnounced(i int32) bool {
	b := &s.blocks[i]
	if e := s.outerList(b.elem); e >= 0 {
		i = s.elems[e].first
	}
	if i == 0 || b.kind == group || s.isArticle() && isPointer(b) {
		return false
	}
	above := &s.blocks[i-1]
	return !above.dropped && above.words > label && above.kind == para && above.link == 0 && s.endsWith(above, ":：")
}

// isName reports whether block i is the name above a description, in one of several similar boxes.
func (s *survey) isName(i int32, alike alikes) bool {
	box := s.around(s.blocks[i].elem, func(e int32) bool { return s.elems[e].last != i+1 })
	if box < 0 || !s.isText() || s.elems[box].first != i || s.elems[box].controls > 0 || !s.hasLetters(&s.blocks[i]) {
		return false
	}
	b := &s.blocks[i+1]
	if b.dropped || b.link*2 > b.size() || s.isLabel(b) && !alike.isText(s, b) {
		return false
	}
	k := s.kindOfBox(box)
	return k != (boxKind{}) && (k == s.kindBeside(box, i-1) || k == s.kindBeside(box, s.elems[box].last))
}

// kindBeside returns the boxKind of the sibling of an element that holds block i, if there is one.
func (s *survey) kindBeside(box, i int32) boxKind {
	if i < 0 || int(i) >= len(s.blocks) {
		return boxKind{}
	}
	e := s.around(s.blocks[i].elem, func(e int32) bool { return s.elems[e].parent == s.elems[box].parent })
	if e < 0 {
		return boxKind{}
	}
	return s.kindOfBox(e)
}

// endsWith reports whether the last character of a block is one of marks.
func (s *survey) endsWith(b *block, marks string) bool {
	r, _ := utf8.DecodeLastRune(s.text[b.start:b.end])
	return strings.ContainsRune(marks, r)
}

func (s *survey) isLabel(b *block) bool {
	linked := b.link*2 > b.size()
	if b.isMenu() || s.isArticle() && (isTagLine(b) || isPointer(b)) {
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

// A shape identifies blocks with the same markup: the boxKinds of the block's element and of the
// element around it. Elements that hold only this block and have no class are left out. If the
// element around has no class, the in field identifies it, by its index in elems plus one.
type shape struct {
	box, around boxKind
	in          int32
}

// shapeOf returns the shape of a block, and its shape among the lines of the same element.
func (s *survey) shapeOf(b *block) (all, beside shape) {
	if b.kind != group || b.elem < 0 {
		return all, all
	}
	all.box = s.kindOfBox(b.elem)
	p := s.elems[b.elem].parent
	for p >= 0 && s.elems[p].last == s.elems[p].first+1 && s.kindOfBox(p) == (boxKind{}) {
		p = s.elems[p].parent
	}
	if p < 0 {
		return all, all
	}
	all.around = s.kindOfBox(p)
	all.box.name = s.elems[b.elem].node.DataAtom
	beside = all
	if beside.in = p + 1; all.around == (boxKind{}) {
		all.in = p + 1
	}
	return all, beside
}

// alikes counts, for each shape, the blocks that are not labels minus those that are. Among the
// lines of one element it counts their words, because a dialogue has more short lines than long.
type alikes struct{ blocks, words map[shape]int }

func (s *survey) alikes(first, last int32) alikes {
	a := alikes{make(map[shape]int), make(map[shape]int)}
	for i := first; i < last; i++ {
		b := &s.blocks[i]
		if b.dropped || b.kind != group {
			continue
		}
		all, beside := s.shapeOf(b)
		if s.isLabel(b) {
			a.blocks[all]--
			a.words[beside] -= b.words
		} else {
			a.blocks[all]++
			a.words[beside] += b.words
		}
	}
	return a
}

// isText reports whether most lines like b are text.
func (a alikes) isText(s *survey, b *block) bool {
	all, beside := s.shapeOf(b)
	return b.kind == group && (a.blocks[all] > 0 || s.isText() && a.words[beside] > 0)
}

// isAddress reports whether b is a short line that shows a URL. Such lines occur in text, but not
// in menus.
func (s *survey) isAddress(b *block) bool {
	return b.words <= label && bytes.Contains(s.text[b.start:b.end], []byte("://"))
}

func (s *survey) hasLetters(b *block) bool {
	return slices.ContainsFunc(s.text[b.start:b.end], func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80 })
}

// Two kinds of lines around an article are labels in any language, although they have more words:
// tags, such as "Filed under: News, Sport", and links to other pages, such as "Read also: ...".
const (
	tagSpace = 24 // maximum number of bytes before the links in a line, as in "Filed under: "
	tagWords = 3  // maximum average number of words in a tag
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

// isMenu reports whether b is a line of short links: a menu without <nav>, or a cloud of tags.
func (b *block) isMenu() bool {
	return b.links >= 4 && b.link < 18*b.links && b.size()-b.link <= b.links && b.kind != item
}

// isPointer reports whether b consists of one link and at most a few other words, such as "Read
// also: ...".
func isPointer(b *block) bool {
	between := b.size() - b.link
	return (b.kind == group || b.kind == para) && b.links == 1 && between <= tagSpace && 2*between < b.link
}
