package tree

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxOpen is the maximum depth of a tree, as in the HTML parser.
const maxOpen = 512

const xhtmlSpace = "http://www.w3.org/1999/xhtml"

// XHTML parses XHTML by XML rules: <script/> and <div/> are empty elements, CDATA is text, and
// errors are not repaired. It returns nil if the page is not well-formed, or if the tree would be
// larger than limit bytes. The caller then parses the page as HTML: the text is still useful where
// a browser would show an error.
func XHTML(text []byte, limit int64) *html.Node {
	root := &html.Node{Type: html.DocumentNode}
	at := root
	dec := xml.NewDecoder(bytes.NewReader(text))
	dec.Entity = xml.HTMLEntity
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // the text has already been decoded
	for depth := 0; ; {
		token, err := dec.Token()
		if err == io.EOF {
			if depth > 0 || root.FirstChild == nil {
				return nil
			}
			return root
		}
		if err != nil {
			return nil
		}
		if limit < 0 {
			return nil
		}
		switch t := token.(type) {
		case xml.StartElement:
			n := xmlElement(t)
			limit -= weightOf(len(n.Attr))
			at.AppendChild(n)
			at = n
			if depth++; depth > maxOpen {
				return nil
			}
		case xml.EndElement:
			at = at.Parent
			depth--
		case xml.CharData:
			if depth > 0 {
				limit -= nodeBytes
				at.AppendChild(&html.Node{Type: html.TextNode, Data: string(t)})
			}
		}
	}
}

func xmlElement(t xml.StartElement) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: t.Name.Local}
	switch t.Name.Space {
	case "", xhtmlSpace:
		n.DataAtom = atom.Lookup([]byte(n.Data))
	default:
		n.Namespace = t.Name.Space[strings.LastIndexByte(t.Name.Space, '/')+1:]
		if n.Data == "svg" || n.Data == "annotation" {
			n.DataAtom = atom.Lookup([]byte(n.Data))
		}
	}
	for _, a := range t.Attr {
		key := a.Name.Local
		if key == "lang" && a.Name.Space != "" {
			key = "xml:lang"
		}
		n.Attr = append(n.Attr, html.Attribute{Key: key, Val: a.Value})
	}
	return n
}
