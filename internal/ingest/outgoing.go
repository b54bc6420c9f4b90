package ingest

import (
	"iter"

	"skink/crawler"
	"skink/extract"
	"skink/store"
)

// outgoing is what a document names, in its order: links, and then what it is made of. A crawler
// says where they lead, and the store keeps them.
type outgoing struct {
	doc  *extract.Document
	keep bool // the store keeps them
}

func (p *Pipeline) outgoing(doc *extract.Document) outgoing { return outgoing{doc, !p.opt.NoLinks} }

// links is what the crawler is to follow, or only to resolve.
func (o outgoing) links() crawler.Links {
	l := crawler.Links{Base: o.doc.Base, Hrefs: o.hrefs(), NoFollow: o.doc.NoFollow, Targets: o.keep}
	if o.keep {
		l.Files = o.files()
	}
	return l
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

// packed are the links of the page at pageURL, whose targets a crawler found; nil: none are kept.
func (o outgoing) packed(pageURL string, targets []crawler.Target) []byte {
	if !o.keep {
		return nil
	}
	return store.PackLinks(pageURL, o.kept(targets))
}

// kept are the links that are kept: each URL once, but for the page itself. Where several links
// lead to one URL, it is the first, with the words of the first that says something. It asks not to
// be followed if all of them do.
func (o outgoing) kept(targets []crawler.Target) []store.Link {
	links := make([]store.Link, 0, len(targets))
	places := make([]int32, len(targets)) // of the target's link in links
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
