package extract

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// kind groups the elements of HTML by their effect on the text.
type kind uint8

const (
	inline  kind = iota // continues the line: <b>, <a>, <span>
	group               // begins and ends a line: <div>, <section>
	para                // a group that holds one paragraph: <p>, <blockquote>, <caption>
	heading             // <h1> to <h6>
	item                // <li>, <dt>, <dd>
	list                // <ul>, <ol>, <dl>
	table
	row     // <tr>
	cell    // <td>, <th>
	pre     // keeps its line breaks: <pre>
	muted   // left out of the text, but its links are read: <select>, <svg>, a <button> with a command
	skipped // left out with all its content: <script>, <style>
	lineBreak
)

func kindOf(n *html.Node) kind {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Iframe, atom.Frame, atom.Textarea, atom.Xmp, atom.Noembed, atom.Noframes, atom.Annotation, atom.Title:
		return skipped
	case atom.Button:
		if holdsMore(n) {
			return group
		}
		return muted
	case atom.Select, atom.Datalist, atom.Svg, atom.Video, atom.Audio, atom.Canvas, atom.Progress, atom.Meter, atom.Rp, atom.Rt:
		return muted
	case atom.Br:
		return lineBreak
	case atom.P, atom.Blockquote, atom.Address, atom.Summary, atom.Caption:
		return para
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return heading
	case atom.Li, atom.Dt, atom.Dd:
		return item
	case atom.Ul, atom.Ol, atom.Dl, atom.Menu, atom.Dir:
		return list
	case atom.Table:
		return table
	case atom.Tr:
		return row
	case atom.Td, atom.Th:
		return cell
	case atom.Pre, atom.Listing, atom.Plaintext:
		return pre
	case atom.Html, atom.Head, atom.Body, atom.Div, atom.Section, atom.Article, atom.Main, atom.Header, atom.Footer, atom.Nav, atom.Aside,
		atom.Form, atom.Fieldset, atom.Legend, atom.Figure, atom.Details, atom.Dialog, atom.Hgroup, atom.Center, atom.Search,
		atom.Tbody, atom.Thead, atom.Tfoot, atom.Hr, atom.Noscript, atom.Template, atom.Figcaption, atom.Frameset, atom.Object:
		return group
	case 0:
		// Web components are elements with a "-" in their name. Most of them are laid out as block
		// elements.
		if strings.IndexByte(n.Data, '-') > 0 {
			return group
		}
	}
	return inline
}

// holdsMore reports whether a <button> holds more than a command: at least three pieces of text, or
// two if one is in an element that begins a line. An example is the summary of a closed section.
func holdsMore(button *html.Node) bool {
	c := caption{left: 100}
	c.read(button, false)
	return c.pieces >= 3 || c.pieces == 2 && c.inBox
}

// A caption counts the pieces of displayed text in a button.
type caption struct {
	pieces int
	inBox  bool // a piece is in an element that begins a line
	left   int  // number of nodes that may still be read; it bounds the time for nested buttons
}

func (c *caption) read(n *html.Node, inBox bool) {
	for ch := n.FirstChild; ch != nil && c.left > 0 && c.pieces < 3; ch = ch.NextSibling {
		c.left--
		switch {
		case ch.Type == html.TextNode && strings.ContainsFunc(ch.Data, unicode.IsLetter):
			c.pieces++
			c.inBox = c.inBox || inBox
		case ch.Type != html.ElementNode || ch.DataAtom == atom.Button || inlineHidden(ch):
		default:
			if k := kindOf(ch); k != muted && k != skipped {
				c.read(ch, inBox || k != inline && k != lineBreak)
			}
		}
	}
}
