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
	path    int // length of the URL's path
	words   int
	named   bool // by rel=canonical of another page
	https   bool
	noIndex bool
	hash    dedup.Hash // of the text
	title   dedup.Hash
	lang    string
}

func rankedOf(r *store.Record) ranked {
	return ranked{
		id: r.ID, url: r.URL, path: pathLen(r.URL), words: r.Words,
		https: strings.HasPrefix(r.URL, "https:"), noIndex: r.NoIndex,
		hash: r.Hash, title: dedup.HashOf([]byte(r.Title)),
		lang: unique.Make(r.Lang).Value(), // few are held by many
	}
}

// criteria are what pages are ranked by, the first of them first, with the words for each.
var criteria = []struct {
	why     string
	compare func(a, b *ranked) int
}{
	{"may be indexed", func(a, b *ranked) int { return yesFirst(!a.noIndex, !b.noIndex) }},
	{"canonical link", func(a, b *ranked) int { return yesFirst(a.named, b.named) }},
	{"https", func(a, b *ranked) int { return yesFirst(a.https, b.https) }},
	{"shortest path", func(a, b *ranked) int { return cmp.Compare(a.path, b.path) }},
	{"longest text", func(a, b *ranked) int { return cmp.Compare(b.words, a.words) }},
	{"smallest URL", func(a, b *ranked) int { return cmp.Compare(a.url, b.url) }},
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

func byRank(a, b ranked) int {
	for _, c := range criteria {
		if d := c.compare(&a, &b); d != 0 {
			return d
		}
	}
	return 0
}

// why says by which criterion the first of two pages is ranked before the second.
func why(a, b *ranked) string {
	for _, c := range criteria {
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
