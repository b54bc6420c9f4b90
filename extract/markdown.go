package extract

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// # Markdown
//
// Markdown is written from the main text only. Each block of the main text becomes a paragraph, a
// heading, a list item or a table row. The HTML elements around the text nodes of the block decide
// this, and where links, code and emphasis begin and end. So the Markdown has the words of
// Document.Text in the same order, below the heading that may be missing in it.
//
// The dialect is CommonMark 0.31 with the tables and the strikethrough of GitHub Flavored Markdown.
// Some HTML has no form in this dialect. A term of a definition list becomes bold, and its
// definitions become list items. A cell that spans columns is followed by empty cells. A cell that
// spans rows is not repeated.

// Markdown returns the main text as Markdown, without a newline at its end. If the text of an
// HTML page has no heading of level 1, the Markdown begins with the page's first <h1>, or else with
// its title. A link in a heading, or to javascript: or data:, becomes plain text. A plain text, and a page that was not parsed into a tree, becomes
// one paragraph for each line.
//
// The page must have been parsed with [Options].Page.
func (d *Document) Markdown(opt MarkdownOptions) string {
	m := &markdown{opt: opt, counts: map[*html.Node]int{}, delimiters: map[*html.Node]int{}}
	switch {
	case d.page != nil:
		if top := d.missingTop(); top != "" {
			m.put(nil, headingLine(1, escape(top)), false)
		}
		m.survey = d.page.survey
		m.page(m.shown())
	case d.Text != "":
		n, headings := 0, d.Headings
		for line := range strings.SplitSeq(d.Text, "\n") {
			if len(headings) > 0 && headings[0].Line == n {
				m.put(nil, headingLine(headings[0].Level, escape(line)), false)
				headings = headings[1:]
			} else {
				m.put(nil, guardStart(escape(line)), true)
			}
			n++
		}
	}
	return m.out.String()
}

// missingTop returns the heading to write above the main text. It returns "" if the text has a
// heading of level 1, if its first line is the title already, or if the page has no title.
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

// Release returns the memory that [Options].Page kept to a pool for the next page. Do not call
// Markdown or WriteHTML after it.
func (d *Document) Release() {
	if d.page != nil {
		d.page.survey.release()
		d.page = nil
	}
}

// MarkdownOptions select what Markdown contains. The zero value gives the text with its links and
// without pictures.
type MarkdownOptions struct {
	// Pictures includes the pictures in the main text, each address once. Pictures with alt="" are left
	// out, because they are decoration.
	Pictures bool
	// Resolve returns the address to write for that of a link or a picture, for example an absolute
	// one. If it is nil, addresses are written as the page has them.
	Resolve func(address string) string
}

// markdown holds the output and the state of the writer.
type markdown struct {
	opt    MarkdownOptions
	survey *survey
	out    strings.Builder

	stack   []*html.Node // list items and quotations around the last block, the outermost first
	indents []string     // for each of them, the prefix of its lines after the first
	single  bool         // the last block was one line of running text

	counts     map[*html.Node]int // number of items written for each list
	delimiters map[*html.Node]int // 0 or 1 for each list: "-" or "*", "." or ")"
}

// shown returns the text nodes and pictures of the main text in order.
func (m *markdown) shown() (nodes []placed) {
	seen := map[string]bool{}
	for _, p := range m.survey.placed {
		if p.node.Type == html.TextNode {
			if m.survey.isShown(&p) {
				nodes = append(nodes, p)
			}
			continue
		}
		if src := source(p.node); m.opt.Pictures && src != "" && !seen[src] && m.survey.isAmongShown(&p) {
			seen[src] = true
			nodes = append(nodes, p)
		}
	}
	return nodes
}

// isShown reports a text node in a taken block, or white space in a <pre>, which may be part of its
// code.
func (s *survey) isShown(p *placed) bool {
	for i := p.first; i < p.last; i++ {
		if s.blocks[i].taken {
			return true
		}
	}
	return strings.TrimSpace(p.node.Data) == "" && fenced(p.node) != nil
}

// isAmongShown reports a picture in a taken block, or in a box whose text was taken. If the
// innermost box around the picture has no text, the next box with text decides. A <figure> counts
// as part of the picture, because its caption is never taken.
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

// source returns the address of a picture, "" if it has none or alt="". Pages that load pictures
// late have the address in attributes such as data-src.
func source(img *html.Node) string {
	if hasAttr(img, "alt") && oneSpace(attr(img, "alt")) == "" {
		return ""
	}
	for _, key := range []string{"src", "data-src"} {
		if src := address(attr(img, key)); src != "" {
			return src
		}
	}
	return ""
}

// page writes all nodes. Each step writes those that form one block of Markdown.
func (m *markdown) page(nodes []placed) {
	data := map[*html.Node]bool{} // cache of isData for each row
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
			of := around(row, atom.Table)
			for j < len(nodes) {
				if next := dataRow(nodes[j].node, data); next == nil || around(next, atom.Table) != of {
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

// line writes a paragraph or a heading.
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

// headingLine returns a Markdown heading of a level from 1 to 6.
func headingLine(level int, text string) string {
	if strings.HasSuffix(text, "#") {
		text = strings.TrimSuffix(text, "#") + `\#` // Markdown drops "#" at the end of a heading
	}
	return strings.Repeat("#", level) + " " + text
}

const deepest = 16 // most levels of lists and quotations; deeper blocks are written at this level

// containers returns the list items and quotations around a node, the outermost first.
func containers(n *html.Node) (all []*html.Node) {
	for a := n.Parent; a != nil; a = a.Parent {
		if isItem(a) || a.DataAtom == atom.Blockquote {
			all = append(all, a)
		}
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all[:min(len(all), deepest)]
}

func isItem(n *html.Node) bool { return n.DataAtom == atom.Li || n.DataAtom == atom.Dd }

// put writes a block of one or more lines inside the items and quotations of stack. single says
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

// isTight reports a list item that needs no empty line above: it follows another item, or the line
// that introduces its list. A list that does not begin with 1 needs the empty line after a
// paragraph.
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

// marker returns the text that begins the first line of an item or a quotation, such as "- " or ">
// ", and the indent of its further lines. A list directly after another list gets the other
// delimiter; otherwise Markdown would join the two.
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
		start, err := strconv.Atoi(attr(list, "start"))
		if err != nil || start < 0 || start > 1e8 {
			start = 1
		}
		marker = fmt.Sprintf("%d%c ", start+m.counts[list], ".)"[at])
	}
	m.counts[list]++
	return marker, strings.Repeat(" ", len(marker))
}

// isWithin reports whether n is inside box, or is box.
func isWithin(n, box *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == box {
			return true
		}
	}
	return false
}

// around returns the innermost element of a name around a node, nil if there is none.
func around(n *html.Node, name atom.Atom) *html.Node {
	for n = n.Parent; n != nil; n = n.Parent {
		if n.DataAtom == name {
			return n
		}
	}
	return nil
}
