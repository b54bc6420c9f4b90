package extract

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
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
	d.Headings = s.headings()
	d.Left = joinBlocks(&s.writer, func(i int) bool {
		b := &s.blocks[i]
		return !b.taken && !b.again && b.runs()
	})
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
	const name = "breadcrumb"
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
		is := a.Key == "class" || a.Key == "id" || a.Key == "aria-label"
		return is && len(a.Val) >= len(name) && strings.Contains(strings.ToLower(a.Val), name)
	})
}

func isArrow(r rune) bool {
	switch r {
	case '>', '›', '»', '/', '|', '→', '⟩', '❯', '·':
		return true
	}
	return false
}
