package extract

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// # Markdown
//
// Markdown is written from the text that was taken and from nothing else. Each block of the main
// text becomes a paragraph, a heading or a row. The elements around its text nodes say which, in
// which list or quotation, and what in it is a link, code or emphasis. So the Markdown has the
// words of Document.Text in their order, and an element without text leaves no trace in it.
//
// The dialect is CommonMark 0.31 with the tables and the strikethrough of GitHub Flavored Markdown.
// What neither has a form for is written plainly: the terms of a definition list are bold, and
// their definitions are items of a list; a cell that spans columns is followed by empty ones, and a
// cell that spans rows is not repeated.

// Markdown is the main text as Markdown, without a newline at its end. Of a link that runs a script
// or holds its data, only the words are left. What is not a page with a tree, a plain text for one,
// gives a paragraph a line.
//
// The page must have been parsed with [Options].Page.
func (d *Document) Markdown(opt MarkdownOptions) string {
	m := &markdown{opt: opt, counts: map[*html.Node]int{}, delimiters: map[*html.Node]int{}}
	switch {
	case d.page != nil:
		m.survey = d.page.survey
		m.page(m.shown())
	case d.Text != "":
		n := 0
		for line := range strings.SplitSeq(d.Text, "\n") {
			if n < len(d.levels) && d.levels[n] > 0 {
				m.put(nil, headingLine(min(d.levels[n], 6), escape(line)), false)
			} else {
				m.put(nil, guardStart(escape(line)), true)
			}
			n++
		}
	}
	return m.out.String()
}

// Release gives back the memory of what [Options].Page kept, for the next page. After it, there is
// no Markdown to be had.
func (d *Document) Release() {
	if d.page != nil {
		d.page.survey.release()
		d.page = nil
	}
}

// MarkdownOptions say what Markdown is to hold. The zero value is good: the text with its links.
type MarkdownOptions struct {
	// Pictures: those that stand in the main text are in it, each once, unless their alternative
	// text is empty, as that of decoration is.
	Pictures bool
	// Resolve turns the address of a link or a picture into what is written; nil: it stays as the
	// page has it.
	Resolve func(address string) string
}

// markdown is a text as it is written.
type markdown struct {
	opt    MarkdownOptions
	survey *survey
	out    strings.Builder

	stack   []*html.Node // items and quotations around the last block, the outermost first
	indents []string     // what begins the further lines in each of them
	single  bool         // the last block was one line of running text

	counts     map[*html.Node]int // items of a list so far
	delimiters map[*html.Node]int // which of two delimiters a list has
}

// shown are the text nodes and pictures of the main text, in order.
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

// isShown reports a text node with text that was taken, or with the white space of a <pre>, which
// its fence may need.
func (s *survey) isShown(p *placed) bool {
	for i := p.first; i < p.last; i++ {
		if s.blocks[i].taken {
			return true
		}
	}
	return strings.TrimSpace(p.node.Data) == "" && fenced(p.node) != nil
}

// isAmongShown reports a picture in a line that was taken, or beside one in the innermost box that
// has any text. A figure is one picture: its caption, which is no part of the main text, says
// nothing about it.
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

// source is the address of a picture, "" if it is decoration or has none. Pages that load pictures
// late keep their addresses elsewhere.
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

// page writes the nodes, as many at a time as make one block of Markdown.
func (m *markdown) page(nodes []placed) {
	data := map[*html.Node]bool{} // rows that were looked at
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

// headingLine is a heading of a level with a text.
func headingLine(level int, text string) string {
	if strings.HasSuffix(text, "#") {
		text = strings.TrimSuffix(text, "#") + `\#` // a row of them would be markup
	}
	return strings.Repeat("#", level) + " " + text
}

const deepest = 16 // lists and quotations in each other; what is deeper stands in the last of them

// containers are the items and quotations that a node stands in, the outermost first.
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

// put writes a block of one or more lines, as a part of what the stack says it stands in.
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

// isTight reports an item right below the one before it, or below the line that its list belongs
// to. A list that does not begin with 1 needs the empty line there.
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

// marker begins an item or a quotation; indent begins its further lines. A list right below
// another, which ended with the item before, takes the other delimiter, or the two would be one.
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

// isWithin reports a node inside another.
func isWithin(n, box *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == box {
			return true
		}
	}
	return false
}

// around is the innermost element of a name around a node, nil if there is none.
func around(n *html.Node, name atom.Atom) *html.Node {
	for n = n.Parent; n != nil; n = n.Parent {
		if n.DataAtom == name {
			return n
		}
	}
	return nil
}
