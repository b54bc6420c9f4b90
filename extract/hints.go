package extract

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// mark says why a box may be no part of the main text. It is a suspicion: prune decides.
type mark uint16

const (
	markNever     mark = 1 << iota // never content: a consent manager, a copyright notice
	markHidden                     // not shown: hidden, aria-hidden, display:none, <noscript>
	markNav                        // navigation by its element or role: <nav>, role=banner
	markClass                      // navigation or advertisement by its class or id
	markPanel                      // opens on a click: what is hidden in it is content
	markUser                       // about the writer of a post, in a thread
	markComments                   // readers' comments by class or id
	markReviews                    // buyers' reviews and questions, below a product
	markByline                     // by whom and when; in a thread, part of each post
	markSignature                  // below every post; in a reference, of a function
	markCall                       // asks the reader for something: a form, a banner
	markRelated                    // other articles of the site, or of those who pay it
	markSpeech                     // in a name: what somebody says, and not who
	markAside                      // beside the text by its element or role
	markSidebar                    // beside the text by its class or id

	// markPlace says where a box stands, and not what it is: see flow.
	markPlace = markAside | markSidebar
)

// rootHint says that a box may be the main text.
type rootHint uint8

const (
	hintBody    rootHint = 1 << iota // itemprop=articleBody
	hintArticle                      // <article>, role=article
	hintMain                         // <main>, role=main
)

// hints reads what the element, its role and its class say.
func (g *genre) hints(n *html.Node) (m mark, roots rootHint) {
	switch n.DataAtom {
	case atom.Html, atom.Head, atom.Body:
		g.schema(attr(n, "itemtype"))
		return 0, 0 // their classes speak of the whole page: "has sidebar", "no comments"
	case atom.Nav, atom.Menu, atom.Dialog, atom.Search:
		m = markNav
	case atom.Aside:
		if first := firstElement(n); !isNote(n) && (first == nil || !isNote(first)) {
			m = markAside
		}
	case atom.Footer:
		m = markNever
	case atom.Noscript:
		m = markHidden
	case atom.Form:
		m = markCall
	case atom.Figcaption, atom.Legend:
		m = markClass
	case atom.Article:
		roots = hintArticle
	case atom.Main:
		roots = hintMain
	}
	for i := range n.Attr {
		value := n.Attr[i].Val
		switch n.Attr[i].Key {
		case "class", "data-role":
			m |= classMark(value)
		case "id":
			if im := classMark(value); im != 0 && !isAnchor(n, value) {
				m |= im
			}
		case "data-elementor-type": // "footer", "popup": the part of the page a builder's template is for
			m |= classMark(value)
		case "role":
			rm, rr := roleHints(value)
			m, roots = m|rm, roots|rr
		case "itemprop":
			if hasToken(value, "articleBody") {
				roots |= hintBody
			}
		case "itemtype":
			g.schema(value)
		case "hidden":
			if value != "until-found" { // opened by a search in the page: an accordion
				m |= markHidden
			}
		case "aria-hidden":
			if value == "true" {
				m |= markHidden
			}
		case "style":
			if displayNone(value) {
				m |= markHidden
			}
		}
	}
	return m, roots
}

// isAnchor reports an id made for links to lead to: that of a heading, and that of a section named
// after its heading inside another such section, as documentation generators nest them. Such an id
// is a sentence of the text, and "respond-to-review-comments" speaks of comments but holds none.
func isAnchor(n *html.Node, id string) bool {
	return kindOf(n) == heading || n.Parent != nil && isNamedAfterHeading(n, id) && isNamedAfterHeading(n.Parent, attr(n.Parent, "id"))
}

// isNamedAfterHeading reports a box that begins with a heading and has its words for an id.
func isNamedAfterHeading(n *html.Node, id string) bool {
	for depth := 0; id != "" && depth < 5; depth++ {
		if n = firstElement(n); n == nil {
			return false
		}
		if kindOf(n) == heading {
			return isSlug(id, n)
		}
	}
	return false
}

func firstElement(n *html.Node) *html.Node {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			return c
		}
	}
	return nil
}

// isSlug reports an id that ends with the letters of a heading.
func isSlug(id string, h *html.Node) bool {
	var letters []byte
	for n := range h.Descendants() {
		if n.Type == html.TextNode && len(letters) <= len(id) {
			letters = appendLetters(letters, n.Data[:min(len(n.Data), len(id))])
		}
	}
	return len(letters) > 0 && bytes.HasSuffix(appendLetters(nil, id), letters)
}

// appendLetters appends the ASCII letters and digits of s in lower case.
func appendLetters(to []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; {
		case 'A' <= c && c <= 'Z':
			to = append(to, c|0x20)
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			to = append(to, c)
		}
	}
	return to
}

// isNote reports a role of ARIA or its module for publishing, such as doc-footnote: it says what an
// <aside> has to do with the text.
func isNote(n *html.Node) bool {
	role := attr(n, "role")
	return role == "note" || strings.HasPrefix(role, "doc-")
}

// roleHints reads the landmark roles of WAI-ARIA.
func roleHints(role string) (mark, rootHint) {
	switch strings.ToLower(strings.TrimSpace(role)) {
	case "main":
		return 0, hintMain
	case "contentinfo":
		return markNever, 0
	case "tabpanel":
		return markPanel, 0
	case "article":
		return 0, hintArticle
	case "navigation", "menu", "menubar", "banner", "search", "dialog", "alertdialog", "toolbar", "tooltip":
		return markNav, 0
	case "complementary":
		return markAside, 0
	}
	return 0, 0
}

func displayNone(style string) bool {
	_, after, ok := strings.Cut(style, "display")
	if !ok {
		return false
	}
	after = strings.TrimLeft(after, " \t")
	after, ok = strings.CutPrefix(after, ":")
	return ok && strings.HasPrefix(strings.TrimLeft(after, " \t"), "none")
}

// inlineHidden reports an inline element that is not shown: an icon's name, a second copy for
// screen readers. It is left out without further ado, unless boxes are inside.
func inlineHidden(n *html.Node) bool {
	hidden := false
	for i := range n.Attr {
		switch n.Attr[i].Key {
		case "hidden":
			hidden = true
		case "aria-hidden":
			hidden = hidden || n.Attr[i].Val == "true"
		case "style":
			hidden = hidden || displayNone(n.Attr[i].Val)
		case "class":
			hidden = hidden || screenReaderOnly(n.Attr[i].Val)
		}
	}
	if !hidden {
		return false
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && kindOf(c) != inline {
			return false
		}
	}
	return true
}

// screenReaderOnly reports the names that frameworks have for what is read aloud and not shown.
func screenReaderOnly(class string) bool {
	for i := 0; i < len(class); i++ {
		if i > 0 && class[i-1] > ' ' {
			continue
		}
		switch class[i] { // nearly always another, and for less than taking the names apart
		case 's', 'v', 'h':
			end := i
			for end < len(class) && class[end] > ' ' {
				end++
			}
			switch class[i:end] {
			case "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only", "headerlink":
				return true
			}
		}
	}
	return false
}
