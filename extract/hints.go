package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

// mark is a set of reasons why an element may be boilerplate. A mark alone does not drop an
// element; see prune.
type mark uint16

const (
	markNever     mark = 1 << iota // always boilerplate, such as a consent manager or a copyright notice
	markHidden                     // not displayed, because of hidden, aria-hidden, display:none or <noscript>
	markNav                        // navigation, by element or role: <nav>, role=banner
	markClass                      // navigation or advertisement, by class or id
	markPanel                      // an accordion or a tab, which opens on a click, so its hidden text is content
	markUser                       // details about the author beside a forum post: name, rank, votes
	markComments                   // readers' comments, by class or id
	markReviews                    // buyers' reviews and questions below a product
	markByline                     // line with the author and date of a text
	markSignature                  // class "signature": a signature below a forum post, or a function's signature in a manual
	markCall                       // a call to action, such as a form or a banner
	markRelated                    // links to related, popular or sponsored articles
	markSpeech                     // cancels markUser: "user-content" is the text of a post; removed before the marks are stored
	markAside                      // beside the text: <aside>, role=complementary
	markSidebar                    // beside the text, by class or id, such as "sidebar"

	// markPlace is the set of marks that say only that an element is beside the text; see flow.go.
	markPlace = markAside | markSidebar
)

// rootHint is a set of reasons why an element may contain the main text.
type rootHint uint8

const (
	hintBody    rootHint = 1 << iota // itemprop=articleBody
	hintArticle                      // <article>, role=article
	hintMain                         // <main>, role=main
)

// hints returns the marks and root hints that an element gets from its name, role, class and id.
// byID is the subset of m that comes only from the id.
func (g *genre) hints(n *html.Node) (m, byID mark, roots rootHint) {
	switch n.DataAtom {
	case atom.Html, atom.Head, atom.Body:
		g.schema(node.Attr(n, "itemtype"))
		return 0, 0, 0 // the classes of these elements describe the whole page: "has-sidebar", "no-comments"
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
	case atom.Legend:
		m = markClass
	case atom.Figcaption:
		if !ofWords(n.Parent) {
			m = markClass
		}
	case atom.Article:
		roots = hintArticle
	case atom.Main:
		roots = hintMain
	}
	for i := range n.Attr {
		value := n.Attr[i].Val
		switch n.Attr[i].Key {
		case "class", "data-role":
			if m |= classMark(value); m&markNav != 0 && kindOf(n) == heading {
				m &^= markNav // a class such as "below-navbar" says where the heading stays
			}
		case "id":
			if byID = classMark(value); byID != 0 && (kindOf(n) == heading || strings.ContainsAny(value, ",()[")) {
				byID = 0 // the id is made from a heading's text or a function's signature, as a link target
			}
		case "data-elementor-type": // set by the page builder Elementor to values like "footer" and "popup"
			m |= classMark(value)
		case "role":
			rm, rr := roleHints(value)
			m, roots = m|rm, roots|rr
		case "itemprop":
			if node.HasToken(value, "articleBody") {
				roots |= hintBody
			}
		case "itemtype":
			g.schema(value)
		case "hidden":
			if value != "until-found" { // text with hidden=until-found can be found with the browser's search, so it is content
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

// isNote reports whether an element has role=note, or a role of WAI-ARIA's publishing module such
// as doc-footnote. An <aside> with such a role belongs to the text.
func isNote(n *html.Node) bool {
	role := node.Attr(n, "role")
	return role == "note" || strings.HasPrefix(role, "doc-")
}

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

// inlineHidden reports whether n is an inline element that is not displayed, such as the name of an
// icon or a label for screen readers. Such an element is left out without the checks of prune,
// unless it contains block elements.
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
			hidden = hidden || screenReaderOnly(n.Attr[i].Val) || strings.HasSuffix(n.Attr[i].Val, "tooltiptext")
		case "role":
			hidden = hidden || n.Attr[i].Val == "tooltip"
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

// screenReaderOnly reports whether a class attribute contains a name that frameworks use for text
// that is read aloud but not displayed, or a name that generators use for links and line numbers
// that they add to a text.
func screenReaderOnly(class string) bool {
	for i := 0; i < len(class); i++ {
		if i > 0 && class[i-1] > ' ' {
			continue
		}
		switch class[i] { // a cheap test that most names fail
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

// ofWords reports whether a figure has words of its own, such as a listing or a table, beside its caption.
// The caption of a picture is seldom part of a text.
func ofWords(figure *html.Node) bool {
	left := 20 // a figure with many children is no listing
	for ch := figure.FirstChild; ch != nil && left > 0; ch = ch.NextSibling {
		left--
		of := ch
		if ch.DataAtom == atom.Div && ch.FirstChild != nil {
			if of = ch.FirstChild; of.Type == html.TextNode && of.NextSibling != nil {
				of = of.NextSibling
			}
		}
		switch of.DataAtom {
		case atom.Pre, atom.Table, atom.Blockquote, atom.Ul, atom.Ol, atom.Dl:
			return true
		}
	}
	return false
}
