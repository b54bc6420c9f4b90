package ingest

import (
	"iter"

	"skink/crawler"
	"skink/extract"
	"skink/store"
)

// outgoing holds the links of a document in order, and then its pictures, scripts and style sheets.
// A crawler resolves their URLs, and the store may keep the result.
type outgoing struct {
	doc  *extract.Document
	keep bool // the store keeps the links
}

// links returns the links for the crawler, which follows some of them and only resolves the others.
func (o outgoing) links() crawler.Links {
	return crawler.Links{Base: o.doc.Base, Hrefs: o.hrefs(), Files: o.files(), NoFollow: o.doc.NoFollow, Targets: o.keep}
}

func (o outgoing) hrefs() iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for l := range o.doc.AllLinks() {
			if !yield(l.Href, l.NoFollow) {
				return
			}
		}
	}
}

func (o outgoing) files() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, e := range o.doc.Embeds {
			if !yield(e.Href) {
				return
			}
		}
	}
}

// packed returns the links of the page at pageURL in the store's format, or nil if the store does
// not keep links. The targets are the URLs that the crawler resolved.
func (o outgoing) packed(pageURL string, targets []crawler.Target) []byte {
	if !o.keep {
		return nil
	}
	return store.PackLinks(pageURL, o.kept(targets))
}

// kept returns the links that the store keeps, one for each URL, without links to the page itself.
// If several links lead to one URL, kept returns the first, with the text of the first that has a
// text. The result is nofollow only if all of them are.
func (o outgoing) kept(targets []crawler.Target) []store.Link {
	links := make([]store.Link, 0, len(targets))
	places := make([]int32, len(targets)) // index of the target's link in links
	i := 0
	add := func(kind extract.By, text string, nofollow bool) bool {
		if i == len(targets) {
			return false
		}
		t := targets[i]
		switch {
		case t.First < 0:
		case t.First == i:
			places[i] = int32(len(links))
			links = append(links, store.Link{URL: t.URL, Text: text, Kind: store.LinkKind(kind), NoFollow: nofollow})
		default:
			l := &links[places[t.First]]
			if l.Text == "" {
				l.Text = text
			}
			l.NoFollow = l.NoFollow && nofollow
		}
		i++
		return true
	}
	for l := range o.doc.AllLinks() {
		if !add(l.By, l.Text, l.NoFollow || o.doc.NoFollow) {
			return links
		}
	}
	for _, e := range o.doc.Embeds {
		if !add(e.By, e.Alt, false) {
			return links
		}
	}
	return links
}
