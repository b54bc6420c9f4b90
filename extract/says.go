package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/extract/node"
)

// These limit the content of a Document. The text of links and headings is limited in bytes. A
// longer link usually wraps a whole card or paragraph, and its first words are enough to identify
// it.
const (
	maxLinkText   = 100
	maxHeading    = 300
	maxHeadings   = 8
	maxCanonicals = 8
)

// says returns the text of an element on one line, including text that is not displayed, cut to at
// most limit bytes. If there is no text, it returns the alt text of an image in the element, or
// else the element's aria-label or title.
func says(n *html.Node, limit int) string {
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		if s := strings.Trim(c.Data, " \t\r\n"); len(s) <= limit && isLine(s) && s != "" {
			return s // fast path for most links, without a copy
		}
	}
	l := line{limit: limit}
	alt := l.read(n)
	for _, s := range []string{alt, node.Attr(n, "aria-label"), node.Attr(n, "title")} {
		if len(l.text) > 0 {
			break
		}
		l.add(s)
	}
	return string(l.text)
}

// oneLineOf returns s on one line, cut to at most limit bytes.
func oneLineOf(s string, limit int) string {
	if short := strings.Trim(s, " \t\r\n"); len(short) <= limit && isLine(short) {
		return short
	}
	l := line{limit: limit}
	l.add(s)
	return string(l.text)
}

// isLine reports whether s can be used unchanged: it must be printable ASCII without double spaces.
func isLine(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == ' ' && s[i-1] == ' ' {
			return false
		}
	}
	return true
}

type line struct {
	text  []byte
	limit int
	space bool // the next character needs a space before it
	full  bool
}

// maxInLine is the maximum number of nodes read for the text of one line. A single <a> may contain
// a whole page.
const maxInLine = 200

// read adds the text inside an element, and returns the first alt text of an image in it.
func (l *line) read(root *html.Node) (alt string) {
	n := root
	for range maxInLine {
		if l.full {
			break
		}
		inside := l.enter(n)
		if alt == "" && n.DataAtom == atom.Img {
			alt = node.Attr(n, "alt")
		}
		if inside && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
			l.part(n)
		}
		if n == root {
			break
		}
		n = n.NextSibling
	}
	return alt
}

// enter adds the text of a node. It reports whether to read the node's children.
func (l *line) enter(n *html.Node) bool {
	switch n.Type {
	case html.TextNode:
		l.add(n.Data)
		return false
	case html.ElementNode:
		l.part(n)
		return kindOf(n) != skipped && n.DataAtom != atom.Template && (n.DataAtom != atom.A || !permalink(n))
	}
	return false
}

// part adds a space before and after the text of a block element, so that
// "<div>a</div><div>b</div>" becomes "a b".
func (l *line) part(n *html.Node) {
	if kindOf(n) != inline {
		l.space = true
	}
}

// add appends s until the line is full. Each run of white space in s becomes a single space.
func (l *line) add(s string) {
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			l.space = true
			continue
		case r < ' ' || invisible(r):
			continue
		}
		size := utf8.RuneLen(r)
		if l.space && len(l.text) > 0 {
			size++
		}
		if l.full = len(l.text)+size > l.limit; l.full {
			return
		}
		if l.space && len(l.text) > 0 {
			l.text = append(l.text, ' ')
		}
		l.space = false
		l.text = utf8.AppendRune(l.text, r)
	}
}
