package extract

import (
	"iter"
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

// A survey represents a page as two flat lists: the blocks of text, and the boxes around them. One
// walk through the tree fills them in document order. Each box covers a range of both lists. So the
// amount of text in a box is the difference of two prefix sums, however deeply the box is nested.
//
// Its methods are in many files because each rule has a file of its own. The walk fills most of the
// fields. Then the rules drop blocks, clear marks, choose the headline and recompute the sums.
type survey struct {
	writer
	elems    []elem
	sums     []sum           // sums[i] is the total of blocks[:i]
	h1       string          // text of the first non-empty <h1>
	root     int32           // index in elems of the box with the main text; -1 means the whole page
	labels   *bool           // result of hasLabels; nil before its first call
	headline int32           // block of an <h1> above the root that is added to the main text; -1 if none
	h1Block  int32           // block of the first non-empty <h1>; -1 if there is none
	links    map[linkKey]int // indexes in doc.Links
	doc      *Document

	genre
	mute     int   // number of open elements whose text is not displayed
	fields   int32 // number of form fields so far: <input>, <textarea>, <select>
	spans    spans
	commands commands
	row      int32 // index in elems of the open table row that is one block, or -1; see isData

	ogTitle, ogDescription bool // doc.Title and doc.Description are from Open Graph and may be replaced

	opt    Options
	embeds map[string]bool
	schema schema
	places []place  // where elements with an id begin
	placed []placed // position of each text node and image in the text; only with Options.Markdown

	published string // datetime of the first <time> marked as the publication date
	nearH1    string // datetime of the first <time> within nearHeadline lines below the <h1>
}

type elem struct {
	node        *html.Node
	parent      int32
	end         int32 // the descendants of the box follow it in elems, before index end
	first, last int32 // the blocks of the box are blocks[first:last]
	controls    int32 // number of form fields inside the box
	kind        kind
	mark        mark
	byID        mark // marks that the box has only because of its id attribute
	roots       rootHint
	commands    bool // the box is a cell whose text is not displayed, because it has only commands
}

// walk surveys a tree, and sets the metadata and links of d.
func walk(root *html.Node, d *Document, o Options) *survey {
	s := surveys.Get().(*survey)
	s.doc, s.opt = d, o
	s.elem, s.row, s.h1Block, s.headline, s.root = -1, -1, -1, -1, -1
	s.walk(root)
	s.flush()
	return s
}

// surveys are reused, because most pages need about as much memory as the previous page.
var surveys = sync.Pool{New: func() any {
	s := &survey{links: map[linkKey]int{}, embeds: map[string]bool{}}
	s.text = make([]byte, 0, 16<<10)
	s.blocks = make([]block, 0, 256)
	s.elems = make([]elem, 0, 512)
	return s
}}

// release returns the survey's memory to the pool, unless the page was large. Otherwise the pool
// would keep memory that few pages need.
func (s *survey) release() {
	const large = 1 << 20 // approximate number of bytes of text
	if cap(s.text) > large || cap(s.elems) > large/64 || len(s.links) > large/256 || len(s.embeds) > large/256 {
		return
	}
	clear(s.elems)
	clear(s.links)
	clear(s.placed)
	clear(s.places)
	clear(s.embeds)
	*s = survey{
		writer: writer{text: s.text[:0], blocks: s.blocks[:0]},
		elems:  s.elems[:0], sums: s.sums[:0], links: s.links, placed: s.placed[:0], places: s.places[:0], embeds: s.embeds,
	}
	surveys.Put(s)
}

// walk may recurse, because the parsers limit the depth of a tree.
func (s *survey) walk(n *html.Node) {
	if !s.arrive(n) {
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		s.walk(c)
	}
	s.leave(n)
}

// arrive handles a node on the way down the tree. It reports whether to visit the node's children
// and then call leave.
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

// enter handles the start of an element. It reports whether to visit the element's children.
func (s *survey) enter(n *html.Node, k kind) bool {
	if s.opt.Embeds {
		s.embed(n)
	}
	if len(n.Attr) > 0 {
		s.place(n, k)
	}
	switch n.DataAtom {
	case atom.A, atom.Area, atom.Iframe, atom.Frame:
		s.addLink(n)
		if n.DataAtom == atom.A {
			s.relation(n)
			if permalink(n) {
				if s.kindAbove() != heading {
					s.signs++
				}
				return false
			}
			s.link++
			s.fresh = true
			s.script(n)
		}
	case atom.Sup, atom.Sub:
		s.script(n)
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
	case atom.Template:
		if !node.HasAttr(n, "shadowrootmode") {
			return false // browsers do not display a template; scripts copy its content
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
		// A row of data is one block, so an element in it does not begin a new block.
		s.inWord = false
		s.space()
		s.push(n, k)
		return true
	}
	switch {
	case k == cell && s.row >= 0:
		s.beginCell()
	case k == row && s.row >= 0:
	default:
		s.flush()
	}
	s.push(n, k)
	if k == cell && s.row >= 0 && s.commands.has(n) {
		s.elems[s.elem].commands = true
		s.mute++
	}
	if k == row && s.row < 0 {
		data := isData(n)
		if data {
			s.row = s.elem
		}
		s.beginRow(n, data)
	}
	return true
}

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
			s.link--
		case atom.Code:
			s.code--
		case atom.Sup, atom.Sub:
			s.endScript()
		}
		if n.Parent.DataAtom == atom.Button { // the parts of a button stand side by side, as the method and the path of an operation
			s.inWord = false
			s.space()
		}
		if s.mute > 0 && inlineHidden(n) {
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
	if e.commands {
		s.mute--
	}
	if k == cell && s.row >= 0 {
		s.endCell(n)
	}
	if at == s.row {
		s.repeatCells(maxColumns)
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

// push adds an element to elems. Elements inside a row of data get no marks, because the row is
// kept or dropped as a whole.
func (s *survey) push(n *html.Node, k kind) {
	if s.pre > 0 || s.code > 0 {
		k = pre // a syntax highlighter may put an element around every line of code
	}
	first := len(s.blocks)
	if s.open {
		first-- // a cell belongs to the open block of its row
	}
	var mark, byID mark
	var roots rootHint
	if s.row < 0 {
		mark, byID, roots = s.hints(n)
		if s.elem >= 0 {
			mark |= s.elems[s.elem].mark & markPanel
		}
		if mark&markSignature != 0 {
			s.signatures++
		}
	}
	s.elems = append(s.elems, elem{node: n, parent: s.elem, first: int32(first), controls: s.fields, kind: k, mark: mark, byID: byID, roots: roots})
	s.elem = int32(len(s.elems) - 1)
	s.kind = k
}

// isData reports whether a table row becomes one block, because each of its cells holds one line of
// text, or a short list or a few short paragraphs beside one line. Other rows are page layout, as
// are rows in which a cell has a menu or a footer.
func isData(tr *html.Node) bool {
	lines, lists := 0, 0
	for td := tr.FirstChild; td != nil; td = td.NextSibling {
		switch {
		case td.Type != html.ElementNode:
		case oneLine(td, 3):
			lines++
		case fewLines(td):
			lists++
		default:
			return false
		}
	}
	return lists == 0 || lines > 0
}

// fewLines reports whether a cell has only short paragraphs and short lists, and little text.
func fewLines(td *html.Node) bool {
	size := 0
	for n := range td.Descendants() {
		switch size += len(n.Data); {
		case n.Type != html.ElementNode:
		case n.DataAtom == atom.Ul, n.DataAtom == atom.Ol, n.DataAtom == atom.Li, n.DataAtom == atom.P, kindOf(n) == inline, kindOf(n) == lineBreak:
		default:
			return false
		}
		if size > enough/2 {
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

// outermost yields the elements for which is returns true, except those inside of others.
func (s *survey) outermost(is func(i int32) bool) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := int32(0); i < int32(len(s.elems)); i++ {
			if is(i) {
				if !yield(i) {
					return
				}
				i = s.elems[i].end - 1
			}
		}
	}
}

// around returns the innermost element for which is returns true, among element i and those around it,
// or -1 if there is none.
func (s *survey) around(i int32, is func(i int32) bool) int32 {
	for i >= 0 && !is(i) {
		i = s.elems[i].parent
	}
	return i
}

// child returns the first child of element i for which is returns true, or -1 if there is none.
func (s *survey) child(i int32, is func(j int32) bool) int32 {
	for j := i + 1; j < s.elems[i].end; j = s.elems[j].end {
		if is(j) {
			return j
		}
	}
	return -1
}

// permalink reports whether a link is like the <a href="#part">¶</a> that documentation generators
// put beside headings, or is a number that links to itself, as the number of a line of code does.
func permalink(a *html.Node) bool {
	c := a.FirstChild
	if c == nil || c.NextSibling != nil || c.Type != html.TextNode {
		return false
	}
	switch c.Data {
	case "¶", "#", "§", "🔗", "\uf0c1":
		return true
	}
	if c.Data == "" || c.Data[0] > '9' && !strings.HasPrefix(c.Data, "\u00a0") {
		return false
	}
	id := node.Attr(a, "id")
	return id != "" && strings.HasSuffix(node.Attr(a, "href"), "#"+id) && strings.Trim(c.Data, " \u00a00123456789") == ""
}

// writeNode writes a text node. With Options.Markdown it also records which blocks contain the text.
func (s *survey) writeNode(n *html.Node) {
	if !s.opt.Markdown {
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

// image notes the position of an image in the text.
func (s *survey) image(n *html.Node) {
	if !s.opt.Markdown || s.mute > 0 {
		return
	}
	at := placed{n, len(s.blocks), len(s.blocks), len(s.text), len(s.text), s.elem}
	if s.open {
		at.first--
	}
	s.placed = append(s.placed, at)
}
