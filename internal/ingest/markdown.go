package ingest

import (
	"strings"

	"skink/extract"
	"skink/frontier"
	"skink/store"
)

// extracting is what is asked of pages, whose trees may take so many bytes; 0: any tree will do.
func (p *Pipeline) extracting(tree int64) extract.Options {
	return extract.Options{Tree: tree, Page: p.opt.Markdown != store.NoMarkdown, Embeds: !p.opt.NoLinks}
}

// markdown is the main text of a document as Markdown, "" if none is kept. Its addresses are
// absolute; without a base they stay as they are.
func (p *Pipeline) markdown(doc *extract.Document, base *frontier.Base) string {
	if p.opt.Markdown == store.NoMarkdown {
		return ""
	}
	opt := extract.MarkdownOptions{Pictures: p.opt.Markdown == store.WithPictures}
	if base != nil {
		opt.Resolve = func(address string) string { return absolute(base, address) }
	}
	defer doc.Release()
	return doc.Markdown(opt)
}

// absolute is an address as seen from anywhere, with its fragment. One that cannot be resolved, or
// leads out of the web, stays as it is.
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
