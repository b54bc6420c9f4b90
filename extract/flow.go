package extract

import "golang.org/x/net/html/atom"

// # Text that flows around a box
//
// A class, a role or <aside> may say that a box stands beside the text. That is a place, not a
// kind: documentation generators call their boxed remarks "sidebar" too, and magazines put what
// they quote in <aside>. Such a box stands in one box with paragraphs of a text, and a reader meets
// it there. So it is part of the text. Links, a card or a form are not, for templates put them
// there. Nor is a quotation in a thread, because the page has the quoted post already.
//
// Words that say what a box is, "related" or "newsletter", hold wherever the box stands, unless it
// has paragraphs of its own: see clearSections.

// keepFlow takes back the suspicion against boxes that stand in one box with running text.
func (s *survey) keepFlow() {
	if s.thread {
		return
	}
	var boxes []int32
	for i := int32(0); i < int32(len(s.elems)); {
		if !s.isPlaced(i) {
			i++
			continue
		}
		boxes = append(boxes, i)
		i = s.elems[i].end
	}
	if boxes == nil {
		return
	}
	text := s.stretches()
	for _, i := range boxes {
		if e := &s.elems[i]; text.isIn(e.parent) {
			for j := i; j < e.end; j++ {
				s.elems[j].mark &^= markPlace // its parts are named after it
			}
		}
	}
}

// isPlaced reports a box that is suspected for its place alone, and is text.
func (s *survey) isPlaced(i int32) bool {
	e := &s.elems[i]
	if e.mark&markPlace == 0 || e.mark&^(markPlace|markPanel) != 0 || e.parent < 0 || e.controls > 0 {
		return false
	}
	in := s.within(i)
	return in.size > 0 && in.link*2 <= in.size && !s.isCard(i)
}

// boxKind is what boxes of a kind have in common: the name of their element and their first class.
// A box without a class is of no kind.
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

// stretches are where running text begins and ends.
type stretches struct {
	boxes []stretch            // right in each box, in a paragraph of it or in a list
	kinds map[boxKind]*stretch // in all boxes of a kind
}

// stretch is from the first block of running text to the last; end is 0 where there is none.
type stretch struct{ first, end int32 }

func (t *stretch) extend(block int32) {
	if t.end == 0 {
		t.first = block
	}
	t.end = block + 1
}

// isIn reports that running text is right in a box.
func (t *stretches) isIn(i int32) bool { return t.boxes[i].end > 0 }

// around is the running text in the box that i stands in, and in all of its kind; empty if that box
// has none.
func (t *stretches) around(s *survey, i int32) stretch {
	p := s.elems[i].parent
	if k := t.kinds[s.kindOfBox(p)]; k != nil && t.isIn(p) {
		return *k
	}
	return t.boxes[p]
}

// flowsAround reports a box with running text above and below it in boxes of the kind it stands in.
func (t *stretches) flowsAround(s *survey, i int32) bool {
	e, text := &s.elems[i], t.around(s, i)
	return text.end > e.last && text.first < e.first
}

const wrappers = 12 // boxes around a paragraph, and lists in lists, that are looked through

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

// isPart reports an item, a list, and a box around nothing but a list or a paragraph: what is in
// them is said in the box around them.
func (s *survey) isPart(i int32) bool {
	e := &s.elems[i]
	if e.kind == item || e.kind == list || e.last == e.first+1 {
		return true
	}
	return e.kind == group && i+1 < e.end && s.elems[i+1].kind == list && s.elems[i+1].first == e.first && s.elems[i+1].last == e.last
}
