package crawler

import (
	"bytes"
	"cmp"
	"strings"

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

const (
	maxRefresh     = 10
	maxRefreshHead = 64 << 10 // number of bytes of a page in which an element is searched
)

// followRefresh makes the page a redirect if it leads to another page. If scripts is set, browsers
// run scripts.
func (p *Page) followRefresh(scripts bool) {
	r := refreshing{page: p, scripts: scripts}
	for _, content := range p.Header["Refresh"] {
		r.consider(content)
	}
	start := p.Body[:min(len(p.Body), maxRefreshHead)]
	if isHTML(cmp.Or(p.Header.Get("Content-Type"), "text/html")) && mayRefresh(start) {
		r.read(start)
	}
	if r.target != "" {
		p.follow(r.target)
	}
}

// mayRefresh is false for nearly all pages that do not lead on, and much faster than reading them. It
// looks for the rarest letter of http-equiv.
func mayRefresh(html []byte) bool {
	const name, before = "http-equiv", len("http-e")
	for _, q := range []byte("qQ") {
		for end := 0; ; {
			i := bytes.IndexByte(html[end:], q)
			if i < 0 {
				break
			}
			end += i + 1
			start := end - 1 - before
			if start < 0 || !strings.EqualFold(string(html[start:min(len(html), start+len(name))]), name) {
				continue
			}
			value := bytes.ToLower(html[end:min(len(html), end+100)])
			if bytes.Contains(value, []byte("refresh")) || bytes.IndexByte(value, '&') >= 0 { // a letter may be written as an entity
				return true
			}
		}
	}
	return false
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
