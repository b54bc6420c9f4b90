package document

import (
	"cmp"
	"encoding/xml"
	"errors"
	"path"
	"strconv"
	"strings"

	"skink/extract"
)

// # DOCX
//
// The format is that of ECMA-376, part 1. A paragraph is a heading if it has an outline level, or
// if its style is called "heading 1" or the like. These names are the same in all languages. Text
// of the following kinds is left out: deleted text, tables of contents, field codes, the older of
// two versions of a drawing, page headers, page footers and comments. Footnotes and endnotes come
// after the text.

//
// The relationships of the package name its main part, which some programs call
// word/document2.xml, and those of the main part name the others.

// wordMain is the main part of a file without relationships.
const wordMain = "word/document.xml"

// A wordParts maps the last word of a relationship's type, such as "styles", to the target.
type wordParts map[string]string

func (w wordParts) begin(name string, attrs []xml.Attr) {
	if kind := path.Base(attr(attrs, "Type")); name == "Relationship" && w[kind] == "" {
		w[kind] = attr(attrs, "Target")
	}
}

// wordParts returns the names of the main part and of the parts that it refers to.
func (p *pack) wordParts() (main string, parts wordParts, err error) {
	parts = wordParts{"styles": "styles.xml", "footnotes": "footnotes.xml", "endnotes": "endnotes.xml"}
	top, own := wordParts{}, wordParts{}
	if err := p.walk("_rels/.rels", elements(top.begin)); err != nil && !errors.Is(err, errMissing) {
		return "", nil, err
	}
	main = strings.TrimPrefix(cmp.Or(top["officeDocument"], wordMain), "/")
	dir, file := path.Split(main)
	if err := p.walk(dir+"_rels/"+file+".rels", elements(own.begin)); err != nil && !errors.Is(err, errMissing) {
		return "", nil, err
	}
	for kind, name := range parts {
		if name = cmp.Or(own[kind], name); !strings.HasPrefix(name, "/") {
			name = dir + name
		}
		parts[kind] = name
	}
	return main, parts, nil
}

func (p *pack) docx() (*extract.Document, error) {
	d := &extract.Document{}
	main, parts, err := p.wordParts()
	if err != nil {
		return nil, err
	}
	styles := wordStyles{levels: map[string]int{}, based: map[string]string{}, contents: map[string]bool{}}
	if err := p.walk(parts["styles"], elements(styles.begin)); err != nil && !errors.Is(err, errMissing) {
		return nil, err
	}
	core, err := p.fields("docProps/core.xml")
	if err != nil {
		return nil, err
	}
	d.Title, d.Author, d.Description = core["title"], core["creator"], core["description"]
	d.Published, d.Modified = core["created"], core["modified"]
	if d.Lang = core["language"]; d.Lang == "" {
		d.Lang = styles.lang
	}
	text := &wordText{styles: &styles, blocks: blocks{maxText: p.maxText}}
	for _, part := range []string{main, parts["footnotes"], parts["endnotes"]} {
		if err := p.walk(part, text); err != nil && (part == main || !errors.Is(err, errMissing)) {
			return nil, err
		}
	}
	extract.FromBlocks(d, text.all)
	return d, nil
}

// wordStyles holds the styles of a DOCX file that affect its text, by style id.
type wordStyles struct {
	levels   map[string]int    // levels of the heading styles
	based    map[string]string // the style that each style inherits from
	contents map[string]bool   // the styles for lines of a table of contents
	lang     string
	id       string // id of the style being read
}

func (s *wordStyles) begin(name string, attrs []xml.Attr) {
	val := attr(attrs, "val")
	switch name {
	case "style":
		s.id = attr(attrs, "styleId")
	case "name":
		lower := strings.ToLower(val)
		if level, ok := strings.CutPrefix(lower, "heading "); ok {
			s.levels[s.id], _ = strconv.Atoi(level)
		}
		if lower == "title" {
			s.levels[s.id] = 1
		}
		s.contents[s.id] = strings.HasPrefix(lower, "toc ")
	case "basedOn":
		s.based[s.id] = val
	case "outlineLvl":
		if s.levels[s.id] == 0 {
			s.levels[s.id] = outlineLevel(val)
		}
	case "lang":
		if s.lang == "" {
			s.lang = val
		}
	}
}

// level returns the heading level of paragraphs with the given style (1 for the highest), or 0 if
// they are not headings.
func (s *wordStyles) level(id string) int {
	for range 8 { // damaged styles may inherit from each other in a cycle
		if level := s.levels[id]; level > 0 {
			return level
		}
		id = s.based[id]
	}
	return 0
}

// outlineLevel returns the heading level for an outline level in a DOCX file: 1 for "0", and so on
// up to 9 for "8". It returns 0 for "9", which means running text, and for malformed values.
func outlineLevel(val string) int {
	if n, err := strconv.Atoi(val); err == nil && 0 <= n && n < 9 {
		return n + 1
	}
	return 0
}

type wordText struct {
	blocks
	styles *wordStyles
	inText bool
	sdt    []bool // for each open content control (w:sdt element), whether it contains a table of contents
}

// wordMuted lists the DOCX elements whose text is left out, such as deleted text.
var wordMuted = map[string]bool{"del": true, "moveFrom": true, "Fallback": true, "rt": true}

func (w *wordText) begin(name string, attrs []xml.Attr) {
	switch name {
	case "p":
		w.blocks.begin(0)
	case "tr":
		w.beginRow()
	case "pStyle":
		id := attr(attrs, "val")
		if n := len(w.open); n > 0 {
			w.open[n-1].level, w.open[n-1].skip = w.styles.level(id), w.styles.contents[id]
		}
	case "outlineLvl":
		if n := len(w.open); n > 0 && w.open[n-1].level == 0 {
			w.open[n-1].level = outlineLevel(attr(attrs, "val"))
		}
	case "t":
		w.inText = true
	case "tab", "br", "cr":
		w.write(" ")
	case "noBreakHyphen":
		w.write("-")
	case "sdt":
		w.sdt = append(w.sdt, false)
	case "docPartGallery":
		if n := len(w.sdt); n > 0 && !w.sdt[n-1] && attr(attrs, "val") == "Table of Contents" {
			w.sdt[n-1] = true
			w.mute++
		}
	default:
		if wordMuted[name] {
			w.mute++
		}
	}
}

func (w *wordText) end(name string) {
	switch name {
	case "p", "tr":
		w.blocks.end()
	case "t":
		w.inText = false
	case "sdt":
		n := len(w.sdt) - 1
		if w.sdt[n] {
			w.mute--
		}
		w.sdt = w.sdt[:n]
	default:
		if wordMuted[name] {
			w.mute--
		}
	}
}

func (w *wordText) text(s []byte) {
	if w.inText {
		w.write(string(s))
	}
}

// fields returns the text of each element without child elements in the given part, by element
// name. If several elements have the same name, the first one that is not empty is used. If the
// package has no such part, the map is empty.
func (p *pack) fields(name string) (map[string]string, error) {
	f := &fields{values: map[string]string{}}
	err := p.walk(name, f)
	if errors.Is(err, errMissing) {
		err = nil
	}
	return f.values, err
}

type fields struct {
	values map[string]string
	name   string
	now    strings.Builder
}

func (f *fields) begin(name string, _ []xml.Attr) {
	f.name = name
	f.now.Reset()
}

func (f *fields) end(name string) {
	if s := strings.TrimSpace(f.now.String()); name == f.name && s != "" && f.values[name] == "" {
		f.values[name] = s
	}
	f.name = ""
}

func (f *fields) text(s []byte) {
	if f.name != "" {
		f.now.Write(s)
	}
}

func (f *fields) err() error { return nil }
