package extract

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
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
		if s := strings.Trim(c.Data, " \t\r\n"); len(s) <= limit && node.IsLine(s) && s != "" {
			return s // fast path for most links, without a copy
		}
	}
	var w writer
	alt := w.read(n, limit)
	for _, s := range []string{alt, node.Attr(n, "aria-label"), node.Attr(n, "title")} {
		if len(w.text) > 0 {
			break
		}
		w.write(s)
	}
	return w.cut(limit)
}

// oneLineOf returns s on one line, cut to at most limit bytes.
func oneLineOf(s string, limit int) string {
	if short := strings.Trim(s, " \t\r\n"); len(short) <= limit && node.IsLine(short) {
		return short
	}
	var w writer
	w.write(s)
	return w.cut(limit)
}

// cut returns the text, cut to at most limit bytes.
func (w *writer) cut(limit int) string {
	if len(w.text) <= limit {
		return string(w.text)
	}
	return string(bytes.TrimRight(firstBytes(w.text, limit), " "))
}

// maxInLine is the maximum number of nodes read for the text of one line. A single <a> may contain
// a whole page.
const maxInLine = 200

// read writes the text inside an element on one line, until it is longer than limit. It returns the
// first alt text of an image in the element.
func (w *writer) read(root *html.Node, limit int) (alt string) {
	n := root
	for range maxInLine {
		if len(w.text) > limit {
			break
		}
		inside := w.enter(n)
		if alt == "" && n.DataAtom == atom.Img {
			alt = node.Attr(n, "alt")
		}
		if inside && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
			w.part(n)
			if isScript(n) {
				w.endScript()
			}
		}
		if n == root {
			break
		}
		n = n.NextSibling
	}
	return alt
}

// maxOfText is the number of bytes read of one text, because many nested links may each contain the same large text.
const maxOfText = 64 << 10

// firstBytes returns at most n bytes of a text. It does not cut a character.
func firstBytes[T string | []byte](text T, n int) T {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// enter writes the text of a node. It reports whether to read the node's children.
func (w *writer) enter(n *html.Node) bool {
	switch n.Type {
	case html.TextNode:
		w.write(firstBytes(n.Data, maxOfText))
		return false
	case html.ElementNode:
		w.part(n)
		if isScript(n) && n.FirstChild != nil || n.DataAtom == atom.A {
			w.script(n)
		}
		return kindOf(n) != skipped && n.DataAtom != atom.Template && (n.DataAtom != atom.A || !permalink(n))
	}
	return false
}

// part writes a space before and after the text of a block element, so that
// "<div>a</div><div>b</div>" becomes "a b".
func (w *writer) part(n *html.Node) {
	if kindOf(n) != inline {
		w.inWord = false
		w.space()
	}
}
