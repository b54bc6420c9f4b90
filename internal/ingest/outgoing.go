package ingest

import (
	"iter"
	"strings"

	"skink/crawler"
	"skink/extract"
	"skink/extract/markup"
	"skink/store"
)

// outgoing represents the links of a document in order, followed by its images, scripts and style
// sheets. A crawler resolves their URLs, and the store may keep them.
type outgoing struct {
	doc  *extract.Document
	keep bool // the store keeps the links

	fragments bool // the store keeps the fragments of the links
}

// links returns the links for the crawler, which follows some and only resolves the others.
func (o outgoing) links() crawler.Links {
	return crawler.Links{Base: o.doc.Base, Charset: o.doc.Charset, Hrefs: o.hrefs(), Files: o.files(), Frames: o.frames(), Names: o.doc.Canonicals, NoFollow: o.doc.NoFollow, Targets: o.keep}
}

// parts returns only what is needed to show the document.
func (o outgoing) parts() crawler.Links {
	return crawler.Links{Base: o.doc.Base, Charset: o.doc.Charset, Files: o.files(), Frames: o.frames()}
}

func (o outgoing) frames() iter.Seq[string] {
	return each(o.doc.Links, func(l *extract.Link) (string, bool) { return l.Href, l.By == extract.ByFrame })
}

func (o outgoing) files() iter.Seq[string] {
	return each(o.doc.Embeds, func(e *extract.Embed) (string, bool) { return e.Href, true })
}

// each yields the URLs of the things for which url returns true.
func each[T any](all []T, url func(*T) (string, bool)) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range all {
			if u, is := url(&all[i]); is && !yield(u) {
				return
			}
		}
	}
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

// kept returns the links that the store keeps, one for each URL, without links to the page itself.
// If several links lead to one URL, kept returns the first, with the different texts of all. The
// kept link is nofollow only if all of them are.
func (o outgoing) kept(targets []crawler.Target) []store.Link {
	links := make([]store.Link, 0, len(targets))
	places := make([]int32, len(targets)) // for each target, the index of its link in links
	i := 0
	add := func(kind extract.By, text, fragment string, nofollow bool) bool {
		if i == len(targets) {
			return false
		}
		t := targets[i]
		switch {
		case t.First < 0:
		case t.First == i:
			places[i] = int32(len(links))
			links = append(links, store.Link{URL: t.URL, Text: text, Kind: store.LinkKind(kind), NoFollow: nofollow, Fragments: fragment})
		default:
			l := &links[places[t.First]]
			for line := range strings.SplitSeq(text, "\n") {
				l.Text = extract.WithLine(l.Text, line, extract.MaxLinkTexts)
			}
			l.NoFollow = l.NoFollow && nofollow
			l.Fragments = extract.WithLine(l.Fragments, fragment, maxFragments)
		}
		i++
		return true
	}
	for l := range o.doc.AllLinks() {
		if !add(l.By, l.Text, o.fragment(&l), l.NoFollow || o.doc.NoFollow) {
			return links
		}
	}
	for _, e := range o.doc.Embeds {
		if !add(e.By, e.Alt, "", false) {
			return links
		}
	}
	return links
}

// Limits on the fragments that are kept.
const (
	maxFragment  = 200     // in bytes; longer fragments are left out
	maxFragments = 1 << 14 // in bytes, for all fragments of a page's links to one URL
)

func (o outgoing) fragment(l *extract.Link) string {
	if !o.fragments || l.By != extract.ByAnchor {
		return ""
	}
	_, fragment, _ := strings.Cut(l.Href, "#")
	if len(fragment) > maxFragment || !markup.IsAnchor(fragment) {
		return ""
	}
	return fragment
}

// listed returns the URLs in the sitemap at sitemapURL as links in the store's format, without
// duplicates.
func listed(sitemapURL string, urls []string) []byte {
	links := make([]store.Link, 0, len(urls))
	seen := make(map[string]bool, len(urls))
	for _, url := range urls {
		if !seen[url] {
			seen[url] = true
			links = append(links, store.Link{URL: url, Kind: store.LinkListed})
		}
	}
	return store.PackLinks(sitemapURL, links)
}
