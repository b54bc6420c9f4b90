package main

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/dedup"
	"skink/extract"
)

const shingle = dedup.DefaultShingle

// A page is an HTML page whose article has an element of its own, the box.
type page struct {
	name string
	root *html.Node
	body *html.Node // the box

	twice bool // the article also occurs outside the box, so it would stay on the page when the box gets another article

	own  extracted // text extracted from the unchanged page
	text dedup.Set // shingles of the article as annotated by a person
}

type extracted struct {
	text string
	how  string // Root field of the extracted document: how the text was found
	set  dedup.Set
}

// without names the rule of the extractor that is left out.
var without string

func take(root *html.Node) extracted {
	var b bytes.Buffer
	if err := html.Render(&b, root); err != nil {
		panic(err) // cannot happen: the writer is a buffer, and the tree comes from the parser
	}
	return takeHTML(b.Bytes())
}

func takeHTML(body []byte) extracted {
	doc, err := extract.Options{}.Without(without).Parse(body, "text/html; charset=utf-8")
	if err != nil {
		return extracted{}
	}
	return extracted{doc.Text, doc.Root, setOf(doc.Text, shingle)}
}

func setOf(text string, k int) dedup.Set {
	var t dedup.Text
	t.Read([]byte(text))
	return t.Set(k)
}

// A box must contain most of the article, and not much else.
const (
	most    = .95 // minimum fraction of the article's shingles on the page that must be in the box
	present = .9  // minimum fraction of the article's shingles that must be on the page
	pure    = .6  // minimum fraction of the box's shingles that must be from the article
	again   = .5  // minimum fraction of the article's shingles outside the box for it to count as repeated there
	probe   = 4   // number of words per shingle for finding the article; small, so that a link in the article changes few shingles
)

// newPage parses source, and finds the box of the article: the element that contains most of the
// article's text and little else. It returns nil if there is no such element.
func newPage(name string, source []byte, article string) *page {
	root, err := html.ParseWithOptions(bytes.NewReader(source), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil
	}
	want := setOf(article, probe)
	box := find(root, atom.Body)
	if box == nil || len(want) == 0 {
		return nil
	}
	whole := held(box, want)
	if whole < present {
		return nil
	}
	for next := box; next != nil; {
		box, next = next, nil
		for c := range box.ChildNodes() {
			if c.Type == html.ElementNode && held(c, want) >= most*whole {
				next = c
				break
			}
		}
	}
	if box.DataAtom == atom.Body || dedup.Containment(setOf(words(box), probe), want) < pure {
		return nil
	}
	p := &page{name: name, root: root, body: box, own: take(root), text: setOf(article, shingle)}
	content := empty(box)
	p.twice = held(find(root, atom.Body), want) >= again
	fill(box, content)
	return p
}

func held(n *html.Node, want dedup.Set) float64 {
	return dedup.Containment(want, setOf(words(n), probe))
}

func find(n *html.Node, a atom.Atom) *html.Node {
	for d := range n.Descendants() {
		if d.DataAtom == a {
			return d
		}
	}
	return nil
}

func words(n *html.Node) string {
	var b strings.Builder
	addWords(&b, n)
	return b.String()
}

func addWords(b *strings.Builder, n *html.Node) {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template:
		return
	}
	if n.Type == html.TextNode {
		b.WriteString(n.Data)
	}
	block := n.Type == html.ElementNode && !inline[n.DataAtom]
	if block {
		b.WriteByte('\n')
	}
	for c := range n.ChildNodes() {
		addWords(b, c)
	}
	if block {
		b.WriteByte('\n')
	}
}

var inline = map[atom.Atom]bool{
	atom.A: true, atom.Abbr: true, atom.B: true, atom.Cite: true, atom.Code: true, atom.Em: true, atom.Font: true,
	atom.I: true, atom.Mark: true, atom.Q: true, atom.S: true, atom.Small: true, atom.Span: true, atom.Strong: true,
	atom.Sub: true, atom.Sup: true, atom.U: true,
}

// in returns the text that the extractor finds for p's article in the template of q. By default,
// the content of p's box is put into q's box, whose tag and attributes belong to the template. With
// ownBox, p's box replaces q's.
func (p *page) in(q *page, ownBox bool) extracted {
	if ownBox {
		box := clone(p.body)
		parent := q.body.Parent
		parent.InsertBefore(box, q.body)
		parent.RemoveChild(q.body)
		t := take(q.root)
		parent.InsertBefore(q.body, box)
		parent.RemoveChild(box)
		return t
	}
	old := empty(q.body)
	for c := range p.body.ChildNodes() {
		q.body.AppendChild(clone(c))
	}
	t := take(q.root)
	empty(q.body)
	fill(q.body, old)
	return t
}

func empty(n *html.Node) (children []*html.Node) {
	for n.FirstChild != nil {
		children = append(children, n.FirstChild)
		n.RemoveChild(n.FirstChild)
	}
	return children
}

func fill(n *html.Node, children []*html.Node) {
	for _, c := range children {
		n.AppendChild(c)
	}
}

func clone(n *html.Node) *html.Node {
	c := &html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace, Attr: n.Attr}
	for child := range n.ChildNodes() {
		c.AppendChild(clone(child))
	}
	return c
}
