package crawler

import (
	"bytes"
	"cmp"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"skink/base/node"
	"skink/frontier"
)

// # Pages that lead on
//
// A page may ask browsers to load another page after some seconds, with a Refresh header or with
// <meta http-equiv=refresh>. Visitors hardly see a page that does so within maxRefresh seconds, so
// it is a redirect, and passes the same gates. Other pages of this kind are read as usual, and the
// audit lists them. A browser that runs scripts ignores <noscript>.

// maxRefresh is in seconds. An element is searched in the first maxRefreshHead bytes of a page.
const maxRefresh, maxRefreshHead = 10, 64 << 10

// followRefresh makes the page a redirect if it leads to another page. If scripts is set, browsers
// run scripts.
func (p *Page) followRefresh(scripts bool) {
	r := refreshing{page: p, scripts: scripts}
	for _, content := range p.Header["Refresh"] {
		r.consider(content)
	}
	start := p.Body[:min(len(p.Body), maxRefreshHead)]
	if isHTML(cmp.Or(p.Header.Get("Content-Type"), "text/html")) && node.MayRefresh(start) {
		r.read(start)
	}
	if r.target != "" {
		p.follow(r.target)
	}
}

type refreshing struct {
	page    *Page
	scripts bool
	base    string // href of <base>
	target  string // canonical URL of the other page; "" means none yet
}

func (r *refreshing) read(body []byte) {
	z := html.NewTokenizer(bytes.NewReader(body))
	in := atom.Atom(0) // <noscript> or <template>, whose elements count only in the first
	for kind := z.Next(); kind != html.ErrorToken && r.target == ""; kind = z.Next() {
		t := z.Token()
		switch {
		case in == atom.Noscript && kind == html.TextToken:
			r.read([]byte(t.Data))
		case kind == html.EndTagToken && t.DataAtom == in:
			in = 0
		case kind != html.StartTagToken && kind != html.SelfClosingTagToken || in == atom.Template:
		case t.DataAtom == atom.Template, t.DataAtom == atom.Noscript && !r.scripts:
			in = t.DataAtom
		default:
			r.open(&html.Node{DataAtom: t.DataAtom, Attr: t.Attr})
		}
	}
}

func (r *refreshing) open(n *html.Node) {
	switch {
	case n.DataAtom == atom.Base && r.base == "":
		r.base = node.Attr(n, "href")
	case n.DataAtom == atom.Meta && node.HasToken(node.Attr(n, "http-equiv"), "refresh"):
		r.consider(node.Attr(n, "content"))
	}
}

func (r *refreshing) consider(content string) {
	seconds, href, ok := node.Refresh(content)
	if !ok || href == "" || seconds > maxRefresh || r.target != "" {
		return
	}
	base, err := frontier.NewBase(r.page.Item.URL, r.base, "")
	if err != nil {
		return
	}
	if url, err := base.Resolve(href); err == nil && url != r.page.Item.URL {
		r.target = url
	}
}
