package extract

import (
	"strings"

	"golang.org/x/net/html"

	"skink/base/node"
)

func (s *survey) finish() {
	d := s.doc
	setOnce(&d.Author, s.schema.author)
	setOnce(&d.Published, s.schema.published)
	setOnce(&d.Published, s.published)
	setOnce(&d.Published, s.nearH1)
	setOnce(&d.Modified, s.schema.modified)
	if d.Breadcrumbs = s.schema.crumbs; d.Breadcrumbs == nil {
		d.Breadcrumbs = s.breadcrumbs()
	}
	d.Sure = s.share()
	d.Headings = s.headings()
	d.Left = joinBlocks(&s.writer, func(i int) bool {
		b := &s.blocks[i]
		return !b.taken && !b.again && b.runs()
	})
}

// share returns Document.Sure: the size of the main text divided by the size of all text that could
// be main text. Links, labels, repetitions and copyright notices that were left out are not
// counted.
func (s *survey) share() float64 {
	taken, left := 0, 0
	for i := range s.blocks {
		if b := &s.blocks[i]; b.taken {
			taken += b.size()
		} else {
			left += b.lost()
		}
	}
	for i := int32(0); i < int32(len(s.elems)); i++ {
		e := &s.elems[i]
		if e.mark&markNever == 0 {
			continue
		}
		for _, b := range s.blocks[e.first:e.last] {
			if !b.taken {
				left -= b.lost()
			}
		}
		i = e.end - 1
	}
	return float64(taken) / float64(max(taken+left, 1))
}

// lost returns the number of bytes outside links in a block that is not in the main text, or 0 for
// labels and repeated text.
func (b *block) lost() int {
	if b.again || b.words <= label {
		return 0
	}
	return b.size() - b.link
}

// breadcrumbs returns the names in the first element whose class, id or label contains
// "breadcrumb". It stops after the block that contains the twentieth name.
func (s *survey) breadcrumbs() (names []string) {
	for i := range s.elems {
		e := &s.elems[i]
		if e.mark&(markNav|markClass) == 0 || e.first == e.last || !isBreadcrumb(e.node) {
			continue
		}
		for j := e.first; j < e.last && len(names) < 20; j++ {
			b := &s.blocks[j]
			for name := range strings.FieldsFuncSeq(string(s.text[b.start:b.end]), isArrow) {
				if name = strings.TrimSpace(name); name != "" {
					names = append(names, name)
				}
			}
		}
		return names
	}
	return nil
}

func isBreadcrumb(n *html.Node) bool {
	for _, key := range []string{"class", "id", "aria-label"} {
		if strings.Contains(strings.ToLower(node.Attr(n, key)), "breadcrumb") {
			return true
		}
	}
	return false
}

func isArrow(r rune) bool {
	switch r {
	case '>', '›', '»', '/', '|', '→', '⟩', '❯', '·':
		return true
	}
	return false
}
