package complete

import (
	"cmp"
	"strings"
	"unique"

	"skink/dedup"
	"skink/store"
)

// A ranked page is what the order of the pages, and the way back to one, take of a record.
type ranked struct {
	id      dedup.Hash
	url     string
	place   int // in the order in which pages were stored
	path    int // length of the URL's path
	words   int
	named   bool // by rel=canonical of another page
	print   bool // its URL is that of a view to print, or for small screens
	https   bool
	noIndex bool
	hash    dedup.Hash // of the text
	title   dedup.Hash
	lang    string
}

func rankedOf(r *store.Record, place int) ranked {
	return ranked{
		place: place, id: r.ID, url: r.URL, path: pathLen(r.URL), words: r.Words,
		https: strings.HasPrefix(r.URL, "https:"), print: isPrintView(r.URL), noIndex: r.NoIndex,
		hash: r.Hash, title: dedup.HashOf([]byte(r.Title)),
		lang: unique.Make(r.Lang).Value(), // few are held by many
	}
}

// criteria are what pages are ranked by, the first of them first, with the words for each.
type criteria []struct {
	why     string
	compare func(a, b *ranked) int
}

// byAddress is for pages of sites, of which the best is to lead.
var byAddress = criteria{
	{"may be indexed", func(a, b *ranked) int { return yesFirst(!a.noIndex, !b.noIndex) }},
	{"canonical link", func(a, b *ranked) int { return yesFirst(a.named, b.named) }},
	{"no print view", func(a, b *ranked) int { return yesFirst(!a.print, !b.print) }},
	{"https", func(a, b *ranked) int { return yesFirst(a.https, b.https) }},
	{"shortest path", func(a, b *ranked) int { return cmp.Compare(a.path, b.path) }},
	{"longest text", func(a, b *ranked) int { return cmp.Compare(b.words, a.words) }},
	{"smallest URL", func(a, b *ranked) int { return cmp.Compare(a.url, b.url) }},
}

// byLength is for texts of a corpus, of which the most is to be kept.
var byLength = criteria{
	byAddress[0],
	{"longest text", func(a, b *ranked) int { return cmp.Compare(b.words, a.words) }},
	{"first seen", func(a, b *ranked) int { return cmp.Compare(a.place, b.place) }},
}

func (opt Options) criteria() criteria {
	if opt.Longest {
		return byLength
	}
	return byAddress
}

func yesFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func (all criteria) rank(a, b ranked) int {
	for _, c := range all {
		if d := c.compare(&a, &b); d != 0 {
			return d
		}
	}
	return 0
}

// why says by which criterion the first of two pages is ranked before the second.
func (all criteria) why(a, b *ranked) string {
	for _, c := range all {
		if c.compare(a, b) < 0 {
			return c.why
		}
	}
	return "first"
}

// pathLen is the length of a URL's path and query, or of all of a file's path.
func pathLen(url string) int {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return len(url)
	}
	return len(rest) - max(strings.IndexByte(rest, '/'), 0)
}

// isPrintView says whether a URL is that of a view to print, or for small screens (AMP), of a page
// that has another URL: by a segment of its path, the end of its file's name, or a parameter.
func isPrintView(url string) bool {
	_, rest, _ := strings.Cut(url, "://")
	rest, query, _ := strings.Cut(rest, "?")
	for i, segment := range strings.Split(rest, "/") {
		stem, _, _ := strings.Cut(strings.ToLower(segment), ".")
		if i > 0 && (views[stem] || strings.HasSuffix(stem, "-print") || strings.HasSuffix(stem, "_print")) {
			return true
		}
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(strings.ToLower(pair), "=")
		if value != "0" && value != "false" && (views[name] || views[value] && (name == "view" || name == "format" || name == "output" || name == "mode")) {
			return true
		}
	}
	return false
}

var views = map[string]bool{"print": true, "printable": true, "printer": true, "printview": true, "printpage": true, "amp": true}
