package ingest

import (
	"skink/extract"
	"skink/extract/selector"
	"skink/frontier"
	"skink/store"
)

// extracting returns the options for extracting a page. The argument tree limits the size of the
// parsed tree in bytes; 0 means no limit. The language of plain text is not detected if it would be
// used only in a temporary record.
func (opt *Options) extracting(tree int64, url string) extract.Options {
	var rules selector.Rules
	if opt.Select != nil {
		rules = opt.Select(frontier.HostOf(url))
	}
	return extract.Options{
		Select: rules,
		Tree:   tree, Markdown: opt.Markdown != store.NoMarkdown, Embeds: !opt.NoLinks || opt.Requisites, Requisites: opt.Requisites,
		Markup: true, Anchors: opt.Anchors && !opt.NoLinks, SkipLang: opt.Temporary,
	}
}

// markdown returns the main text of a document as Markdown, or "" if Markdown is not kept. Its URLs
// are absolute, unless base is nil.
func (opt *Options) markdown(doc *extract.Document, base *frontier.Base) string {
	if opt.Markdown == store.NoMarkdown {
		return ""
	}
	as := extract.MarkdownOptions{Images: opt.Markdown == store.WithImages}
	if base != nil {
		as.Resolve = base.Absolute
	}
	defer doc.Release()
	return doc.Markdown(as)
}
