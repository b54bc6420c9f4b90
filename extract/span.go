package extract

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

// # Cells that span rows
//
// A cell with a rowspan stands for a cell in each of its rows. So the text of each further row has
// the cell's text too, in its column, if the rows are data. Columns are counted with colspan.

const (
	maxColumns = 100      // maximum number of columns in a row that has a colspan
	maxCopied  = 64 << 10 // maximum number of bytes, plus one a cell, that a page's cells add to further rows
)

// A spanned cell covers width columns from column on, and as many further rows as left says.
type spanned struct {
	column, width, left int
	text                string
}

// spans keeps track of spanned cells during the walk.
type spans struct {
	groups map[*html.Node][]spanned // for each parent of rows, the cells that cover the next row
	above  map[*html.Node][]spanned // for each row, the cells of earlier rows that cover it
	copied int

	left         []spanned // cells that the current row has yet to repeat, in the order of columns
	column       int       // column of the current cell
	from, blocks int       // where the current cell begins, in the text and in the blocks
}

// beginRow is called for each row. data reports whether the row repeats the text of the cells that
// cover it.
func (s *survey) beginRow(row *html.Node, data bool) {
	c := &s.spans
	c.column, c.left = 0, nil
	all := slices.DeleteFunc(c.groups[row.Parent], func(cell spanned) bool { return cell.left == 0 })
	if len(all) == 0 {
		delete(c.groups, row.Parent)
		return
	}
	for i := range all {
		all[i].left--
	}
	c.groups[row.Parent] = all
	if !data || s.mute > 0 || c.copied > maxCopied || !speaks(row) {
		return
	}
	c.left = slices.Clone(all)
	slices.SortFunc(c.left, func(a, b spanned) int { return a.column - b.column })
	for i := range c.left {
		if c.copied += 1 + len(c.left[i].text); c.copied > maxCopied {
			c.left[i].text = ""
		}
	}
	if c.above == nil {
		c.above = map[*html.Node][]spanned{}
	}
	c.above[row] = c.left
}

// repeatCells writes the cells of earlier rows that cover the columns up to the current one.
func (s *survey) repeatCells(upTo int) {
	for c := &s.spans; len(c.left) > 0 && c.left[0].column <= upTo; c.left = c.left[1:] {
		s.cell()
		s.write(c.left[0].text)
		if c.column = max(c.column, c.left[0].column+c.left[0].width); upTo < c.column {
			upTo = c.column
		}
	}
}

func (s *survey) beginCell() {
	s.repeatCells(s.spans.column)
	s.cell()
	s.spans.from, s.spans.blocks = len(s.text), len(s.blocks)
	if !s.open {
		s.spans.blocks++
	}
}

func (s *survey) endCell(n *html.Node) {
	c := &s.spans
	width := columns(n, c.column)
	rows := spanOf(n, "rowspan")
	if rows == 0 {
		rows = 1 << 16 // to the end of the group
	}
	if rows > 1 && c.column < maxColumns && len(c.groups[n.Parent.Parent]) < maxColumns {
		text := ""
		if len(s.blocks) == c.blocks {
			text = string(bytes.Trim(s.text[c.from:], " \t"))
		}
		if c.groups == nil {
			c.groups = map[*html.Node][]spanned{}
		}
		group := n.Parent.Parent
		c.groups[group] = append(c.groups[group], spanned{c.column, width, rows - 1, text})
	}
	c.column += width
}

// columns returns how many columns a cell covers that begins in a column.
func columns(cell *html.Node, column int) int {
	return max(1, min(spanOf(cell, "colspan"), maxColumns-column))
}

// spanOf returns how many columns or rows a cell covers by an attribute: 1 unless it is a number.
func spanOf(cell *html.Node, attr string) int {
	if value := node.Attr(cell, attr); value != "" { // nearly all cells have none, and an error costs memory
		if span, err := strconv.Atoi(value); err == nil {
			return span
		}
	}
	return 1
}

// speaks reports whether an element has text that the walk writes.
func speaks(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			if strings.ContainsFunc(c.Data, func(r rune) bool { return r > ' ' && r != 0x7f && !unicode.IsSpace(r) && !invisible(r) }) {
				return true
			}
			continue
		}
		k := kindOf(c)
		hidden := k == skipped || k == muted || k == inline && inlineHidden(c) || c.DataAtom == atom.A && permalink(c) || c.DataAtom == atom.Template
		if !hidden && speaks(c) {
			return true
		}
	}
	return false
}
