// Package extract turns the bytes of a page into its text: charset, title, links, language, and the
// main text without menus, sidebars and footers. It is pure: no network, disk, clock or log.
//
//	doc, err := extract.Parse(body, "text/html; charset=utf-8")
//	fmt.Println(doc.Title, doc.Lang, doc.Text)
//	fmt.Println(doc.Markdown(extract.MarkdownOptions{}))
//	for href, nofollow := range doc.Hrefs() { ... }
//
// Start with [Parse]. It returns [ErrNotText] for an image, a program or a PDF. Package document
// reads PDFs. If only scripts write the text of a page, Parse returns a Document with an empty Text
// and the Root [RootNone], and no error.
//
// The package does not run scripts, and does not fetch images or style sheets. It does not resolve
// links either: each address is returned as it is written in the page.
//
// The comments of this package use these terms:
//
//   - block: one line of the page's text, such as a paragraph, a heading, a list item or a table row.
//   - box: an element that begins and ends a line, such as <div> or <ul>, but not <b> or <a>.
//   - running text: blocks of at least ten words that have less than half of their bytes in links.
//   - weight: the number of bytes of text outside links; those of running text count eight times.
//   - root: the box that holds the main text. The rest of the page is boilerplate.
//   - mark: the reason why a box may be boilerplate, such as class="sidebar".
//   - dropped: not part of the main text. A taken block is part of it.
package extract

import (
	"encoding/json"
	"errors"
	"iter"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"skink/dedup/language"
	"skink/extract/markup"
	"skink/extract/selector"
	"skink/extract/tree"
)

// Document holds the text, metadata and links of a page. Links and other lists are in page order.
type Document struct {
	Title       string `json:"title"`                 // <title>, or else og:title, or else the first <h1>
	TitleFrom   string `json:"-"`                     // source of Title: "og:title" or "h1"; "" for <title>
	SiteName    string `json:"site_name,omitempty"`   // <meta> og:site_name or, if it is missing, application-name
	Description string `json:"description,omitempty"` // <meta> description or, if it is missing, og:description
	SharedOnly  bool   `json:"-"`                     // Description is from og:description, because the page has no <meta> description
	Author      string `json:"author,omitempty"`      // <meta> author or, if it is missing, the author in the page's schema.org data (JSON-LD)
	Published   string `json:"published,omitempty"`   // publication date as written in the page, usually ISO 8601; from <meta>, schema.org or <time>
	Modified    string `json:"modified,omitempty"`    // date of the last change, in the same form; from <meta> or schema.org
	Lang        string `json:"lang"`                  // language of the text as a primary subtag ("en"); "" if unknown

	DeclaredLang string `json:"-"`                   // language that the page declares, as a primary subtag; "" if none
	Canonical    string `json:"canonical,omitempty"` // href of the first rel=canonical as written; "" if none
	Base         string `json:"-"`                   // <base href> as written; "" if none
	Charset      string `json:"charset,omitempty"`   // WHATWG name of the encoding used to decode the page
	MediaType    string `json:"-"`                   // media type that [Parse] used to read the page; see [MediaType]

	NoIndex, NoFollow bool           `json:"-"` // the page asks every crawler for this in <meta name=robots>
	Asks              map[string]Ask `json:"-"` // requests to a single crawler, as in <meta name=googlebot>, by the crawler's name in lower case

	H1         []string `json:"-"` // text of each <h1> element, even if empty; at most 8, each cut to 300 bytes
	Canonicals []string `json:"-"` // distinct hrefs of rel=canonical as written; at most 8

	Links       []Link      `json:"-"`                     // links in document order; each pair of href and rel once
	Embeds      []Embed     `json:"-"`                     // images, scripts, styles and media, each href once; nil without Options.Embeds
	Alternates  []Alternate `json:"alternates,omitempty"`  // the <link rel=alternate> elements: feeds, and the page in other languages or formats
	Prev        string      `json:"prev,omitempty"`        // href of rel=prev as written; "" if none
	Next        string      `json:"next,omitempty"`        // href of rel=next as written; "" if none
	Breadcrumbs []string    `json:"breadcrumbs,omitempty"` // names of the pages above this one, top level first, as in "Home", "Shop", "Shoes"

	Text string `json:"text"` // the main text, one line for each block
	Left string `json:"-"`    // running text that is not in Text, one line for each block; lines that are also in Text are omitted
	Root string `json:"root"` // rule that found the main text, one of the Root constants

	Missing int `json:"-"` // number of chapters of a document that its file lacks, or that cannot be read; 0 for a page

	Bound string `json:"-"` // why the HTML was not parsed into a tree, one of the Bound constants; "" if it was parsed
	Needs string `json:"-"` // evidence that scripts produce the text, one of the Needs constants; "" if there is none

	Fields json.RawMessage `json:"fields,omitempty"` // an object with the fields of Options.Select; nil if none has a value
	Missed []string        `json:"-"`                // selectors of Options.Select that found nothing

	Markup markup.Facts `json:"-"` // faults of the HTML; the zero value without Options.Markup, and for plain text

	Headings []Heading `json:"-"` // the headings in Text, and its other lines to which a URL can lead, in order

	page *survey // for Markdown; nil without Options.Markdown
}

// HasText reports whether the page has text that can be compared with other pages. It is false for
// a page that has only menus, and for a page whose text is written only by scripts.
func (d *Document) HasText() bool { return d.Root != RootNone }

// Words returns the number of words in the text. In scripts without spaces, such as Chinese, each
// character counts as one word.
func (d *Document) Words() int { return countWords(d.Text) }

// Hrefs yields the addresses that the page links to, as written, and whether each has rel=nofollow.
// These are its links, rel=prev and rel=next, and its versions in other languages. Feeds in <link
// rel=alternate> are left out, because many sites have one for each page. Hrefs yields nothing if
// the page asks all crawlers not to follow its links (NoFollow).
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

// AllLinks yields the same addresses as Hrefs, but ignores NoFollow.
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

// Alternate describes a <link rel=alternate>.
type Alternate struct {
	Href     string `json:"href"`               // address as written
	Type     string `json:"type,omitempty"`     // media type; "" for a web page
	Hreflang string `json:"hreflang,omitempty"` // language of the other page, or "x-default"
	Title    string `json:"title,omitempty"`
}

// Ask holds a page's requests to a crawler: not to index the page, and not to follow its links.
type Ask struct{ NoIndex, NoFollow bool }

// Link is an address that the page links to, in <a>, <area>, <iframe>, <frame> or <meta
// http-equiv=refresh>.
type Link struct {
	Href     string // address as written, without the white space that browsers ignore
	Rel      string // rel attribute as written
	NoFollow bool   // the rel attribute contains nofollow
	By       By
	Text     string // different texts of the links with this Href and Rel, one a line; if a link has none, the alt of its image, its aria-label or its title; at most 100 bytes a line, and [MaxLinkTexts] in all
}

// By is the kind of element that contains an address.
type By string

const (
	ByAnchor    By = "link"      // <a>, <area>, or the entry of a feed
	ByFrame     By = "frame"     // <iframe>, <frame>
	ByRefresh   By = "refresh"   // <meta http-equiv=refresh>
	ByNeighbour By = "neighbour" // rel=prev or rel=next
	ByAlternate By = "alternate" // <link rel=alternate>

	ByImage  By = "image"  // <img>, a poster, an icon
	ByScript By = "script" // <script src>
	ByStyle  By = "style"  // <link rel=stylesheet>, or a file that a style in the page names
	ByMedia  By = "media"  // <video>, <audio>, their <source> and <track>, <object>, <embed>
)

// Embed is a file that a browser fetches to show the page.
type Embed struct {
	Href string // address as written, without the white space that browsers ignore
	By   By     // ByImage, ByScript, ByStyle or ByMedia
	Alt  string // alternative text of an image on one line, at most 100 bytes; "" if there is none
}

// These are the values of Document.Root, which describe the rule that found the main text. If the
// Root of a page changes between two visits, its Text has probably changed too, so stores keep this
// value.
const (
	RootArticleBody = "articleBody" // the element with itemprop=articleBody
	RootArticle     = "article"     // the only <article>, or the one with the headline or nearly all text
	RootMain        = "main"        // <main> or role=main
	RootDescent     = "descent"     // the smallest element that holds most of the running text
	RootBody        = "body"        // the whole page, because no smaller element holds most of the running text
	RootFallback    = "fallback"    // all text outside menus and elements marked as boilerplate, because the other rules left no text
	RootSelected    = "selected"    // the elements that Options.Select names
	RootPlain       = "plain"       // the whole plain text
	RootDocument    = "document"    // the whole text of a document that is not HTML; see [FromBlocks]
	RootStripped    = "stripped"    // all text between tags, because the HTML could not be parsed into a tree
	RootNone        = "none"        // the page has no text
)

var rootWords = map[string]string{
	RootArticleBody: "the element marked as the text of the article",
	RootArticle:     "the only article element",
	RootMain:        "the main element",
	RootDescent:     "the element that contains most of the running text",
	RootBody:        "the whole page, because no smaller element contains most of the running text",
	RootFallback:    "all visible text, because little was left after menus were removed",
	RootSelected:    "the elements that a selector names",
	RootPlain:       "the whole plain text",
	RootDocument:    "the whole document",
	RootStripped:    "all text between the tags: the HTML could not be parsed",
}

// RootWords describes a Root constant for a user, as in "the main element". It returns "" for
// [RootNone] and for unknown values.
func RootWords(root string) string { return rootWords[root] }

// These are the values of Document.Bound, which name the limit that prevented parsing the HTML into
// a tree. The Text of such a page is all text between its tags.
const (
	BoundDepth = "depth" // more elements are open at once than the parser's limit of 512
	BoundTree  = "tree"  // the tree would be larger than Options.Tree
)

// ErrNotText means that a body has no text to extract, for example because it is an image.
var ErrNotText = errors.New("the page is not text")

// MaxTree is the maximum size of the parsed tree in bytes, about a million nodes.
const MaxTree = tree.Max

// Options select the data that Parse collects in addition to the text, and limit the memory that it
// uses. The zero value collects nothing else.
type Options struct {
	Markdown   bool // keep what [Document.Markdown] needs, which makes Parse slower and uses more memory
	Embeds     bool // fill Document.Embeds
	Requisites bool // also add the files that styles in the page name, preloaded files, and parts of inline drawings; ignored if Embeds is not set
	Markup     bool // fill Document.Markup
	Anchors    bool // fill the anchors of Document.Markup; ignored if Markup is not set
	Verbatim   bool // Document.Text is plain text as it was, with its empty lines and white space; other text is not changed
	SkipLang   bool // leave Document.Lang empty for plain text; detecting its language takes most of the time

	Tree int64 // maximum size of the parsed tree in bytes; 0 means [MaxTree]

	Select selector.Rules // selectors for the main text and for fields of HTML

	without string // name of a rule that is left out; see Without
}

// Parse extracts the text, metadata and links of a page. contentType is the Content-Type header of
// the response, or "" if there was none. The error is [ErrNotText] if the body is not text. Parse is
// Options.Parse with [Options].Markdown.
func Parse(body []byte, contentType string) (*Document, error) {
	return Options{Markdown: true}.Parse(body, contentType)
}

// Parse is like the function [Parse], but with options.
func (o Options) Parse(body []byte, contentType string) (*Document, error) {
	media := MediaType(body, contentType)
	if !isText(media) {
		return nil, ErrNotText
	}
	markup := isMarkup(media)
	text, charset := decode(body, contentType, markup)
	if !markup {
		return o.plain(text, media, charset), nil
	}

	d := &Document{Charset: charset, MediaType: media}
	root, bound := o.tree(text, media)
	if root != nil {
		o.read(goquery.NewDocumentFromNode(root), d)
	} else {
		strip(text, d)
		d.Bound = bound
	}
	if root != nil && d.Root != RootSelected && d.Words() < fewWords {
		d.Needs = needs(root, d)
	}
	d.DeclaredLang, d.Lang = language.Primary(d.Lang), lang(d)
	return d, nil
}

// tree parses a page as XML if it was sent as XHTML and is well-formed, and otherwise as HTML. If
// it cannot build a tree, root is nil and bound is a Bound constant.
func (o Options) tree(text []byte, media string) (root *html.Node, bound string) {
	limit := tree.Limit(len(text), o.Tree)
	if media == "application/xhtml+xml" {
		if root := tree.XHTML(text, limit); root != nil {
			return root, ""
		}
	}
	root, err := tree.HTML(text, limit)
	switch {
	case errors.Is(err, tree.ErrLarge):
		return nil, BoundTree
	case err != nil:
		return nil, BoundDepth
	}
	return root, ""
}

func (o Options) read(page *goquery.Document, d *Document) {
	if o.Markup {
		d.Markup = markup.Read(page.Nodes[0], markup.Options{Anchors: o.Anchors})
	}
	s := walk(page.Nodes[0], d, o)
	s.findText(d)
	s.finish()
	if len(o.Select) > 0 {
		s = s.choose(page.Nodes[0])
	}
	if o.Markdown {
		d.page = s
		return
	}
	s.release()
}

// choose applies the selectors of the options. If they change the main text, choose removes what they leave out from the
// page and surveys it again. Links and metadata are those of the whole page.
func (s *survey) choose(root *html.Node) *survey {
	parts := s.opt.Select.Read(root, says)
	d := s.doc
	d.Fields, d.Missed = parts.Fields, parts.Missed
	if len(parts.Main)+len(parts.Drop) == 0 {
		return s
	}
	var text Document
	chosen := walk(parts.Cut(root), &text, s.opt)
	if len(parts.Main) == 0 {
		chosen.findText(&text)
	} else { // all blocks that a browser shows, whatever the rules say
		for _, e := range chosen.elems {
			if e.mark&(markHidden|markPanel) == markHidden {
				chosen.drop(e.first, e.last)
			}
		}
		text.Text, text.Root = chosen.take(0, int32(len(chosen.blocks))), RootSelected
	}
	if chosen.finish(); text.Text == "" {
		chosen.release()
		return s
	}
	d.Text, d.Left, d.Root, d.Headings = text.Text, text.Left, text.Root, text.Headings
	s.release()
	return chosen
}

// lang returns the language of a document. The declared language is used, unless the script or the
// words of the text clearly contradict it. Some templates declare "en" on pages in every language.
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

// Version is the version of the rules that find the main text. Increase it with each change that
// gives some page a different text. Stores save the version with each text.
const Version = 23

// A Block is a paragraph, a heading, a list item or a table row of a document that is not HTML,
// such as a PDF.
type Block struct {
	Text  string
	Level int // heading level, from 1; 0 if the block is not a heading
}

// FromBlocks fills d with the text of a document, such as a PDF, that another package has read. The
// caller sets the metadata of d. FromBlocks sets Title if it is empty, and the fields that depend
// on the text, such as Words. The whole text is the main text.
func FromBlocks(d *Document, blocks []Block) {
	var w writer
	for _, b := range blocks {
		before := len(w.blocks)
		w.write(b.Text)
		w.flush()
		if len(w.blocks) == before { // the text had only white space or invisible characters
			continue
		}
		if b.Level > 0 {
			d.Headings = append(d.Headings, Heading{Line: before, Level: min(b.Level, 6)})
		}
		if b.Level == 1 && len(d.H1) < maxHeadings {
			d.H1 = append(d.H1, oneLineOf(b.Text, maxHeading))
		}
	}
	d.Text = joinBlocks(&w, nil)
	d.Root = RootDocument
	if d.Text == "" {
		d.Root = RootNone
	}
	d.Title, d.Author, d.Description = oneSpace(d.Title), oneSpace(d.Author), oneSpace(d.Description)
	if d.Title == "" && len(d.H1) > 0 {
		d.Title, d.TitleFrom = d.H1[0], "h1"
	}
	d.DeclaredLang, d.Lang = language.Primary(d.Lang), lang(d)
}
