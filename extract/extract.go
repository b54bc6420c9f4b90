// Package extract turns the bytes of a page into its text: charset, title, links, language, and the main text without
// menus, sidebars and footers. It is pure: no network, disk, clock or log.
//
//	doc, err := extract.Parse(body, "text/html; charset=utf-8")
//	fmt.Println(doc.Title, doc.Lang, doc.Text)
//	for href, nofollow := range doc.Hrefs() { ... }
//
// Start with [Parse]. What has no text, an image or a PDF, is [ErrNotText]; a page whose text is only in scripts gives a
// Document with an empty Text, which says so and is not an error.
//
// It does not run scripts, does not fetch what a page embeds, and does not resolve links: an address is handed on as written.
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
	SiteName    string // of og:site_name, else of application-name
	Description string // of the meta description, else of og:description
	Author      string // of the meta author, else as schema.org has it, in the page or beside it
	Published   string // as written, mostly ISO 8601: of article:published_time, else as schema.org has it, else of <time>
	Modified    string // the same for the last change
	Lang        string // primary subtag ("en"), "" if unknown
	Canonical   string // href of rel=canonical as written, "" if none
	Base        string // <base href> as written, "" if none
	Charset     string // WHATWG name of the encoding the bytes were read with

	NoIndex, NoFollow bool           // what <meta name=robots> asks of everyone
	Asks              map[string]Ask // what <meta name=CRAWLER> asks of one, by its name in lower case; nil: nothing

	Links       []Link      // in document order, each href and rel once
	Alternates  []Alternate // the same page in other languages or forms, and feeds
	Prev, Next  string      // href of rel=prev and rel=next as written, "" if none
	Breadcrumbs []string    // the way to the page, from the outermost, without the page itself where it is not named
	Images      []string    // alternative texts of the pictures in the main text, in order; only if asked for

	Text  string  // the main text, one block a line
	Words int     // of Text: runs between white space, and single characters of scripts that write none
	Root  string  // how the main text was found, one of the Root constants
	Sure  float64 // the share that Text holds of all that could be in it, which links, labels and repetitions are not, 0 to 1

	Bound string // why no tree was built of it, one of the Bound constants; "": there was no need to do without

	page *marked // for WriteHTML and Markdown
}

// HasText reports a page that can be compared. Menus alone, and a text that only scripts would write, are none.
func (d *Document) HasText() bool { return d.Root != RootNone }

// Hrefs yields what the page leads to, as written, and whether it says rel=nofollow: its links, the pages before and after
// it in a row, and itself in other languages. It yields nothing if the page asks everyone to follow nothing (NoFollow).
// Feeds that only its head names are left out: many sites have one for each page.
func (d *Document) Hrefs() iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		if d.NoFollow {
			return
		}
		for _, l := range d.Links {
			if !yield(l.Href, l.NoFollow) {
				return
			}
		}
		for _, href := range []string{d.Prev, d.Next} {
			if href != "" && !yield(href, false) {
				return
			}
		}
		for _, a := range d.Alternates {
			if (a.Type == "" || a.Type == "text/html") && !yield(a.Href, false) {
				return
			}
		}
	}
}

// Alternate is what <link rel=alternate> names.
type Alternate struct {
	Href     string `json:"href"`               // as written
	Type     string `json:"type,omitempty"`     // media type, such as application/rss+xml; "" for a page
	Hreflang string `json:"hreflang,omitempty"` // language of the other page, or x-default
	Title    string `json:"title,omitempty"`
}

// Ask is what a page asks of a crawler.
type Ask struct{ NoIndex, NoFollow bool }

// Link is an address the page points to, by <a>, <area>, <iframe>, <frame> or <meta http-equiv=refresh>.
type Link struct {
	Href     string // as written, without the white space a browser ignores
	Rel      string // as written
	NoFollow bool   // rel holds nofollow
}

// How a main text was found. A page whose root changes from one visit to the next changes its text too, so the way is
// part of the answer.
const (
	RootArticleBody = "articleBody" // itemprop=articleBody
	RootArticle     = "article"     // the one <article>
	RootMain        = "main"        // <main> or role=main
	RootDescent     = "descent"     // the smallest element that holds most of the running text
	RootBody        = "body"        // no element stood out
	RootFallback    = "fallback"    // the filters left next to nothing, so all text that is shown
	RootPlain       = "plain"       // a plain text, whole
	RootStripped    = "stripped"    // no tree could be built: all text between tags
	RootNone        = "none"        // no text at all
)

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

	Tree int64 // bytes that the page's tree may take, 0: [MaxTree]
}

// Parse reads a page. contentType is the Content-Type header as sent, "" if there was none.
//
// Of a feed, RSS or Atom, it gives the links to the entries' own pages together with [ErrNotText]: they are those pages' text.
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
	d.Words = countWords(d.Text)
	d.Lang = lang(d)
	return d, nil
}

// tree parses a page by what it was sent as. If no tree can be built of it, root is nil and bound says why.
func (o Options) tree(text []byte, media string) (root *html.Node, bound string) {
	limit := mostTree(len(text), o.Tree)
	if media == "application/xhtml+xml" {
		if root := xmlTree(text, limit); root != nil {
			return root, ""
		}
	}
	return tree(text, limit)
}

// tree parses a page as a browser without scripts would: with scripts on, everything in <noscript> would be one string
// of markup, and forums that keep whole threads there would lose them.
func tree(text []byte, limit int64) (root *html.Node, bound string) {
	// The parser gives up above 512 open elements, with an error. Should it ever panic instead, that page is no reason
	// for the crawl to end.
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

// lang is the declared language, unless the script of the text contradicts it or its words surely do: templates declare
// "en" on pages in every language.
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
