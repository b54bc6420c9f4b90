package extract

import (
	"bytes"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// strip is for pages no tree can be built of: it takes all text between the tags, as it comes. Menus stay in.
func strip(text []byte, d *Document) {
	s := &survey{doc: d, links: map[Link]bool{}}
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
