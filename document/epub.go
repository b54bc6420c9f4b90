package document

import (
	"encoding/xml"
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"

	"skink/extract"
)

// # EPUB
//
// The formats are EPUB 3.3 and EPUB 2. The chapters are HTML pages, which are extracted in the
// order of the spine. The table of contents is left out, and so are chapters outside the reading
// order (linear="no").

const (
	chapterTree = 16 << 20 // maximum size of a chapter's HTML tree in bytes; for a larger chapter, all text between its tags is used
	maxSpine    = 10_000   // maximum number of chapters that are read
)

// epubMain is the part that names the book's package document.
const epubMain = "META-INF/container.xml"

func (p *pack) epub(ask extract.Options) (*extract.Document, error) {
	var container epubContainer
	if err := p.walk(epubMain, &container); err != nil {
		return nil, err
	}
	book := &epubBook{items: map[string]epubItem{}, fields: fields{values: map[string]string{}}}
	if err := p.walk(container.root, book); err != nil {
		return nil, err
	}
	locked := epubLocks{}
	if err := p.walk("META-INF/encryption.xml", &locked); err != nil && !errors.Is(err, errMissing) {
		return nil, err
	}
	values := book.values
	d := &extract.Document{
		Title: values["title"], Author: values["creator"], Description: values["description"], Lang: values["language"],
		Published: values["date"], Modified: book.modified,
	}
	ask.Page, ask.Embeds, ask.Tree = false, false, chapterTree
	var all []extract.Block
	var left []string
	size := 0
	for _, name := range book.chapters(path.Dir(container.root)) {
		if slices.Contains(locked.parts, name) {
			return nil, ErrEncrypted
		}
		body, err := p.bytes(name)
		if errors.Is(err, errMissing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		chapter, err := ask.Parse(body, "application/xhtml+xml")
		if err != nil { // the chapter is not an HTML page
			continue
		}
		if size += len(chapter.Text) + len(chapter.Left); size > p.maxText {
			return nil, tooMuch(p.maxText)
		}
		if chapter.Left != "" {
			left = append(left, chapter.Left)
		}
		for line := range strings.SplitSeq(chapter.Text, "\n") {
			b := extract.Block{Text: line}
			if slices.Contains(chapter.H1, line) {
				b.Level = 1
			}
			all = append(all, b)
		}
	}
	d.Left = strings.Join(left, "\n")
	extract.FromBlocks(d, all)
	return d, nil
}

// An epubContainer parses the part epubMain. root is the name of the package document.
type epubContainer struct{ root string }

func (c *epubContainer) begin(name string, attrs []xml.Attr) {
	if name == "rootfile" && c.root == "" {
		c.root = attr(attrs, "full-path")
	}
}

func (c *epubContainer) end(string)  {}
func (c *epubContainer) text([]byte) {}
func (c *epubContainer) err() error  { return nil }

type epubItem struct {
	href string
	page bool // the file is a chapter, not an image or a table of contents
}

type epubBook struct {
	fields
	items    map[string]epubItem
	spine    []string // ids of items in reading order
	isDate   bool     // the open element contains the date of the last change
	modified string
}

func (b *epubBook) begin(name string, attrs []xml.Attr) {
	b.fields.begin(name, attrs)
	b.isDate = name == "meta" && attr(attrs, "property") == "dcterms:modified"
	switch name {
	case "item":
		media := attr(attrs, "media-type")
		b.items[attr(attrs, "id")] = epubItem{
			href: attr(attrs, "href"),
			page: (media == "application/xhtml+xml" || media == "text/html") && !slices.Contains(strings.Fields(attr(attrs, "properties")), "nav"),
		}
	case "itemref":
		if attr(attrs, "linear") != "no" {
			b.spine = append(b.spine, attr(attrs, "idref"))
		}
	}
}

func (b *epubBook) end(name string) {
	if b.isDate && b.modified == "" {
		b.modified = strings.TrimSpace(b.now.String())
	}
	b.isDate = false
	b.fields.end(name)
}

func (b *epubBook) err() error {
	if len(b.items) > maxParts || len(b.spine) > maxSpine {
		return ErrTooLarge
	}
	return nil
}

// chapters returns the file names of the chapters in reading order, each once. dir is the folder of
// the package document.
func (b *epubBook) chapters(dir string) (names []string) {
	seen := map[string]bool{}
	for _, id := range b.spine {
		item := b.items[id]
		href, err := url.PathUnescape(item.href)
		name := path.Join(dir, href)
		if err == nil && item.page && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// An epubLocks collects the names of the encrypted parts. Most books with encrypted parts encrypt
// only their fonts.
type epubLocks struct{ parts []string }

func (l *epubLocks) begin(name string, attrs []xml.Attr) {
	if name == "CipherReference" {
		if uri, err := url.PathUnescape(attr(attrs, "URI")); err == nil && len(l.parts) < maxParts {
			l.parts = append(l.parts, path.Clean(strings.TrimPrefix(uri, "/")))
		}
	}
}

func (l *epubLocks) end(string)  {}
func (l *epubLocks) text([]byte) {}
func (l *epubLocks) err() error  { return nil }
