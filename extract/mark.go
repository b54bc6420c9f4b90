package extract

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"
)

// marked is the parsed page and its survey, kept for WriteHTML and Markdown.
type marked struct {
	root   *html.Node
	survey *survey
}

// placed records the position of the text of a node. The words of a text node are text[from:to], in
// blocks[first:last]. For a picture, first is the index of the open block, or of the next block if
// none was open.
type placed struct {
	node        *html.Node
	first, last int
	from, to    int
	elem        int32 // index in elems of the element around the node
}

// WriteHTML writes the page with its main text highlighted, and with the reason why the rest is not
// main text. The page must have been parsed with [Options].Page; otherwise WriteHTML writes Text
// alone. The error is that of w.
//
// The output is safe to open in a browser. Elements are written without their attributes. Elements
// that load, run or send something are left out. A content security policy forbids these actions as
// well. The output has the words of the page in order, but not its layout.
func (d *Document) WriteHTML(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, markedHead, html.EscapeString(d.Title), html.EscapeString(d.Title), cmp.Or(RootWords(d.Root), "nothing: there is no text"), d.Words(), d.Sure*100)
	if d.page == nil {
		fmt.Fprintf(out, "<p class=taken>%s</p>\n", strings.ReplaceAll(html.EscapeString(d.Text), "\n", "<br>\n"))
	} else {
		d.page.write(out)
	}
	fmt.Fprint(out, "\n</body></html>\n")
	return out.Flush()
}

const markedHead = `<!doctype html>
<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>%s</title>
<style>
body { font: 16px/1.5 sans-serif; max-width: 60em; margin: auto; padding: 1em; color: #777 }
.taken { background: #dfd; color: #000 }
[title] { border-left: 3px solid #e99; padding-left: .5em }
.about { border-bottom: 1px solid #777; color: #000 }
</style></head><body>
<p class=about><b>%s</b><br>main text from %s; words: %d; share of all text: %.0f %%.
Extracted text is green. A red bar marks an element that a rule suspects not to be main text; the tooltip names the rule.</p>
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
	leave := func(n *html.Node) {
		if name := safeElement(n); name != "" && name != "br" {
			fmt.Fprintf(out, "</%s>", name)
		}
	}
	n := m.root
	for {
		enter := true
		switch n.Type {
		case html.ElementNode:
			name := safeElement(n)
			enter = kindOf(n) != skipped
			if why := suspect[n].String(); why != "" && name != "" {
				fmt.Fprintf(out, "<%s title=%q>", name, why)
			} else if name != "" {
				fmt.Fprintf(out, "<%s>", name)
			}
		case html.TextNode:
			m.text(out, at[n], n.Data)
		}
		if enter && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for leave(n); n != m.root && n.NextSibling == nil; leave(n) {
			n = n.Parent
		}
		if n == m.root {
			return
		}
		n = n.NextSibling
	}
}

func (m *marked) text(out *bufio.Writer, p *placed, data string) {
	taken := false
	for i := 0; p != nil && i < p.last-max(p.first, 0); i++ {
		taken = taken || m.survey.blocks[max(p.first, 0)+i].taken
	}
	data = html.EscapeString(strings.ToValidUTF8(data, "\ufffd"))
	if taken && strings.TrimSpace(data) != "" {
		fmt.Fprintf(out, "<span class=taken>%s</span>", data)
		return
	}
	out.WriteString(data)
}

// safeElement returns the element name that WriteHTML writes for n. It returns "" if only the
// element's content is written.
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
