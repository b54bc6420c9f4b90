package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// These bound, in bytes and in number, what a document says of its links and headings. Anchors are
// some words long; the longer ones are cards and paragraphs, whose first words tell them apart.
const (
	maxLinkText   = 100
	maxHeading    = 300
	maxHeadings   = 8
	maxCanonicals = 8
)

// says is what an element says, on one line, cut to so many bytes: its text, whether it is shown or
// not, else the alternative text of a picture in it, else what its aria-label or title says.
func says(n *html.Node, most int) string {
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		if s := strings.Trim(c.Data, " \t\r\n"); len(s) <= most && isLine(s) && s != "" {
			return s // most links are like that, and their text need not be copied
		}
	}
	l := line{most: most}
	alt := l.read(n)
	for _, s := range []string{alt, attr(n, "aria-label"), attr(n, "title")} {
		if len(l.text) > 0 {
			break
		}
		l.add(s)
	}
	return string(l.text)
}

// oneLineOf is a text on one line, cut to so many bytes.
func oneLineOf(s string, most int) string {
	if short := strings.Trim(s, " \t\r\n"); len(short) <= most && isLine(short) {
		return short
	}
	l := line{most: most}
	l.add(s)
	return string(l.text)
}

// isLine reports plain words with one space between them.
func isLine(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == ' ' && s[i-1] == ' ' {
			return false
		}
	}
	return true
}

// A line is a text of one line that is being put together, up to a number of bytes.
type line struct {
	text  []byte
	most  int
	space bool // one is due before the next character
	full  bool
}

// mostInLine is how many nodes a line is put together from. An anchor may hold a whole page.
const mostInLine = 200

// read adds the text inside an element, and returns the alternative text of the first picture that
// has one.
func (l *line) read(root *html.Node) (alt string) {
	n := root
	for range mostInLine {
		if l.full {
			break
		}
		inside := l.enter(n)
		if alt == "" && n.DataAtom == atom.Img {
			alt = attr(n, "alt")
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

// enter adds a node, and reports whether to go inside.
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

// part parts what stands in an element of its own line from what is beside it.
func (l *line) part(n *html.Node) {
	if kindOf(n) != inline {
		l.space = true
	}
}

// add adds a text, with one space where it has white space.
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
		if l.full = len(l.text)+size > l.most; l.full {
			return
		}
		if l.space && len(l.text) > 0 {
			l.text = append(l.text, ' ')
		}
		l.space = false
		l.text = utf8.AppendRune(l.text, r)
	}
}
