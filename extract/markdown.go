package extract

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

// # Markdown
//
// Markdown is written from the main text only. Each block of the main text becomes a paragraph, a
// heading, a list item or a table row. The choice depends on the HTML elements around the block's
// text nodes, as do links, code and emphasis. The Markdown contains the same words as
// Document.Text, in the same order. If the text has no main heading, one is added above it.
//
// The dialect is CommonMark 0.31 plus tables and strikethrough from GitHub Flavored Markdown.
// Some HTML has no equivalent in this dialect. A term of a definition list becomes bold, and its
// definitions become list items. A cell that spans columns is followed by empty cells. A cell that
// spans rows is repeated in each of them.

// placed is the position of a node's text. The words of a text node are text[from:to], in
// blocks[first:last]. For an image, first is the index of the open block, or of the next block if
// none was open.
type placed struct {
	node        *html.Node
	first, last int
	from, to    int
	elem        int32 // index in elems of the element around the node
}

// Markdown returns the main text as Markdown, without a trailing newline. If the text of an HTML
// page has no heading of level 1, the Markdown begins with the first <h1> of the page, or else with
// the title. A link in a heading, or to javascript: or data:, becomes plain text. If the page is
// plain text or was not parsed into a tree, each line becomes a paragraph.
//
// The page must have been parsed by [Parse], or with [Options].Markdown. Otherwise the Markdown has no
// links, lists or tables: each line of Text becomes a paragraph or a heading.
func (d *Document) Markdown(opt MarkdownOptions) string {
	m := &markdown{opt: opt, counts: map[*html.Node]int{}, delimiters: map[*html.Node]int{}}
	switch {
	case d.page != nil:
		if top := d.missingTop(); top != "" {
			m.put(nil, headingLine(1, escape(top)), false)
		}
		m.survey = d.page
		m.page(m.shown())
	case d.Text != "":
		n, headings := 0, d.Headings
		for line := range strings.SplitSeq(d.Text, "\n") {
			level := 0
			if len(headings) > 0 && headings[0].Line == n {
				level, headings = headings[0].Level, headings[1:]
			}
			if level > 0 {
				m.put(nil, headingLine(level, escape(line)), false)
			} else {
				m.put(nil, guardStart(escape(line)), true)
			}
			n++
		}
	}
	return m.out.String()
}

// missingTop returns the heading to write above the main text. It returns "" if the text has a
// heading of level 1, if its first line is already the title, or if the page has no title.
func (d *Document) missingTop() string {
	top := d.Title
	for _, h := range d.H1 {
		if h != "" {
			top = h
			break
		}
	}
	first, _, _ := strings.Cut(d.Text, "\n")
	if first == "" || first == top || slices.ContainsFunc(d.Headings, func(h Heading) bool { return h.Level == 1 }) {
		return ""
	}
	return top
}

// Release returns the memory kept because of [Options].Markdown to a pool, where the next page can use
// it. Do not call Markdown after Release. Release need not be called.
func (d *Document) Release() {
	if d.page != nil {
		d.page.release()
		d.page = nil
	}
}

// MarkdownOptions select the content of the Markdown. The zero value selects the text with its
// links and without images.
type MarkdownOptions struct {
	// Images includes the images of the main text, each address once. Images with alt="" are left
	// out, because they are decoration.
	Images bool
	// Resolve returns the address to write for that of a link or an image, for example an absolute
	// URL. If Resolve is nil, addresses are written as they are in the page.
	Resolve func(address string) string
}

type markdown struct {
	opt    MarkdownOptions
	survey *survey
	out    strings.Builder

	stack   []*html.Node // list items and quotations around the last block, outermost first
	indents []string     // for each element of stack, the prefix of all its lines but the first
	single  bool         // the last block was one line of running text

	counts     map[*html.Node]int // number of items written so far for each list
	delimiters map[*html.Node]int // for each list, 0 for "-" and ".", or 1 for "*" and ")"
}

func (m *markdown) shown() (nodes []placed) {
	seen := map[string]bool{}
	for _, p := range m.survey.placed {
		if p.node.Type == html.TextNode {
			if m.survey.isShown(&p) {
				nodes = append(nodes, p)
			}
			continue
		}
		if src := source(p.node); m.opt.Images && src != "" && !seen[src] && m.survey.isAmongShown(&p) {
			seen[src] = true
			nodes = append(nodes, p)
		}
	}
	return nodes
}

// isShown reports whether p is a text node in the main text, or white space in a <pre>, which may
// be part of its code.
func (s *survey) isShown(p *placed) bool {
	for i := p.first; i < p.last; i++ {
		if s.blocks[i].taken {
			return true
		}
	}
	return strings.TrimSpace(p.node.Data) == "" && fenced(p.node) != nil
}

// isAmongShown reports whether p is an image in a block or an element of the main text. If the
// innermost element around the image has no text, the next outer element with text decides. A
// <figure> counts as part of the image, because its caption is never main text.
func (s *survey) isAmongShown(p *placed) bool {
	if p.first < p.last {
		return s.blocks[p.first].taken
	}
	above, below := int32(p.first-1), int32(p.first)
	e := p.elem
	for ; e >= 0; e = s.elems[e].parent {
		box := &s.elems[e]
		if box.node.DataAtom == atom.Figure {
			above, below = box.first-1, box.last
		} else if box.first < box.last {
			break
		}
	}
	if e < 0 {
		return false
	}
	taken := func(i int32) bool { return s.elems[e].first <= i && i < s.elems[e].last && s.blocks[i].taken }
	return taken(above) || taken(below)
}

// source returns the address of an image. It returns "" if there is none, or if the image has
// alt="". Pages that load images lazily have the address in attributes such as data-src.
func source(img *html.Node) string {
	if node.HasAttr(img, "alt") && oneSpace(node.Attr(img, "alt")) == "" {
		return ""
	}
	for _, key := range []string{"src", "data-src"} {
		if src := address(node.Attr(img, key)); src != "" {
			return src
		}
	}
	return ""
}

func (m *markdown) page(nodes []placed) {
	data := map[*html.Node]bool{}
	for i := 0; i < len(nodes); {
		j := i + 1
		box, row := m.fence(&nodes[i]), dataRow(nodes[i].node, data)
		switch {
		case box != nil:
			for j < len(nodes) && isWithin(nodes[j].node, box) {
				j++
			}
			m.code(box, nodes[i:j])
		case row != nil:
			of := node.Around(row, "table")
			for j < len(nodes) {
				if next := dataRow(nodes[j].node, data); next == nil || node.Around(next, "table") != of {
					break
				}
				j++
			}
			m.table(nodes[i:j])
		default:
			for j < len(nodes) && nodes[j].first < nodes[j].last && nodes[i].first < nodes[i].last && nodes[j].last == nodes[i].last {
				j++
			}
			m.line(nodes[i:j])
		}
		i = j
	}
}

func (m *markdown) line(nodes []placed) {
	n := nodes[0].node
	text := m.inline(nodes)
	if text == "" {
		return
	}
	for a := n.Parent; a != nil; a = a.Parent {
		if kindOf(a) == heading {
			m.put(containers(n), headingLine(int(a.Data[1]-'0'), text), false)
			return
		}
	}
	m.put(containers(n), guardStart(text), true)
}

func headingLine(level int, text string) string {
	if strings.HasSuffix(text, "#") {
		text = strings.TrimSuffix(text, "#") + `\#` // Markdown ignores a "#" at the end of a heading
	}
	return strings.Repeat("#", level) + " " + text
}

const deepest = 16 // maximum depth of lists and quotations; deeper blocks are written at this depth

func containers(n *html.Node) (all []*html.Node) {
	for a := n.Parent; a != nil; a = a.Parent {
		if isItem(a) || a.DataAtom == atom.Blockquote {
			all = append(all, a)
		}
	}
	slices.Reverse(all)
	return all[:min(len(all), deepest)]
}

func isItem(n *html.Node) bool { return n.DataAtom == atom.Li || n.DataAtom == atom.Dd }

// put writes a block of one or more lines inside the items and quotations of stack. single means
// that the block is one line of running text.
func (m *markdown) put(stack []*html.Node, text string, single bool) {
	common := 0
	for common < min(len(stack), len(m.stack)) && stack[common] == m.stack[common] {
		common++
	}
	var markers strings.Builder
	indents := m.indents[:common:common]
	first := strings.Join(indents, "")
	for i, n := range stack[common:] {
		var before *html.Node
		if i == 0 && common < len(m.stack) {
			before = m.stack[common]
		}
		marker, indent := m.marker(n, before)
		markers.WriteString(marker)
		indents = append(indents, indent)
	}
	if m.out.Len() > 0 {
		m.out.WriteByte('\n')
		if !m.isTight(stack, common, markers.String()) {
			m.out.WriteString(strings.TrimRight(first, " ") + "\n")
		}
	}
	m.out.WriteString(first + markers.String())
	further := strings.Join(indents, "")
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			m.out.WriteByte('\n')
			if line == "" {
				m.out.WriteString(strings.TrimRight(further, " "))
				continue
			}
			m.out.WriteString(further)
		}
		m.out.WriteString(line)
	}
	m.stack, m.indents, m.single = stack, indents, single
}

// isTight reports whether a list item needs no empty line above it, because it follows another item
// or the line that introduces its list. After a paragraph, a list that does not begin with 1 needs
// the empty line.
func (m *markdown) isTight(stack []*html.Node, common int, markers string) bool {
	if !m.single || common == len(stack) || !isItem(stack[common]) {
		return false
	}
	if common < len(m.stack) {
		return isItem(m.stack[common]) && m.stack[common].Parent == stack[common].Parent
	}
	begins := markers[0] == '-' || markers[0] == '*' || strings.HasPrefix(markers, "1.") || strings.HasPrefix(markers, "1)")
	return begins && common > 0 && isItem(m.stack[common-1])
}

// marker returns the text at the beginning of the first line of an item or a quotation, and the
// indent of its other lines. Markdown would join two adjacent lists, so the second list gets a
// different delimiter.
func (m *markdown) marker(n, before *html.Node) (marker, indent string) {
	if n.DataAtom == atom.Blockquote {
		return "> ", "> "
	}
	list := n.Parent
	if m.counts[list] == 0 && before != nil && isItem(before) && before.Parent != list {
		m.delimiters[list] = 1 - m.delimiters[before.Parent]
	}
	at := m.delimiters[list]
	marker = "-*"[at:at+1] + " "
	if list != nil && list.DataAtom == atom.Ol {
		start, err := strconv.Atoi(node.Attr(list, "start"))
		if err != nil || start < 0 || start > 1e8 {
			start = 1
		}
		marker = fmt.Sprintf("%d%c ", start+m.counts[list], ".)"[at])
	}
	m.counts[list]++
	return marker, strings.Repeat(" ", len(marker))
}

func isWithin(n, box *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == box {
			return true
		}
	}
	return false
}
