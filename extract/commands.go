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
	if links := 0; !onlyLinks(cell, &links, &href) || links < 2 {
		return "", ""
	}
	return says(cell, maxLinkText), href
}

// onlyLinks reports whether an element has no words outside links. It counts the links, and finds the
// address of the first one.
func onlyLinks(n *html.Node, links *int, href *string) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.DataAtom == atom.A:
			if *links++; *links == 1 {
				*href = node.Attr(c, "href")
			}
		case c.Type == html.TextNode && strings.ContainsFunc(c.Data, isWordy), !onlyLinks(c, links, href):
			return false
		}
	}
	return true
}

func isWordy(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
