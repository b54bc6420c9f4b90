package extract

import (
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A survey is a page laid flat by one walk in document order: its blocks of text and the elements
// around them. An element covers a range of elements and a range of blocks. So what is inside it is
// a difference of two prefix sums, whatever its depth, and a page of 300 nested <div> costs no more
// than one without.
//
// Its methods are in many files because each rule has a file of its own. The fields change at few
// places: walk fills them, and the rules then only drop blocks, choose the headline and bring sums
// up to date.
type survey struct {
	writer
	elems    []elem
	sums     []sum // sums[i] is over blocks[:i]
	h1       string
	headline int32           // the block of the h1 that is taken though it stands above the root, -1: none
	h1Block  int32           // the block that h1 is from, -1: there is none
	links    map[linkKey]int // place in doc.Links
	doc      *Document

	genre
	scripts []*html.Node // text/x-handlebars-template and the like
	mute    int          // depth of elements whose text is not shown
	fields  int32        // fields to fill in so far
	row     int32        // the row of data the walk is in, -1 if none

	ogTitle, ogDescription bool // the value is of Open Graph, and yields to a proper one

	opt    Options
	embeds map[string]bool // by href: those of doc.Embeds
	schema schema          // what the page says of itself in the words of schema.org
	images []image         // only if asked for
	placed []placed        // where the text nodes went; only if asked for

	published string // of the first <time> that says so
	besides   string // of the first <time> right below the <h1>
}

// image is the alternative text of a picture, in an element.
type image struct {
	alt  string
	elem int32
}

// elem is an element that is laid out as a box.
type elem struct {
	node        *html.Node
	parent      int32
	end         int32 // after its last descendant
	first, last int32 // its blocks are blocks[first:last]
	controls    int32 // fields to fill in that are inside it
	kind        kind
	mark        mark
	byID        mark // the part of mark that only its id says
	roots       rootHint
}

// walk lays a page flat and fills in what d says about it.
func walk(root *html.Node, d *Document, o Options) *survey {
	s := surveys.Get().(*survey)
	s.doc, s.opt = d, o
	s.elem, s.row, s.h1Block, s.headline = -1, -1, -1, -1
	s.walk(root)
	s.flush()
	return s
}

// surveys are used again: what a page needs is far more than what is kept of it, and the next page
// needs as much.
var surveys = sync.Pool{New: func() any {
	s := &survey{links: map[linkKey]int{}, embeds: map[string]bool{}}
	s.text = make([]byte, 0, 16<<10)
	s.blocks = make([]block, 0, 256)
	s.elems = make([]elem, 0, 512)
	return s
}}

// release gives the survey's memory to the next page, unless this page was so large that keeping it
// would be a waste.
func (s *survey) release() {
	const large = 1 << 20 // bytes of text, about
	if cap(s.text) > large || cap(s.elems) > large/64 || len(s.links) > large/256 || len(s.embeds) > large/256 {
		return
	}
	clear(s.elems)
	clear(s.links)
	clear(s.placed)
	clear(s.embeds)
	*s = survey{
		writer: writer{text: s.text[:0], blocks: s.blocks[:0]},
		elems:  s.elems[:0], sums: s.sums[:0], links: s.links, placed: s.placed[:0], embeds: s.embeds,
	}
	surveys.Put(s)
}

// walk needs no recursion: trees are up to 512 deep, and all of one page's state is in one
// place.
func (s *survey) walk(root *html.Node) {
	n := root
	for {
		if s.arrive(n) {
			if n.FirstChild != nil {
				n = n.FirstChild
				continue
			}
			s.leave(n)
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
			s.leave(n)
		}
		if n == root {
			return
		}
		n = n.NextSibling
	}
}

// arrive reads a node; it reports whether it was entered, and so has to be left.
func (s *survey) arrive(n *html.Node) bool {
	switch n.Type {
	case html.DocumentNode:
		return true
	case html.ElementNode:
		return s.enter(n, kindOf(n))
	case html.TextNode:
		if s.mute == 0 {
			s.writeNode(n)
		}
	}
	return false
}

// enter begins an element; it reports whether to go inside.
func (s *survey) enter(n *html.Node, k kind) bool {
	if s.opt.Embeds {
		s.embed(n)
	}
	switch n.DataAtom {
	case atom.A, atom.Area, atom.Iframe, atom.Frame:
		here := s.addLink(n)
		if n.DataAtom == atom.A {
			s.relation(n)
			if permalink(n) {
				return false
			}
			s.link++
			s.fresh = true
			if here && s.here == 0 {
				s.here = s.link
			}
		}
	case atom.Code:
		s.code++
	case atom.Time:
		s.time(n)
	case atom.Html, atom.Body, atom.Title, atom.Meta, atom.Link, atom.Base:
		s.metadata(n)
		s.note(n)
	case atom.H1:
		if d := s.doc; len(d.H1) < maxHeadings {
			d.H1 = append(d.H1, says(n, maxHeading))
		}
	case atom.Img:
		s.image(n)
	case atom.Input, atom.Textarea, atom.Select:
		s.fields++
		s.control(n)
	case atom.Button, atom.Form:
		s.control(n)
	case atom.Script:
		s.note(n)
		s.jsonLD(n)
		if isTemplateScript(n) {
			s.scripts = append(s.scripts, n)
		}
	case atom.Template:
		if !hasAttr(n, "shadowrootmode") {
			return false // inert: a form to be filled, not content
		}
	}
	switch k {
	case skipped:
		return false
	case lineBreak:
		s.lineBreak()
		return true
	case inline:
		if inlineHidden(n) {
			s.mute++
		}
		return true
	case muted:
		if n.DataAtom == atom.Button && s.kindAbove() == heading {
			return true
		}
		s.mute++
		return true
	case pre:
		s.pre++
	}
	if s.row >= 0 && k != row && k != cell && k != pre {
		// inside a row of data: no lines of its own
		s.inWord = false
		s.space()
		s.push(n, k)
		return true
	}
	switch {
	case k == cell && s.row >= 0:
		s.cell()
	case k == row && s.row >= 0:
	default:
		s.flush()
	}
	s.push(n, k)
	if k == row && s.row < 0 && isData(n) {
		s.row = s.elem
	}
	return true
}

// leave ends an element that was entered.
func (s *survey) leave(n *html.Node) {
	if n.Type != html.ElementNode {
		return
	}
	k := kindOf(n)
	switch k {
	case skipped, lineBreak:
		return
	case inline:
		switch n.DataAtom {
		case atom.A:
			if s.link--; s.link < s.here {
				s.here = 0
			}
		case atom.Code:
			s.code--
		}
		if inlineHidden(n) {
			s.mute--
		}
		return
	case muted:
		if n.DataAtom == atom.Button && s.kindAbove() == heading {
			return
		}
		s.mute--
		return
	case pre:
		s.pre--
	}
	at := s.elem
	e := &s.elems[at]
	if at == s.row {
		s.row = -1
	}
	if s.row >= 0 {
		s.inWord = false
		s.space()
	} else {
		s.flush()
	}
	if k == heading && n.DataAtom == atom.H1 && s.h1 == "" && int(e.first) < len(s.blocks) {
		b := s.blocks[e.first]
		s.h1 = string(s.text[b.start:max(b.end, b.start)])
		s.h1Block = e.first
	}
	e.end, e.last, e.controls = int32(len(s.elems)), int32(len(s.blocks)), s.fields-e.controls
	s.elem = e.parent
	s.kind = s.kindAbove()
}

func (s *survey) kindAbove() kind {
	if s.elem < 0 {
		return group
	}
	return s.elems[s.elem].kind
}

// push opens a box. Inside a row of data nothing is judged on its own.
func (s *survey) push(n *html.Node, k kind) {
	if s.pre > 0 || s.code > 0 {
		k = pre // highlighters put a box around every line of code
	}
	first := len(s.blocks)
	if s.open {
		first-- // a cell in an open row
	}
	var mark, byID mark
	var roots rootHint
	if s.row < 0 {
		mark, byID, roots = s.hints(n)
		if s.elem >= 0 {
			mark |= s.elems[s.elem].mark & markPanel
		}
	}
	s.elems = append(s.elems, elem{node: n, parent: s.elem, first: int32(first), controls: s.fields, kind: k, mark: mark, byID: byID, roots: roots})
	s.elem = int32(len(s.elems) - 1)
	s.kind = k
}

// isData reports a row whose cells each hold one line, as far as their children tell. The cells of
// other rows are columns of a layout, as are those with a footer or a menu in them.
func isData(tr *html.Node) bool {
	for td := tr.FirstChild; td != nil; td = td.NextSibling {
		if td.Type == html.ElementNode && !oneLine(td, 3) {
			return false
		}
	}
	return true
}

func oneLine(n *html.Node, depth int) bool {
	boxes := 0
	var box *html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		switch kindOf(c) {
		case inline, muted, skipped, lineBreak:
			continue
		case group, para:
			if m, _, _ := new(genre).hints(c); m&(markNever|markNav|markClass|markPlace) != 0 {
				return false
			}
			box = c
			boxes++
		default:
			return false
		}
	}
	return boxes == 0 || boxes == 1 && depth > 0 && oneLine(box, depth-1)
}

// permalink reports the "¶" or "#" that documentation puts beside its headings.
func permalink(a *html.Node) bool {
	c := a.FirstChild
	if c == nil || c.NextSibling != nil || c.Type != html.TextNode {
		return false
	}
	switch c.Data {
	case "¶", "#", "§", "🔗", "\uf0c1":
		return true
	}
	return false
}

// writeNode writes a text node, and remembers where to.
func (s *survey) writeNode(n *html.Node) {
	if !s.opt.Page {
		s.write(n.Data)
		return
	}
	before := len(s.blocks)
	if s.open {
		before--
	}
	from := len(s.text)
	s.write(n.Data)
	s.placed = append(s.placed, placed{n, before, len(s.blocks), from, len(s.text), s.elem})
}

// image notes where a picture stands, and its alternative text.
func (s *survey) image(n *html.Node) {
	if s.opt.Page && s.mute == 0 {
		at := placed{n, len(s.blocks), len(s.blocks), len(s.text), len(s.text), s.elem}
		if s.open {
			at.first--
		}
		s.placed = append(s.placed, at)
	}
	if !s.opt.Images || s.mute > 0 {
		return
	}
	if alt := oneSpace(attr(n, "alt")); alt != "" {
		s.images = append(s.images, image{alt, s.elem})
	}
}
