package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
)

// # Pages that need scripts
//
// On some pages, scripts produce text that is not in the HTML. A page needs scripts if it has a
// script, its main text has fewer than fewWords words, and one of these conditions holds:
//
//   - [NeedsRoot]: the element into which a framework writes the page has fewer than drawnWords
//     words and no link, or <body> has no content at all, or the main text only asks to wait.
//   - [NeedsData]: the text is in JSON that the scripts of the page read.
//   - [NeedsNoscript]: a <noscript> child of <body> asks for JavaScript, and the page has no link
//     or fewer than drawnWords words of main text. Javadoc's notice does not count.
//
// If the server has rendered a page, the framework's element contains words. Such a page does not
// need scripts, even if it is short. Pages with more text are not examined.
//
// A text that asks to wait ends with an ellipsis, as "Loading…" does in most languages. It is no
// heading, unless it begins with "Loading". Or the page has an element that is busy (aria-busy), or
// shows progress.
//
// Known weaknesses: a short page with a script that says "Coming soon…" in a paragraph seems to need
// it. A page whose framework uses an element that is not in appRoots is not detected, unless the page
// is empty.

// These are the reasons why a page needs scripts; see [Document.Needs].
const (
	NeedsRoot     = "root"     // the element that scripts should fill is empty
	NeedsData     = "data"     // the text is only in JSON
	NeedsNoscript = "noscript" // the page asks users to enable scripts
)

const (
	fewWords   = 25 // a page with at least this many words of main text is not examined
	drawnWords = 5  // an element with fewer words, such as "Loading, please wait", has not been filled
	dataWords  = 8  // a string in JSON with at least this many words is running text
)

// javadocNotice is the <noscript> notice in manuals that javadoc generates, where only the search
// needs scripts.
const javadocNotice = "javascript is disabled on your browser"

// appRoots lists the ids of the elements into which frameworks write a page, according to their
// documentation: React and Vite, Vue, Next.js, Nuxt, Gatsby. Angular has its own element; see
// isAppRoot.
var appRoots = map[string]bool{"root": true, "app": true, "__next": true, "__nuxt": true, "___gatsby": true}

func isAppRoot(n *html.Node) bool { return n.Data == "app-root" || appRoots[node.Attr(n, "id")] }

type needing struct {
	script bool // the page has a script that a browser runs
	root   bool // the page has an element for the output of a framework; see appRoots
	drawn  bool // that element has content
	data   int  // number of words in the JSON of scripts
	asks   bool // a <noscript> in <body> asks for JavaScript
	busy   bool // an element says that its content is being loaded
}

// A content counts the visible content of an element, without running scripts.
type content struct {
	words, links int
	other        bool // an image, a form field, or another document
}

func needs(page *html.Node, d *Document) string {
	var see needing
	shows := see.shownBy(page)
	switch {
	case !see.script:
		return ""
	case isPlaceholder(d), see.busy && d.Words() < drawnWords:
		return NeedsRoot
	case see.drawn:
		return ""
	case see.root, shows == content{} && len(d.Links) == 0:
		return NeedsRoot
	case see.data >= fewWords:
		return NeedsData
	case see.asks && (d.Words() < drawnWords || shows.links == 0):
		return NeedsNoscript
	}
	return ""
}

// isPlaceholder reports whether a text of few words only asks to wait. The ellipsis of a heading may
// announce something, as in "Coming soon…".
func isPlaceholder(d *Document) bool {
	last := strings.ToLower(d.Text[strings.LastIndexByte(d.Text, '\n')+1:])
	heading := len(d.Headings) > 0 && d.Headings[len(d.Headings)-1].Level > 0 && d.Headings[len(d.Headings)-1].Line == strings.Count(d.Text, "\n")
	ellipsis := strings.HasSuffix(last, "…") || strings.HasSuffix(last, "...")
	return countWords(d.Text) < 2*drawnWords &&
		(last == "loading" || strings.HasPrefix(last, "please wait") || ellipsis && (!heading || strings.HasPrefix(last, "loading")))
}

// shownBy returns the visible content of an element, and records the evidence inside it. It may
// recurse, because the parser limits the depth of the tree.
func (see *needing) shownBy(n *html.Node) (shows content) {
	switch n.DataAtom {
	case atom.Script:
		see.add(n)
		return shows
	case atom.Noscript:
		if n.Parent.DataAtom == atom.Body {
			notice := strings.ToLower(node.Text(n))
			see.asks = see.asks || strings.Contains(notice, "javascript") && !strings.Contains(notice, javadocNotice)
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
	see.busy = see.busy || node.Attr(n, "aria-busy") == "true" || node.Attr(n, "role") == "progressbar"
	if n.Type == html.ElementNode && isAppRoot(n) {
		see.root = true
		see.drawn = see.drawn || shows.words >= drawnWords || shows.links > 0
	}
	return shows
}

// add records whether a <script> runs, or counts the running text if it is JSON.
func (see *needing) add(n *html.Node) {
	text := ""
	if n.FirstChild != nil {
		text = n.FirstChild.Data
	}
	switch strings.ToLower(strings.TrimSpace(node.Attr(n, "type"))) {
	case "", "module", "text/javascript", "application/javascript":
		see.script = see.script || node.Attr(n, "src") != "" || strings.TrimSpace(text) != ""
		if strings.Contains(text, "__NUXT__") {
			see.data += runningWords(text)
		}
	case "application/json":
		see.data += runningWords(text)
	}
}

// runningWords counts the words in the strings of JSON text. Strings of fewer than dataWords words
// are ignored.
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
