// Package extract turns the bytes of a page into its text: charset, title, links, language, and the
// main text without menus, sidebars and footers. It is pure: no network, disk, clock or log.
//
//	doc, err := extract.Parse(body, "text/html; charset=utf-8")
//	fmt.Println(doc.Title, doc.Lang, doc.Text)
//	for href, nofollow := range doc.Hrefs() { ... }
//
// Start with [Parse]. Its error is [ErrNotText] for an image or a program. So it is for a PDF, which
// package document reads. A page whose text is only in scripts gives a Document with an empty Text,
// which says so and is not an error.
//
// It does not run scripts, does not fetch what a page embeds, and does not resolve links: an
// address is handed on as written.
package extract

import (
	"errors"
	"iter"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"skink/internal/language"
)

// Document is what a page says, in the order its author wrote it.
type Document struct {
	Title       string // of <title>, else of og:title, else of the first <h1>
	TitleFrom   string // where Title is from, if not from <title>: "og:title" or "h1"
	SiteName    string // of og:site_name, else of application-name
	Description string // of the meta description, else of og:description
	SharedOnly  bool   // Description is of og:description
	Author      string // of the meta author, else as schema.org has it, in the page or beside it
	Published   string // as written, mostly ISO 8601: of a <meta>, schema.org or <time>
	Modified    string // the same for the last change
	Lang        string // primary subtag ("en"), "" if unknown

	DeclaredLang string // the same, as the page declares it; "" if it declares none
	Canonical    string // href of rel=canonical as written, "" if none; the first of several
	Base         string // <base href> as written, "" if none
	Charset      string // WHATWG name of the encoding the bytes were read with

	NoIndex, NoFollow bool           // what <meta name=robots> asks of everyone
	Asks              map[string]Ask // the same of one crawler, by its name in lower case

	H1         []string // what its <h1> say, empty ones too; at most 8, of at most 300 bytes
	Canonicals []string // href of each rel=canonical as written, each once; at most 8

	Links       []Link      // in document order, each href and rel once
	Embeds      []Embed     // files that the page is made of, each href once; only if asked for
	Alternates  []Alternate // the same page in other languages or forms, and feeds
	Prev, Next  string      // href of rel=prev and rel=next as written, "" if none
	Breadcrumbs []string    // the way to the page, from the outermost
	Images      []string    // alternative texts of pictures in the main text; only if asked for

	Text  string  // the main text, one block a line
	Words int     // of Text; in scripts without spaces, its characters
	Left  string  // running text that was left out of Text, one block a line; what Text repeats is not in it
	Root  string  // how the main text was found, one of the Root constants
	Sure  float64 // share of what could be in Text that it holds, 0 to 1; links are not counted

	Bound string // why no tree was built, one of the Bound constants; "": one was
	Needs string // why scripts draw the text, one of the Needs constants; "": they do not, as far as is known

	page   *marked // for WriteHTML and Markdown
	levels []int   // of FromBlocks: for each line of Text, the level of the heading that it is; 0: none
}

// HasText reports a page that can be compared. Menus alone, and a text that only scripts would
// write, are none.
func (d *Document) HasText() bool { return d.Root != RootNone }

// Hrefs yields what the page leads to, as written, and whether it says rel=nofollow: its links, the
// pages before and after it in a row, and itself in other languages. It yields nothing if the page
// asks everyone to follow nothing (NoFollow). Feeds that only its head names are left out: many
// sites have one for each page.
func (d *Document) Hrefs() iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		if d.NoFollow {
			return
		}
		for l := range d.AllLinks() {
			if !yield(l.Href, l.NoFollow) {
				return
			}
		}
	}
}

// AllLinks yields the links that Hrefs is made from, whether or not the page asks to follow them.
func (d *Document) AllLinks() iter.Seq[Link] {
	return func(yield func(Link) bool) {
		for _, l := range d.Links {
			if !yield(l) {
				return
			}
		}
		for _, href := range []string{d.Prev, d.Next} {
			if href != "" && !yield(Link{Href: href, By: ByNeighbour}) {
				return
			}
		}
		for _, a := range d.Alternates {
			if (a.Type == "" || a.Type == "text/html") && !yield(Link{Href: a.Href, By: ByAlternate}) {
				return
			}
		}
	}
}

// Alternate is what <link rel=alternate> names.
type Alternate struct {
	Href     string `json:"href"`               // as written
	Type     string `json:"type,omitempty"`     // media type; "" for a page
	Hreflang string `json:"hreflang,omitempty"` // language of the other page, or x-default
	Title    string `json:"title,omitempty"`
}

// Ask is what a page asks of a crawler.
type Ask struct{ NoIndex, NoFollow bool }

// Link is an address the page points to, by <a>, <area>, <iframe>, <frame> or <meta
// http-equiv=refresh>.
type Link struct {
	Href     string // as written, without the white space a browser ignores
	Rel      string // as written
	NoFollow bool   // rel holds nofollow
	By       By
	Text     string // its text on one line, or its picture's or label's; at most 100 bytes
}

// By says by what a page names an address.
type By string

const (
	ByAnchor    By = "link"      // <a>, <area>, the entry of a feed
	ByFrame     By = "frame"     // <iframe>, <frame>
	ByRefresh   By = "refresh"   // <meta http-equiv=refresh>
	ByNeighbour By = "neighbour" // rel=prev or rel=next of its head
	ByAlternate By = "alternate" // rel=alternate of its head

	ByImage  By = "image"  // <img>, a poster, an icon
	ByScript By = "script" // <script src>
	ByStyle  By = "style"  // <link rel=stylesheet>
	ByMedia  By = "media"  // <video>, <audio>, their <source> and <track>, <object>, <embed>
)

// Embed is a file that a browser fetches to show the page.
type Embed struct {
	Href string // as written, without the white space a browser ignores
	By   By     // ByImage, ByScript, ByStyle or ByMedia
	Alt  string // alternative text of a picture, on one line, at most 100 bytes
}

// How a main text was found. A page whose root changes from one visit to the next changes its text
// too, so the way is part of the answer.
const (
	RootArticleBody = "articleBody" // itemprop=articleBody
	RootArticle     = "article"     // the one <article>
	RootMain        = "main"        // <main> or role=main
	RootDescent     = "descent"     // the smallest element that holds most of the running text
	RootBody        = "body"        // no element stood out
	RootFallback    = "fallback"    // the filters left next to nothing, so all text that is shown
	RootPlain       = "plain"       // the whole plain text
	RootDocument    = "document"    // the whole text of a document that is not HTML, see [FromBlocks]
	RootStripped    = "stripped"    // no tree could be built: all text between tags
	RootNone        = "none"        // no text at all
)

// rootWords are those ways for people who do not know the rules: what the text was taken from.
var rootWords = map[string]string{
	RootArticleBody: "the element marked as the text of the article",
	RootArticle:     "the only article element",
	RootMain:        "the main element",
	RootDescent:     "the element with most of the running text",
	RootBody:        "the whole page: no element stands out",
	RootFallback:    "all visible text: little was left without menus",
	RootPlain:       "the whole plain text",
	RootDocument:    "the whole document",
	RootStripped:    "all text between the tags: the HTML could not be parsed",
}

// RootWords say what a main text was taken from that was found in some way; "" if nothing was taken.
func RootWords(root string) string { return rootWords[root] }

// Why a page has no tree, so that its text is all that stands between its tags.
const (
	BoundDepth = "depth" // more elements open at once than the parser's 512
	BoundTree  = "tree"  // its tree would be larger than Options.Tree
)

// ErrNotText says that a body is of a kind that has no text to extract.
var ErrNotText = errors.New("not a text page")

// Options ask for more than the text, or for less memory.
type Options struct {
	Images bool // collect the alternative texts of pictures
	Page   bool // keep the page for [Document.WriteHTML] and [Document.Markdown]
	Embeds bool // list what the page is made of

	Tree int64 // bytes that the page's tree may take, 0: [MaxTree]
}

// Parse reads a page. contentType is the Content-Type header as sent, "" if there was none.
//
// Of a feed, RSS or Atom, it gives the links to the entries' own pages together with [ErrNotText]:
// they are those pages' text.
func Parse(body []byte, contentType string) (*Document, error) {
	return Options{}.Parse(body, contentType)
}

// Parse is [Parse] with options.
func (o Options) Parse(body []byte, contentType string) (*Document, error) {
	media := MediaType(body, contentType)
	if isXML(media) {
		return feed(body), ErrNotText
	}
	if !isText(media) {
		return nil, ErrNotText
	}
	markup := isMarkup(media)
	text, charset := decode(body, contentType, markup)
	if !markup {
		return plain(text, charset), nil
	}

	d := &Document{Charset: charset}
	root, bound := o.tree(text, media)
	if root != nil {
		o.read(goquery.NewDocumentFromNode(root), d)
	} else {
		strip(text, d)
		d.Bound = bound
	}
	if d.Words = countWords(d.Text); root != nil && d.Words < fewWords {
		d.Needs = needs(root, d)
	}
	d.DeclaredLang, d.Lang = language.Primary(d.Lang), lang(d)
	return d, nil
}

// tree parses a page by what it was sent as. If no tree can be built of it, root is nil and bound
// says why.
func (o Options) tree(text []byte, media string) (root *html.Node, bound string) {
	limit := mostTree(len(text), o.Tree)
	if media == "application/xhtml+xml" {
		if root := xmlTree(text, limit); root != nil {
			return root, ""
		}
	}
	return tree(text, limit)
}

// tree parses a page as a browser without scripts would: with scripts on, everything in <noscript>
// would be one string of markup, and forums that keep whole threads there would lose them.
func tree(text []byte, limit int64) (root *html.Node, bound string) {
	// The parser gives up above 512 open elements, with an error. Should it ever panic instead,
	// that page is no reason for the crawl to end.
	defer func() {
		if recover() != nil {
			root, bound = nil, BoundDepth
		}
	}()
	root, err := parseWithin(text, limit)
	switch {
	case errors.Is(err, errOutgrown), errors.Is(err, errTangled):
		return nil, BoundTree
	case err != nil:
		return nil, BoundDepth
	}
	return root, ""
}

// read fills d from the tree, in one walk.
func (o Options) read(page *goquery.Document, d *Document) {
	s := walk(page.Nodes[0], d, o)
	s.findText(d)
	s.finish()
	if o.Page {
		d.page = &marked{page.Nodes[0], s}
		return
	}
	s.release()
}

// lang is the declared language, unless the script of the text contradicts it or its words surely
// do: templates declare "en" on pages in every language.
func lang(d *Document) string {
	declared := language.Primary(d.Lang)
	sample := d.Text
	if len(sample) < 200 {
		sample = strings.Join([]string{d.Title, d.Description, d.Text}, "\n")
	}
	found, sure := language.Detect(sample)
	if declared == "" || sure {
		if found != "" {
			return found
		}
	}
	return declared
}
