package document

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"strconv"

	"skink/extract"
)

// # ODT
//
// The format is OpenDocument 1.3, ISO/IEC 26300. Text of the following kinds is left out: deleted
// text, generated indexes, comments, names of images, page headers and page footers. Footnotes
// come after the text.

func (p *pack) odt() (*extract.Document, error) {
	if p.parts["META-INF/manifest.xml"] != nil {
		manifest, err := p.bytes("META-INF/manifest.xml")
		if err != nil {
			return nil, err
		}
		if bytes.Contains(manifest, []byte("encryption-data")) {
			return nil, ErrEncrypted
		}
	}
	d := &extract.Document{}
	meta, err := p.fields("meta.xml")
	if err != nil {
		return nil, err
	}
	d.Title, d.Author, d.Description = meta["title"], cmp.Or(meta["initial-creator"], meta["creator"]), meta["description"]
	d.Published, d.Modified = meta["creation-date"], meta["date"]
	if d.Lang = meta["language"]; d.Lang == "" {
		var styles openStyles
		if err := p.walk("styles.xml", &styles); err != nil && !errors.Is(err, errMissing) {
			return nil, err
		}
		d.Lang = styles.lang
	}
	text := &openText{blocks: blocks{maxText: p.maxText}}
	if err := p.walk("content.xml", text); err != nil {
		return nil, err
	}
	extract.FromBlocks(d, append(text.all, text.notes...))
	return d, nil
}

// openStyles parses the styles of an ODT file. lang is the first language they name.
type openStyles struct{ lang string }

func (s *openStyles) begin(_ string, attrs []xml.Attr) {
	if lang := attr(attrs, "language"); s.lang == "" && lang != "none" && lang != "zxx" {
		s.lang = lang
	}
}

func (s *openStyles) end(string)  {}
func (s *openStyles) text([]byte) {}
func (s *openStyles) err() error  { return nil }

type openText struct {
	blocks
	notes []extract.Block // footnotes and endnotes
	outer *blocks         // blocks of the text around the open note; nil if no note is open
	depth int             // number of open notes, which may be nested
}

// openMuted lists the ODT elements whose text is left out, such as deleted text and tables of
// contents.
var openMuted = map[string]bool{
	"tracked-changes": true, "annotation": true, "note-citation": true, "ruby-text": true, "title": true, "desc": true,
	"table-of-content": true, "illustration-index": true, "table-index": true, "object-index": true, "alphabetical-index": true,
}

func (o *openText) begin(name string, attrs []xml.Attr) {
	switch name {
	case "p":
		o.blocks.begin(0)
	case "h":
		level, _ := strconv.Atoi(attr(attrs, "outline-level"))
		o.blocks.begin(min(max(level, 1), 9))
	case "table-row":
		o.beginRow()
	case "s", "tab", "line-break":
		o.write(" ")
	case "note":
		if o.depth++; o.depth == 1 {
			outer := o.blocks
			o.outer, o.blocks = &outer, blocks{size: outer.size, maxText: outer.maxText, mute: outer.mute}
		}
	default:
		if openMuted[name] {
			o.mute++
		}
	}
}

func (o *openText) end(name string) {
	switch name {
	case "p", "h", "table-row":
		o.blocks.end()
	case "note":
		if o.depth--; o.depth == 0 {
			outer := o.outer
			o.notes = append(o.notes, o.all...)
			outer.size = o.size
			o.outer, o.blocks = nil, *outer
		}
	default:
		if openMuted[name] {
			o.mute--
		}
	}
}

func (o *openText) text(s []byte) { o.write(string(s)) }
