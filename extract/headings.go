package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

// A Heading is a line of the main text that is a heading.
type Heading struct {
	Line  int    // line number in Document.Text, from 0
	Level int    // 1 to 6
	ID    string // URL fragment that leads to the heading, not escaped; "" if there is none
}

func (s *survey) headings() (all []Heading) {
	block, line := int32(0), 0
	for i := range s.elems {
		e := &s.elems[i]
		if e.kind != heading || e.first < block {
			continue
		}
		for ; block < e.first; block++ {
			if s.blocks[block].taken {
				line++
			}
		}
		id := fragment(e.node)
		for ; block < e.last; block++ {
			if s.blocks[block].taken {
				all = append(all, Heading{Line: line, Level: int(e.node.Data[1] - '0'), ID: id})
				line, id = line+1, ""
			}
		}
	}
	return all
}

// rank returns the level of the heading that is block i, '1' to '6', or '7' if block i is none.
func (s *survey) rank(i int32) byte {
	if s.blocks[i].kind != heading {
		return '7'
	}
	if name := s.elems[s.blocks[i].elem].node.Data; len(name) == 2 {
		return name[1]
	}
	return '7'
}

const (
	maxFragment  = 200 // maximum number of bytes in a Heading.ID; longer ids are left out
	sectionAbove = 2   // maximum number of elements between a heading and the section that it names
	idsInHeading = 16  // maximum number of nodes inside a heading that are searched for an id
)

// fragment returns the id that leads to a heading: its own, that of an anchor inside it or directly
// before it, or that of a section that begins with it.
func fragment(n *html.Node) string {
	if id := idOf(n); id != "" {
		return id
	}
	if id := idWithin(n); id != "" {
		return id
	}
	if before := elementBefore(n); before != nil && before.DataAtom == atom.A && before.FirstChild == nil && idOf(before) != "" {
		return idOf(before)
	}
	for range sectionAbove {
		if elementBefore(n) != nil || n.Parent == nil || n.Parent.DataAtom == atom.Body {
			return ""
		}
		n = n.Parent
		if id := idOf(n); id != "" {
			return id
		}
	}
	return ""
}

// idOf returns the id of an element or the name of an anchor, or "" if it cannot be a fragment.
func idOf(n *html.Node) string {
	id := node.Attr(n, "id")
	if id == "" && n.DataAtom == atom.A {
		id = node.Attr(n, "name")
	}
	if len(id) > maxFragment || strings.ContainsAny(id, " \t\r\n\f") {
		return ""
	}
	return strings.ToValidUTF8(id, "")
}

func idWithin(box *html.Node) string {
	n := box
	for range idsInHeading {
		switch {
		case n.FirstChild != nil:
			n = n.FirstChild
		default:
			for n != box && n.NextSibling == nil {
				n = n.Parent
			}
			if n == box {
				return ""
			}
			n = n.NextSibling
		}
		if n.Type == html.ElementNode && n.DataAtom != atom.Button && n.DataAtom != atom.Svg {
			if id := idOf(n); id != "" {
				return id
			}
		}
	}
	return ""
}

// elementBefore returns the nearest earlier sibling that is an element or non-blank text, or nil.
func elementBefore(n *html.Node) *html.Node {
	for n = n.PrevSibling; n != nil; n = n.PrevSibling {
		if n.Type == html.ElementNode || n.Type == html.TextNode && strings.TrimSpace(n.Data) != "" {
			return n
		}
	}
	return nil
}
