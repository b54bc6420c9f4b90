package audit

import (
	"slices"
	"strings"
	"unique"

	"skink/crawler/learn"
	"skink/report"
	"skink/store"
)

// # Patterns of broken URLs
//
// One wrong link in a template, or one folder that is gone, breaks many URLs. Text, HTML and the view show
// those with the same pattern as one row. A broken URL has two patterns: the URLs of the same form in its folder
// ([learn.Shape]), and those with its last segment in any folder, as a relative link of a menu makes them. The
// one with more broken URLs counts, or the segment if both have the same number.

// leastAlike is the minimum number of broken URLs with the same pattern for one row. Fewer fit on a page.
const leastAlike = 20

type patterns struct {
	of    map[int32][]string // patterns of a broken URL, by its index in site.pages
	count map[string]int
}

func (p *patterns) add(at int32, url string) {
	host, shape := store.HostOf(url), learn.Shape(url)
	all := []string{host + shape}
	path, _, _ := strings.Cut(url, "?")
	last := max(strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/'), 0)
	if strings.Count(path[:last], "/") > 2 { // the URL is in a folder
		all = []string{host + "/…" + path[last:] + shape[strings.IndexByte(shape+"?", '?'):], all[0]}
	}
	for _, pattern := range all {
		pattern = unique.Make(pattern).Value()
		p.of[at] = append(p.of[at], pattern)
		p.count[pattern]++
	}
}

// largest returns the pattern of a URL that has more broken URLs, and their number. It returns "" and 0 if there
// are fewer than leastAlike.
func (p *patterns) largest(at int32) (pattern string, n int) {
	for _, one := range p.of[at] {
		if count := p.count[one]; count >= leastAlike && count > n {
			pattern, n = one, count
		}
	}
	return pattern, n
}

// patternColumn has the pattern of a broken URL. If the row stands for further URLs, it says how many they are.
var patternColumn = column("pattern", "Pattern", func(s *subject, _ *store.Record) any {
	pattern, _ := s.audit().patterns.largest(s.entry.page)
	if s.alike > 0 {
		pattern = report.Counted(int64(s.alike+1), "URL") + ": " + pattern
	}
	return text(pattern)
})

// folds reports whether broken URLs with the same pattern are one row of the list.
func (l *List) folds() bool {
	return slices.ContainsFunc(l.Columns, func(c Column) bool { return c.Name == patternColumn.Name })
}
