package extract

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// plain takes a text as it is, a line a block. Its title is not known, and its links are not looked
// for: an address in a plain text is a mention.
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

// strip is for pages of which no tree can be built. It takes all text between the tags, as it
// comes, with the menus.
func strip(text []byte, d *Document) {
	s := &survey{doc: d, links: map[linkKey]int{}}
	z := html.NewTokenizer(bytes.NewReader(text))
	var skip atom.Atom // element whose text is not shown
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

// stripTag reads what a start tag says and returns its name if the text after it is not shown.
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
