package feed

import (
	"context"
	"slices"
	"strings"

	"skink/dedup"
	"skink/feed/release"
	"skink/frontier"
	"skink/store"
)

// A Field is the name of an optional field of a [Document], which is written only on request.
type Field string

const (
	Host     Field = "host"     // name of the page's host, with its port unless that is the default
	Depth    Field = "depth"    // number of links from a seed to the page
	Inlinks  Field = "inlinks"  // number of other pages that link to the page
	Outlinks Field = "outlinks" // URLs that the page links to
	Headings Field = "headings" // headings of the main text

	Breadcrumbs Field = "breadcrumbs"  // names of the pages above the page
	ContentHash Field = "content_hash" // hash of the text
	Segment     Field = "segment"      // name of the page's segment, by [Options].Segments
)

// Fields lists all optional fields.
var Fields = []Field{Host, Depth, Inlinks, Outlinks, Headings, Breadcrumbs, ContentHash, Segment}

// prepare counts the links to each page, if the field Inlinks is requested. It reads the links of
// all pages.
func (opt *Options) prepare(ctx context.Context, s store.Reader) error {
	if !slices.Contains(opt.Fields, Inlinks) {
		return nil
	}
	opt.inlinks = map[dedup.Hash]int{}
	all := release.Gate{Filter: release.Filter{Include: release.Records, Private: opt.Private}}
	for page, err := range all.Pages(ctx, s, store.WantLinks) {
		if err != nil {
			return err
		}
		for _, url := range targets(page.Content()) {
			if id := dedup.HashOf([]byte(url)); id != page.Content().Record.ID {
				opt.inlinks[id]++
			}
		}
	}
	return nil
}

// targets returns the URLs that a page links to, each once, in order. Files that are part of the page
// are left out.
func targets(page *store.Content) (urls []string) {
	seen := map[string]bool{}
	for _, l := range page.Links {
		if !l.Kind.Asset() && !seen[l.URL] {
			seen[l.URL] = true
			urls = append(urls, l.URL)
		}
	}
	return urls
}

func (opt *Options) want() store.Want {
	if slices.Contains(opt.Fields, Outlinks) {
		return store.WantText | store.WantLinks
	}
	return store.WantText
}

func (opt *Options) addFields(d *Document, page *store.Content) {
	for _, f := range opt.Fields {
		switch f {
		case Host:
			d.Host = frontier.HostOf(d.URL)
		case Depth:
			d.Depth = &page.Record.Depth
		case Inlinks:
			n := opt.inlinks[page.Record.ID]
			d.Inlinks = &n
		case Outlinks:
			d.Outlinks = targets(page)
		case Headings:
			d.Headings = headings(page)
		case Breadcrumbs:
			d.Breadcrumbs = page.Record.Breadcrumbs
		case Segment:
			d.Segment = opt.Segments.Of(d.URL)
		case ContentHash:
			d.ContentHash = dedup.HashOf([]byte(page.Text))
		}
	}
}

func headings(page *store.Content) (all []string) {
	if len(page.Headings) == 0 {
		return nil
	}
	lines := strings.Split(page.Text, "\n")
	for _, h := range page.Headings {
		if h.Level > 0 && h.Line < len(lines) {
			all = append(all, lines[h.Line])
		}
	}
	return all
}
