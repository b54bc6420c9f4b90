package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// # Pages that need scripts
//
// A browser shows more of some pages than their HTML says: scripts draw the rest. A page needs scripts
// if its main text has fewer than fewWords words, if it has a script, and if one of these holds:
//
//   - [NeedsRoot]: the element into which a framework draws is empty, or all of <body> is. Empty means
//     fewer than drawnWords words, and no link.
//   - [NeedsData]: its texts are in JSON that its scripts read.
//   - [NeedsNoscript]: a <noscript> right below <body> asks for JavaScript.
//
// A page that is drawn on the server has words in that element, and then it needs nothing, however
// short it is. Pages with a longer text are not looked at.
//
// Known weaknesses: a page that the server draws in part, with "Loading" in place of its text, is not
// found. Neither is one whose framework has an element that is not in appRoots, unless the page is
// empty.

// Why a page needs scripts, see [Document.Needs].
const (
	NeedsRoot     = "root"     // the element that scripts fill is empty
	NeedsData     = "data"     // the text is only in JSON
	NeedsNoscript = "noscript" // the page asks for scripts
)

const (
	fewWords   = 25 // pages with at least so many words of main text are not examined
	drawnWords = 5  // an element with fewer words was not drawn: "Loading, please wait"
	dataWords  = 8  // words of a string in JSON that is running text
)

// appRoots are the ids of elements into which frameworks draw a page, as their documentation has it:
// React and Vite, Vue, Next.js, Nuxt, Gatsby. Angular has an element of its own, see isAppRoot.
var appRoots = map[string]bool{"root": true, "app": true, "__next": true, "__nuxt": true, "___gatsby": true}

func isAppRoot(n *html.Node) bool { return n.Data == "app-root" || appRoots[attr(n, "id")] }

// A needing collects the evidence in a page.
type needing struct {
	script bool // the page has a script that a browser runs
	root   bool // it has an element into which a framework draws, see appRoots
	drawn  bool // that element has content
	data   int  // words in the JSON of scripts
	asks   bool // a <noscript> in <body> asks for JavaScript
}

// A content is what a browser without scripts shows of an element.
type content struct {
	words, links int
	other        bool // a picture, a field, another document
}

// needs returns why a page with few words needs scripts, or "" if it does not.
func needs(page *html.Node, d *Document) string {
	var see needing
	shows := see.shownBy(page)
	switch {
	case !see.script || see.drawn:
		return ""
	case see.root, shows == content{} && len(d.Links) == 0:
		return NeedsRoot
	case see.data >= fewWords:
		return NeedsData
	case see.asks:
		return NeedsNoscript
	}
	return ""
}

// shownBy returns what an element shows, and records the evidence inside it. It recurses, because the
// parser limits the depth of the tree.
func (see *needing) shownBy(n *html.Node) (shows content) {
	switch n.DataAtom {
	case atom.Script:
		see.add(n)
		return shows
	case atom.Noscript:
		if n.Parent.DataAtom == atom.Body {
			see.asks = see.asks || strings.Contains(strings.ToLower(allText(n)), "javascript")
		}
		return shows
	case atom.Head:
		for c := range n.ChildNodes() {
			see.shownBy(c)
		}
		return shows
	case atom.Template, atom.Style:
		return shows
	case atom.A:
		shows.links++
	case atom.Img, atom.Svg, atom.Canvas, atom.Video, atom.Audio, atom.Object, atom.Embed, atom.Iframe, atom.Frame, atom.Input, atom.Textarea, atom.Select:
		shows.other = true
	}
	for c := range n.ChildNodes() {
		if c.Type == html.TextNode {
			shows.words += countWords(c.Data)
			continue
		}
		in := see.shownBy(c)
		shows.words, shows.links, shows.other = shows.words+in.words, shows.links+in.links, shows.other || in.other
	}
	if n.Type == html.ElementNode && isAppRoot(n) {
		see.root = true
		see.drawn = see.drawn || shows.words >= drawnWords || shows.links > 0
	}
	return shows
}

// add records the evidence of a <script>: that it runs, or that it is JSON with running text.
func (see *needing) add(n *html.Node) {
	text := ""
	if n.FirstChild != nil {
		text = n.FirstChild.Data
	}
	switch strings.ToLower(strings.TrimSpace(attr(n, "type"))) {
	case "", "module", "text/javascript", "application/javascript":
		see.script = see.script || attr(n, "src") != "" || strings.TrimSpace(text) != ""
		if strings.Contains(text, "__NUXT__") {
			see.data += runningWords(text)
		}
	case "application/json":
		see.data += runningWords(text)
	}
}

// runningWords counts the words in JSON, in strings of at least dataWords words.
func runningWords(json string) (words int) {
	for {
		begin := strings.IndexByte(json, '"')
		if begin < 0 {
			return words
		}
		json = json[begin+1:]
		end := 0
		for end < len(json) && json[end] != '"' {
			if json[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(json))
		if n := countWords(json[:end]); n >= dataWords {
			words += n
		}
		json = json[min(end+1, len(json)):]
	}
}

// allText returns the text in an element.
func allText(root *html.Node) string {
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}
