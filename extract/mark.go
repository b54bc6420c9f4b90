package extract

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"
)

type marked struct {
	root   *html.Node
	survey *survey
}

// placed is the position of a node's text. The words of a text node are text[from:to], in
// blocks[first:last]. For an image, first is the index of the open block, or of the next block if
// none was open.
type placed struct {
	node        *html.Node
	first, last int
	from, to    int
	elem        int32 // index in elems of the element around the node
}

// WriteHTML writes the page with its main text highlighted, and with the reason why the rest is not
// main text. The reader can jump to the main text, and can hide the rest. The page must have been
// parsed with [Options].Page; otherwise WriteHTML writes only Text. words is the number of words in
// the main text, which the output displays. WriteHTML returns the first error from w.
//
// The output is safe to open in a browser. Elements are written without their attributes. Elements
// that load, run or send something are left out. A content security policy forbids these actions as
// well. The output has the words of the page in order, but not its layout.
func (d *Document) WriteHTML(w io.Writer, words int) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, markedHead, html.EscapeString(d.Title), html.EscapeString(cmp.Or(d.Title, "Page without a title")))
	if d.Text == "" {
		fmt.Fprint(out, "<p>The page has no main text.</p>\n")
	} else {
		fmt.Fprintf(out, markedAbout, cmp.Or(RootWords(d.Root), "the page"), words)
	}
	fmt.Fprint(out, "</header>\n<main>\n")
	if d.page == nil {
		fmt.Fprintf(out, "<p><span class=taken id=text>%s</span></p>\n", strings.ReplaceAll(html.EscapeString(d.Text), "\n", "<br>\n"))
	} else {
		d.page.write(out)
	}
	fmt.Fprint(out, "\n</main></body></html>\n")
	return out.Flush()
}

// markedHead is the beginning of the output of WriteHTML. Each block of the page gets its direction
// from its own first letter, because attributes such as dir are not written.
const markedHead = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title dir="auto">%s</title>
<style>
:root { color-scheme: light dark; --paper: #fcfbf8; --ink: #22262b; --soft: #626a73; --line: #dfdcd4; --link: #1c5a8a; --text: #d3eadf; --suspect: #b4552d }
@media screen and (prefers-color-scheme: dark) {
:root { --paper: #16191c; --ink: #dfe2e4; --soft: #98a0a8; --line: #343a40; --link: #86bbe4; --text: #1d4438; --suspect: #cb6d45 }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: auto; padding: 1em; background: var(--paper); color: var(--soft); overflow-wrap: anywhere }
main * { unicode-bidi: plaintext }
main { overflow-x: auto }
pre { white-space: pre-wrap }
a { color: var(--link) }
.taken { background: var(--text); color: var(--ink) }
[title] { border-left: 3px solid var(--suspect); padding-left: .5em }
.about { border-bottom: 1px solid var(--line); margin-bottom: 1em; color: var(--ink) }
.about h1 { font-size: 1.3em; margin: 0 }
body:has(#only:checked) main :not(.taken, :has(.taken), br) { display: none }
@media print { .about a, .about label, .about input { display: none } }
</style></head><body>
<header class=about><h1><bdi>%s</bdi></h1>
`

const markedAbout = `<p>The main text was extracted from %s. It has %d words.
The main text has a green background. A red bar marks an element that a rule considers unlikely to be main text; the tooltip names the rule.</p>
<p><a href="#text">Go to the main text</a> <input type=checkbox id=only> <label for=only>Show only the main text</label></p>
`

func (m *marked) write(out *bufio.Writer) {
	at := map[*html.Node]*placed{}
	for i := range m.survey.placed {
		p := &m.survey.placed[i]
		at[p.node] = p
	}
	suspect := map[*html.Node]mark{}
	for i := range m.survey.elems {
		if e := &m.survey.elems[i]; e.mark != 0 {
			suspect[e.node] = e.mark
		}
	}
	id := " id=text" // attribute of the first marked text
	var write func(n *html.Node)
	write = func(n *html.Node) {
		name := safeElement(n)
		switch why := suspect[n].String(); {
		case n.Type == html.TextNode:
			if m.text(out, at[n], n.Data, id) {
				id = ""
			}
		case why != "" && name != "":
			fmt.Fprintf(out, "<%s title=%q>", name, why)
		case name != "":
			fmt.Fprintf(out, "<%s>", name)
		}
		if n.Type != html.ElementNode || kindOf(n) != skipped {
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				write(c)
			}
		}
		if name != "" && name != "br" {
			fmt.Fprintf(out, "</%s>", name)
		}
	}
	write(m.root)
}

// text writes data, the text of the node at position p. It marks main text with the attribute id,
// and reports whether it did.
func (m *marked) text(out *bufio.Writer, p *placed, data, id string) (taken bool) {
	for i := 0; p != nil && i < p.last-max(p.first, 0); i++ {
		taken = taken || m.survey.blocks[max(p.first, 0)+i].taken
	}
	data = html.EscapeString(strings.ToValidUTF8(data, "\ufffd"))
	switch {
	case strings.TrimSpace(data) == "":
		out.WriteString(data)
		return false
	case taken:
		fmt.Fprintf(out, "<span class=taken%s>%s</span>", id, data)
	default:
		fmt.Fprintf(out, "<span>%s</span>", data)
	}
	return taken
}

// safeElement returns the element name that WriteHTML writes for n, or "" if it writes only the
// element's content.
func safeElement(n *html.Node) string {
	if n.Type != html.ElementNode || n.Namespace != "" {
		return ""
	}
	switch kindOf(n) {
	case para, heading, item, list, table, row, cell, pre:
		switch n.Data {
		case "listing", "plaintext", "dir":
			return "div"
		}
		return n.Data
	case lineBreak:
		return "br"
	case group:
		switch n.Data {
		case "tbody", "thead", "tfoot":
			return n.Data
		case "html", "head", "body":
			return ""
		}
		return "div"
	}
	return ""
}

// String returns the names of the reasons in m, such as "navigation, hidden", for the tooltips of
// WriteHTML.
func (m mark) String() string {
	var all []string
	for i, name := range []string{"element without content", "hidden", "navigation", "class or id of boilerplate", "", "user details", "comments", "reviews", "byline", "signature", "call to action",
		"", "", "aside element", "class or id of a sidebar"} {
		if m&(1<<i) != 0 && name != "" {
			all = append(all, name)
		}
	}
	return strings.Join(all, ", ")
}
