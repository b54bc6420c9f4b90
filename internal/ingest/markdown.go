package ingest

import (
	"strings"

	"skink/extract"
	"skink/frontier"
	"skink/store"
)

// extracting returns the options for the extraction of a page. The parsed tree of the page may have
// at most tree bytes; 0 means no limit.
func (opt *Options) extracting(tree int64) extract.Options {
	return extract.Options{
		Tree: tree, Page: opt.Markdown != store.NoMarkdown, Embeds: !opt.NoLinks || opt.Requisites, Requisites: opt.Requisites,
		Markup: true, Anchors: opt.Anchors && !opt.NoLinks,
	}
}

// markdown returns the main text of a document as Markdown, or "" if Markdown is not kept. URLs in
// it are absolute, unless base is nil.
func (opt *Options) markdown(doc *extract.Document, base *frontier.Base) string {
	if opt.Markdown == store.NoMarkdown {
		return ""
	}
	as := extract.MarkdownOptions{Pictures: opt.Markdown == store.WithPictures}
	if base != nil {
		as.Resolve = func(address string) string { return absolute(base, address) }
	}
	defer doc.Release()
	return doc.Markdown(as)
}

// absolute resolves a URL against base and keeps its fragment. It returns the URL unchanged if the
// URL cannot be resolved or is not an HTTP URL.
func absolute(base *frontier.Base, address string) string {
	ref, fragment, found := strings.Cut(address, "#")
	url, err := base.Resolve(ref)
	if err != nil {
		return address
	}
	if found {
		url += "#" + fragment
	}
	return url
}
