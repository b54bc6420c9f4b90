package extract

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

// fenced returns the outermost <pre> around a node, or nil.
func fenced(n *html.Node) (box *html.Node) {
	for a := n.Parent; a != nil; a = a.Parent {
		if kindOf(a) == pre {
			box = a
		}
	}
	return box
}

// fence returns the element whose content becomes a fenced code block: a <pre> around the node, or
// a <code> that contains block elements. It returns nil if the node is in neither.
func (m *markdown) fence(p *placed) *html.Node {
	if box := fenced(p.node); box != nil || p.node.Type != html.TextNode || m.survey.blocks[p.last-1].kind != pre {
		return box
	}
	return node.Around(p.node, "code")
}

// code writes a fenced code block. It preserves the page's lines and indentation. A block element
// begins a new line even if no line end precedes it.
func (m *markdown) code(box *html.Node, nodes []placed) {
	var text strings.Builder
	last, ends := -1, true // last is the last block written; ends is true if its line has ended
	for _, p := range nodes {
		if p.node.Type != html.TextNode {
			continue
		}
		part := strings.Map(codeRune, strings.ReplaceAll(p.node.Data, "\r\n", "\n"))
		if !ends && p.first != last {
			text.WriteByte('\n')
		}
		text.WriteString(part)
		if part = strings.TrimRight(part, " \t"); part != "" {
			ends = strings.HasSuffix(part, "\n")
		}
		last = p.last - 1
	}
	lines := strings.Split(strings.TrimRightFunc(text.String(), unicode.IsSpace), "\n")
	for len(lines) > 1 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	if len(lines) == 1 && lines[0] == "" {
		return
	}
	body := strings.Join(lines, "\n")
	marks := strings.Repeat("`", max(3, longestRun(body, '`')+1))
	m.put(containers(box), marks+codeLanguage(box)+"\n"+body+"\n"+marks, false)
}

func codeRune(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r == '\r':
		return '\n'
	case r < ' ' || r == 0x7f || invisible(r):
		return -1
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

func longestRun(s string, of byte) (longest int) {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] != of {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}

var languageName = regexp.MustCompile(`^[A-Za-z0-9+#._-]{1,32}$`)

// codeLanguage returns the programming language of a code block, or "" if it is unknown. It reads
// the classes of the block, of the <code> in it, and of the two elements around it. The HTML
// standard recommends class="language-NAME", but Sphinx, GitHub and Pandoc use other forms.
func codeLanguage(box *html.Node) string {
	at := []*html.Node{box}
	for c := box.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Code {
			at = append(at, c)
			break
		}
	}
	for a, up := box.Parent, 0; a != nil && up < 2; a, up = a.Parent, up+1 {
		if a.DataAtom == atom.Div || a.DataAtom == atom.Figure {
			at = append(at, a)
		}
	}
	for _, n := range at {
		classes := strings.Fields(node.Attr(n, "class"))
		for i, class := range classes {
			name := ""
			if i+1 < len(classes) && (class == "sourceCode" || class == "brush:") {
				name = strings.TrimSuffix(classes[i+1], ";")
			}
			for _, prefix := range []string{"language-", "lang-", "highlight-source-", "highlight-"} {
				if after, ok := strings.CutPrefix(class, prefix); ok {
					name = after
					break
				}
			}
			if isLanguage(name) {
				return name
			}
		}
		if name := node.Attr(n, "data-lang"); isLanguage(name) {
			return name
		}
	}
	return ""
}

func isLanguage(name string) bool {
	switch strings.ToLower(name) {
	case "default", "none", "plain", "plaintext", "text":
		return false
	}
	return languageName.MatchString(name)
}

// dataRow returns the row of data around a node, or nil; see isData. known caches the result for
// each row.
func dataRow(n *html.Node, known map[*html.Node]bool) *html.Node {
	row := node.Around(n, "tr")
	if row == nil {
		return nil
	}
	data, ok := known[row]
	if !ok {
		data = isData(row)
		known[row] = data
	}
	if !data {
		return nil
	}
	return row
}

// table writes rows of data as a Markdown table. A one-column table is only layout, so its rows
// become paragraphs.
func (m *markdown) table(nodes []placed) {
	var rows [][]string
	columns, headed := 0, false
	for i := 0; i < len(nodes); {
		row := node.Around(nodes[i].node, "tr")
		j := i
		for j < len(nodes) && node.Around(nodes[j].node, "tr") == row {
			j++
		}
		if i == 0 {
			headed = isHead(row)
		}
		cells := m.cells(row, nodes[i:j])
		columns = max(columns, len(cells))
		rows = append(rows, cells)
		i = j
	}
	stack := containers(nodes[0].node)
	if columns < 2 {
		for _, cells := range rows {
			if len(cells) == 1 && cells[0] != "" {
				m.put(stack, guardStart(cells[0]), true)
			}
		}
		return
	}
	if !headed {
		rows = append([][]string{nil}, rows...) // a Markdown table needs a header row
	}
	var out strings.Builder
	for i, cells := range rows {
		if i == 0 {
			cells = append(cells, make([]string, columns-len(cells))...)
		}
		for _, cell := range cells {
			out.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
		out.WriteString("|\n")
		if i == 0 {
			out.WriteString(strings.Repeat("| --- ", columns) + "|\n")
		}
	}
	m.put(stack, strings.TrimSuffix(out.String(), "\n"), false)
}

func isHead(row *html.Node) bool {
	if row.Parent != nil && row.Parent.DataAtom == atom.Thead {
		return true
	}
	for c := row.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Td {
			return false
		}
	}
	return true
}

// cells returns the cells of a row as Markdown, without trailing empty cells.
func (m *markdown) cells(row *html.Node, nodes []placed) (cells []string) {
	in := map[*html.Node][]placed{}
	for _, p := range nodes {
		if p.node.Parent == row { // skip white space between the cells of a table in a <pre>
			continue
		}
		cell := p.node.Parent
		for cell.Parent != row {
			cell = cell.Parent
		}
		in[cell] = append(in[cell], p)
	}
	filled, column, covered := 0, 0, map[int]bool{}
	set := func(at int, text string) {
		cells = append(cells, make([]string, max(0, at+1-len(cells)))...)
		cells[at] = text
	}
	for _, above := range m.survey.spans.above[row] {
		set(above.column, escape(above.text))
		filled = max(filled, above.column+1)
		for i := range above.width {
			covered[above.column+i] = true
		}
	}
	for c := row.FirstChild; c != nil; c = c.NextSibling {
		own := in[c]
		if own == nil && c.DataAtom != atom.Td && c.DataAtom != atom.Th {
			continue
		}
		for covered[column] {
			column++
		}
		set(column, m.inline(own))
		if own != nil {
			filled = max(filled, column+1)
		}
		column += columns(c, column)
	}
	return cells[:filled]
}
