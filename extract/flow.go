package extract

import "golang.org/x/net/html/atom"

// # Text that flows around a box
//
// A class, a role or <aside> may say that a box is beside the text. That is a position, and the box
// may still be content: documentation generators call boxed remarks "sidebar", and magazines put
// quotations in <aside>. If such a box has running paragraphs beside it in the same parent, it is
// part of the text, and keepFlow clears its mark. The mark stays on boxes that are mostly links, on
// cards and on forms, which come from templates. In threads all marks stay, because such a box
// repeats another post.
//
// Marks that name the kind of a box, such as "related" or "newsletter", stay wherever the box is.
// Only the box's own paragraphs can clear them; see clearSections.

func (s *survey) keepFlow() {
	if s.thread {
		return
	}
	var boxes []int32
	terse := map[boxKind]int{} // for each kind of box, how many more have no running text than have some
	for i := range s.outermost(s.isPlaced) {
		boxes = append(boxes, i)
		if s.within(i).runs == 0 {
			terse[s.kindOfBox(i)]++
		} else {
			terse[s.kindOfBox(i)]--
		}
	}
	if boxes == nil {
		return
	}
	delete(terse, boxKind{})
	text := s.stretches()
	for _, i := range boxes {
		if e := &s.elems[i]; text.isIn(e.parent) && terse[s.kindOfBox(i)] < 2 {
			for j := i; j < e.end; j++ {
				s.elems[j].mark &^= markPlace // the class names of inner elements repeat its name
			}
		}
	}
}

// isPlaced reports whether the marks of element i say only that it is beside the text, and whether
// its content looks like text.
func (s *survey) isPlaced(i int32) bool {
	e := &s.elems[i]
	if e.mark&markPlace == 0 || e.mark&^(markPlace|markPanel) != 0 || e.parent < 0 || e.controls > 0 {
		return false
	}
	in := s.within(i)
	return in.size > 0 && in.link*2 <= in.size && !s.isCard(i)
}

// A boxKind identifies elements that a template treats alike. Two elements are alike if they have
// the same element name and the same first class. Elements without a class have the zero boxKind,
// and are never alike.
type boxKind struct {
	name  atom.Atom
	class string
}

func (s *survey) kindOfBox(i int32) boxKind {
	n := s.elems[i].node
	class := firstClass(n)
	if class == "" && n.DataAtom != atom.Section && s.elems[i].kind != item {
		return boxKind{}
	}
	return boxKind{n.DataAtom, class}
}

// stretches records, for each element and each kind of element, where running text begins and ends.
type stretches struct {
	boxes []stretch // for each element, the running text in it and in the elements inside it
	kinds map[boxKind]*stretch
}

// A stretch is the range blocks[first:end] from the first to the last block of running text. end is
// 0 if there is none.
type stretch struct{ first, end int32 }

func (t *stretch) extend(block int32) {
	if t.end == 0 {
		t.first = block
	}
	t.end = block + 1
}

func (t *stretches) isIn(i int32) bool { return t.boxes[i].end > 0 }

// around returns the stretch of the parent of element i, extended to all elements of the parent's
// kind. It is empty if the parent has no running text.
func (t *stretches) around(s *survey, i int32) stretch {
	p := s.elems[i].parent
	if k := t.kinds[s.kindOfBox(p)]; k != nil && t.isIn(p) {
		return *k
	}
	return t.boxes[p]
}

// flowsAround reports whether running text is both above and below element i, in its parent or in
// elements of the parent's kind.
func (t *stretches) flowsAround(s *survey, i int32) bool {
	e, text := &s.elems[i], t.around(s, i)
	return text.end > e.last && text.first < e.first
}

const wrappers = 12 // maximum number of wrappers and nested lists between a paragraph and its element

func (s *survey) stretches() *stretches {
	t := &stretches{make([]stretch, len(s.elems)), make(map[boxKind]*stretch)}
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.dropped || !b.runs() || b.elem < 0 {
			continue
		}
		t.extend(s, b.elem, int32(i))
		e := s.elems[b.elem].parent
		for up := 0; e >= 0 && up < wrappers && s.isPart(e); up++ {
			t.extend(s, e, int32(i))
			e = s.elems[e].parent
		}
		if e >= 0 {
			t.extend(s, e, int32(i))
		}
	}
	return t
}

func (t *stretches) extend(s *survey, e, block int32) {
	t.boxes[e].extend(block)
	k := s.kindOfBox(e)
	if k == (boxKind{}) {
		return
	}
	if t.kinds[k] == nil {
		t.kinds[k] = new(stretch)
	}
	t.kinds[k].extend(block)
}

// isPart reports whether element i is an item, a list, or a wrapper of only one block or one list.
// The text in such an element also counts as text of its parent.
func (s *survey) isPart(i int32) bool {
	e := &s.elems[i]
	if e.kind == item || e.kind == list || e.last == e.first+1 {
		return true
	}
	return e.kind == group && i+1 < e.end && s.elems[i+1].kind == list && s.elems[i+1].first == e.first && s.elems[i+1].last == e.last
}
