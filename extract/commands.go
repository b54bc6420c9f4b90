package extract

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

// commands knows, for each parent of rows, the cells with commands: their texts, and where the first
// link of each cell leads.
type commands map[*html.Node]map[string]map[string]bool

// has reports whether a cell has only commands, such as "diff | history" beside each file of a list:
// at least four rows have the same links in a cell, and they lead elsewhere in each row.
func (c *commands) has(cell *html.Node) bool {
	text, _ := linksOf(cell)
	if text == "" || cell.Parent.Parent == nil {
		return false
	}
	rows := cell.Parent.Parent
	if (*c)[rows] == nil {
		if *c == nil {
			*c = commands{}
		}
		found := map[string]map[string]bool{}
		for row := range rows.ChildNodes() {
			for cell := range row.ChildNodes() {
				if text, href := linksOf(cell); text != "" {
					if found[text] == nil {
						found[text] = map[string]bool{}
					}
					found[text][href] = true
				}
			}
		}
		(*c)[rows] = found
	}
	return len((*c)[rows][text]) >= entries
}

// linksOf returns the text of a cell with two links or more and no other words, and the address of
// the first link.
func linksOf(cell *html.Node) (text, href string) {
	links, read := 0, 0
	for n := range cell.Descendants() {
		switch read++; {
		case read > maxInLine, n.Type == html.TextNode && strings.ContainsFunc(n.Data, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) && node.Around(n, "a") == nil:
			return "", ""
		case n.DataAtom == atom.A:
			if links++; links == 1 {
				href = node.Attr(n, "href")
			}
		}
	}
	if links < 2 {
		return "", ""
	}
	return says(cell, maxLinkText), href
}
