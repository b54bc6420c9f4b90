package extract

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// plain returns the Document of a plain text. Each line is a block. The Document has no title and
// no links, because a URL in plain text is not a link.
func plain(text []byte, charset string) *Document {
	var w writer
	w.pre = 1
	w.write(string(text))
	w.flush()
	d := &Document{Charset: charset, Text: joinBlocks(&w, nil), Root: RootPlain, Sure: 1}
	d.Text = strings.TrimSpace(d.Text)
	if d.Text == "" {
		d.Root, d.Sure = RootNone, 0
	}
	d.Words = countWords(d.Text)
	d.Lang = lang(d)
	return d
}

// strip fills d from a page that cannot be parsed into a tree. The main text then consists of all
// text between tags, including the menus.
func strip(text []byte, d *Document) {
	s := &survey{doc: d, links: map[linkKey]int{}}
	z := html.NewTokenizer(bytes.NewReader(text))
	var skip atom.Atom // the element, such as <script>, whose text is being skipped; 0 if none
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			s.flush()
			d.Root = RootStripped
			d.Text = joinBlocks(&s.writer, nil)
			if d.Text == "" {
				d.Root = RootNone
			}
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			n := &html.Node{Type: html.ElementNode, Data: t.Data, DataAtom: t.DataAtom, Attr: t.Attr}
			skip = s.stripTag(z, n)
		case html.EndTagToken:
			skip = 0
			name, _ := z.TagName()
			if kindOf(&html.Node{Data: string(name), DataAtom: atom.Lookup(name)}) != inline {
				s.flush()
			}
		case html.TextToken:
			if skip == 0 {
				s.write(string(z.Text()))
			}
		}
	}
}

// stripTag handles a start tag. It returns the element's name if the text in the element must be
// skipped, and otherwise 0.
func (s *survey) stripTag(z *html.Tokenizer, n *html.Node) atom.Atom {
	switch n.DataAtom {
	case atom.A, atom.Area, atom.Iframe, atom.Frame:
		s.addLink(n)
	case atom.Title:
		if z.Next() == html.TextToken {
			setOnce(&s.doc.Title, oneSpace(string(z.Text())))
		}
	case atom.Html, atom.Meta, atom.Link, atom.Base:
		s.metadata(n)
	}
	switch kindOf(n) {
	case skipped:
		return n.DataAtom
	case inline:
	case lineBreak:
		s.lineBreak()
	default:
		s.flush()
	}
	return 0
}
