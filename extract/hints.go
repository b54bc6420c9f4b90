package extract

import (
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

// hints reads what the element, its role and its class say. byID is what its id alone says
// against it.
func (g *genre) hints(n *html.Node) (m, byID mark, roots rootHint) {
	switch n.DataAtom {
	case atom.Html, atom.Head, atom.Body:
		g.schema(attr(n, "itemtype"))
		return 0, 0, 0 // their classes speak of the whole page: "has sidebar", "no comments"
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
			if byID = classMark(value); byID != 0 && kindOf(n) == heading {
				byID = 0 // it is made for links to lead to
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
	if g.manual { // it has neither; its classes name what it describes
		m, byID = m&^(markComments|markRelated), byID&^(markComments|markRelated)
	}
	return m | byID, byID &^ (m | markPanel), roots
}

func firstElement(n *html.Node) *html.Node {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			return c
		}
	}
	return nil
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

// screenReaderOnly reports the names that frameworks have for what is read aloud and not shown, and
// those that generators have for the links and line numbers that they add to a text.
func screenReaderOnly(class string) bool {
	for i := 0; i < len(class); i++ {
		if i > 0 && class[i-1] > ' ' {
			continue
		}
		switch class[i] { // nearly always another, and for less than taking the names apart
		case 's', 'v', 'h', 'm', 'l':
			end := i
			for end < len(class) && class[end] > ' ' {
				end++
			}
			switch class[i:end] {
			case "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only", "headerlink",
				"mw-editsection", "lineno", "linenos", "lnt", "ln":
				return true
			}
		}
	}
	return false
}
