package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

// A Heading is a line of the main text that is a heading, or to which a URL can lead.
type Heading struct {
	Line  int    // line number in Document.Text, from 0
	Level int    // 1 to 6; 0 if the line is not a heading
	ID    string // last URL fragment that leads to the line, or to a place above it and below the line before, not escaped; "" if there is none
}

// A place is where an element with an id begins.
type place struct {
	block int // the next block of text, or the heading that contains the element
	id    string
}

func (s *survey) place(n *html.Node, k kind) {
	if s.mute > 0 || k == skipped {
		return
	}
	id := idOf(n)
	if id == "" {
		return
	}
	at := len(s.blocks)
	if s.open && k == inline && s.kindAbove() == heading {
		at--
	}
	s.places = append(s.places, place{at, id})
}

func (s *survey) headings() (all []Heading) {
	line, elems, places, id, first := 0, s.elems, s.places, "", 0
	for first < len(s.blocks) && !s.blocks[first].taken {
		first++
	}
	if first == len(s.blocks) {
		return nil
	}
	for e := s.blocks[first].elem; e >= 0 && id == "" && elems[e].node.DataAtom != atom.Body; e = elems[e].parent {
		if above := idOf(elems[e].node); isFragment(above) {
			id = above
		}
	}
	for len(places) > 0 && places[0].block < first { // such as those of a menu
		places = places[1:]
	}
	for i := first; i < len(s.blocks); i++ {
		for ; len(places) > 0 && places[0].block <= i; places = places[1:] {
			if isFragment(places[0].id) {
				id = places[0].id
			}
		}
		for len(elems) > 0 && (elems[0].kind != heading || int(elems[0].last) <= i) {
			elems = elems[1:]
		}
		if !s.blocks[i].taken {
			continue
		}
		h := Heading{Line: line}
		if len(elems) > 0 && int(elems[0].first) <= i && !s.titlesNotice(&elems[0]) {
			h.Level = int(elems[0].node.Data[1] - '0')
		}
		if h.Level > 0 || id != "" {
			h.ID = strings.ToValidUTF8(id, "")
			all = append(all, h)
		}
		line, id = line+1, ""
	}
	return all
}

// titlesNotice reports whether an <h3> or lower heading is the title of a notice. The text after the notice is not
// below this title.
func (s *survey) titlesNotice(e *elem) bool {
	for p := e.parent; p >= 0 && s.elems[p].first == e.first && e.node.Data > "h2"; p = s.elems[p].parent {
		n := s.elems[p].node
		if n.DataAtom == atom.Aside || isNotice(node.Attr(n, "class")) || isNotice(node.Attr(n, "role")) {
			return true
		}
	}
	return false
}

// isNotice reports whether a class or role names a box beside the text: the admonitions of DocBook and
// of reStructuredText.
func isNotice(names string) bool {
	for name := range strings.FieldsSeq(names) {
		switch strings.ToLower(name) {
		case "note", "tip", "warning", "caution", "important", "admonition", "attention", "danger", "error", "hint":
			return true
		}
	}
	return false
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

const maxFragment = 200 // maximum number of bytes in a Heading.ID; longer ids are left out

// idOf returns the id of an element or the name of an anchor, or "" if there is none.
func idOf(n *html.Node) (id string) {
	for i := range n.Attr {
		switch a := &n.Attr[i]; {
		case a.Key == "id" && a.Val != "":
			return a.Val
		case a.Key == "name" && n.DataAtom == atom.A:
			id = a.Val
		}
	}
	return id
}

// isFragment reports whether an id can be the fragment of a URL.
func isFragment(id string) bool {
	return len(id) <= maxFragment && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' })
}
