package document

import (
	"encoding/xml"
	"errors"
	"maps"
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
// order (linear="no"). Chapters that the file lacks, and chapters that are not HTML, are counted.

const (
	chapterTree = 16 << 20 // maximum size of a chapter's HTML tree in bytes; for a larger chapter, all text between its tags is used
	maxSpine    = 10_000   // maximum number of chapters that are read
)

// epubMain is the part that names the book's package document.
const epubMain = "META-INF/container.xml"

func (p *pack) epub(ask extract.Options) (*extract.Document, error) {
	root := "" // name of the package document
	err := p.walk(epubMain, elements(func(name string, attrs []xml.Attr) {
		if name == "rootfile" && root == "" {
			root = attr(attrs, "full-path")
		}
	}))
	if err != nil {
		return nil, err
	}
	book := &epubBook{items: map[string]epubItem{}, fields: fields{values: map[string]string{}}}
	if err := p.walk(root, book); err != nil {
		return nil, err
	}
	var locked []string // names of the encrypted parts
	err = p.walk("META-INF/encryption.xml", elements(func(name string, attrs []xml.Attr) {
		if uri, err := url.PathUnescape(attr(attrs, "URI")); name == "CipherReference" && err == nil && len(locked) < maxParts {
			locked = append(locked, path.Clean(strings.TrimPrefix(uri, "/")))
		}
	}))
	if err != nil && !errors.Is(err, errMissing) {
		return nil, err
	}
	values := book.values
	d := &extract.Document{
		Title: values["title"], Author: values["creator"], Description: values["description"], Lang: values["language"],
		Published: values["date"], Modified: book.modified,
	}
	names, missing := book.chapters(p.finder(path.Dir(root)))
	d.Missing = missing
	ask.Markdown, ask.Embeds, ask.Tree = false, false, chapterTree
	return d, p.readChapters(d, ask, names, locked)
}

// readChapters adds the text of the named chapters to d. It counts the chapters that are not HTML
// pages in d.Missing.
func (p *pack) readChapters(d *extract.Document, ask extract.Options, names, locked []string) error {
	var all []extract.Block
	var left []string
	size := 0
	for _, name := range names {
		if slices.ContainsFunc(locked, func(part string) bool { return strings.EqualFold(part, name) }) {
			return ErrEncrypted
		}
		body, err := p.bytes(name)
		if err != nil {
			return err
		}
		chapter, err := ask.Parse(body, "application/xhtml+xml")
		if err != nil { // the chapter is not an HTML page
			d.Missing++
			continue
		}
		if size += len(chapter.Text) + len(chapter.Left); size > p.maxText {
			return tooMuch(p.maxText)
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
	return nil
}

// finder returns a function that finds the part for the href of an item, or "" if there is none.
// dir is the folder of the package document. Many books have hrefs with a fragment, with another
// case than the name of the part, or with a percent sign that is not escaped.
func (p *pack) finder(dir string) func(href string) string {
	folded := map[string]string{}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(p.parts))) {
		folded[strings.ToLower(name)] = name
	}
	return func(href string) string {
		file, _, _ := strings.Cut(href, "#")
		for _, ref := range []string{file, href} {
			if plain, err := url.PathUnescape(ref); err == nil {
				ref = plain
			}
			name := strings.TrimPrefix(path.Join(dir, ref), "/")
			if p.parts[name] != nil {
				return name
			}
			if other := folded[strings.ToLower(name)]; other != "" {
				return other
			}
		}
		return ""
	}
}

type epubItem struct {
	href string
	page bool // the file is a chapter in HTML
	lost bool // the file is a chapter that is not HTML; false for an image and a table of contents
}

func epubItemOf(attrs []xml.Attr) epubItem {
	media, _, _ := strings.Cut(strings.ToLower(attr(attrs, "media-type")), ";")
	media = strings.TrimSpace(media)
	text := !slices.Contains(strings.Fields(attr(attrs, "properties")), "nav") && media != "application/x-dtbncx+xml" && !strings.HasPrefix(media, "image/")
	html := media == "application/xhtml+xml" || media == "text/html" || media == "text/x-oeb1-document"
	return epubItem{href: attr(attrs, "href"), page: text && html, lost: text && !html}
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
		b.items[attr(attrs, "id")] = epubItemOf(attrs)
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

// chapters returns the names of the chapters' parts in reading order, each once. It also returns
// the number of chapters that the package lacks or that are not HTML. find is as from finder.
func (b *epubBook) chapters(find func(href string) string) (names []string, missing int) {
	seen := map[string]bool{}
	for _, id := range b.spine {
		item, listed := b.items[id]
		if listed && !item.page && !item.lost || seen["id "+id] {
			continue
		}
		seen["id "+id] = true
		name := ""
		if item.page {
			name = find(item.href)
		}
		switch {
		case name == "":
			missing++
		case !seen["part "+name]:
			seen["part "+name] = true
			names = append(names, name)
		}
	}
	return names, missing
}
