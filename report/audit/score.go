package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unique"

	"skink/report"
	"skink/store"
)

// # Link score
//
// The link score of a URL is its PageRank among the URLs of the crawl (Brin and Page, "The Anatomy of a Large-Scale
// Hypertextual Web Search Engine", 1998): the share of time that a random walk along links spends there. The walk follows
// a link with the probability damping, and otherwise begins anew at any URL. At a URL without links, it always begins
// anew. A redirect is a link to its target. Links of one page to one URL count as one. Links to URLs that were not
// crawled do not count, nor do links that ask crawlers not to follow them (nofollow).
//
// Power iteration, which begins at 0, finds the ranks, whose sum is 1. It ends with a step that changes them by less than tolerance in sum.
// They then differ from the exact ranks by less than 6 times that much, because a step multiplies the difference by at
// most damping. That takes some 120 steps, and 15 seconds for a million pages with 30 links each.
//
// A URL takes 20 bytes while the score is computed, and 4 afterwards. The links are those that [site.keepWays] keeps, 4
// bytes each. If they are too many, there is no score.
const (
	damping   = .85
	tolerance = 1e-9
)

// ranked reports whether a URL has a link score.
func (p *page) ranked() bool { return p.kind == store.Page || p.linked || p.target }

// score sets the link score of each URL, with 100 for the highest rank. The argument ways has the links of each page.
func (s *site) score(ways [][]int32) {
	n, ends := 0.0, []int32(nil) // number of ranked URLs, and those of them without links
	ranks, next := make([]float64, len(s.pages)), make([]float64, len(s.pages))
	for at := range s.pages {
		p := &s.pages[at]
		if p.kind == store.Redirect && p.to != nobody {
			ways[at] = []int32{p.to}
		}
		slices.Sort(ways[at])
		followed, _ := slices.BinarySearch(ways[at], 0) // the links before it are not followed
		ways[at] = slices.Compact(ways[at][followed:])
		if p.ranked() {
			if n++; len(ways[at]) == 0 {
				ends = append(ends, int32(at))
			}
		}
	}
	for change := 1.0; change >= tolerance; ranks, next = next, ranks {
		lost := 0.0
		for _, at := range ends {
			lost += ranks[at]
		}
		anew := (1 - damping + damping*lost) / n
		for at := range next {
			if next[at] = 0; s.pages[at].ranked() {
				next[at] = anew
			}
		}
		for at, all := range ways {
			share := damping * ranks[at] / float64(len(all)) // not used if there are no links
			for _, to := range all {
				next[to] += share
			}
		}
		change = 0
		for at := range next {
			change += math.Abs(next[at] - ranks[at])
		}
	}
	s.scores = make([]float32, len(s.pages))
	best := slices.Max(append(ranks, math.SmallestNonzeroFloat64))
	for at := range s.scores {
		s.scores[at] = float32(100 * ranks[at] / best)
	}
}

func scoreOf(s *subject, _ *store.Record) any {
	all := s.audit().site.scores
	if all == nil || !s.site().ranked() {
		return nil
	}
	return report.Percent(math.Round(float64(all[s.entry.page])*100) / 100)
}

// A phrase is an anchor text of links to a URL.
type phrase struct {
	text  string
	links int
}

// maxPhrases is the maximum number of anchor texts of a URL. Each takes 24 bytes, and the texts of all URLs have one
// copy of each.
const maxPhrases = 20

// say counts an anchor text of a link. It ignores a new text of a URL that already has maxPhrases.
func (s *site) say(to int32, text string) {
	all := s.said[to]
	i := slices.IndexFunc(all, func(p phrase) bool { return p.text == text })
	switch {
	case i >= 0:
		all[i].links++
	case text != "" && len(all) < maxPhrases:
		s.said[to] = append(all, phrase{unique.Make(text).Value(), 1})
	}
}

// anchorsOf lists the anchor texts of the links to a URL, each with the number of links, most frequent first.
func anchorsOf(s *subject, _ *store.Record) any {
	all := slices.Clone(s.audit().site.said[s.entry.page])
	slices.SortStableFunc(all, func(a, b phrase) int { return cmp.Compare(b.links, a.links) })
	var texts []string
	for _, p := range all {
		texts = append(texts, fmt.Sprintf("%s (%d)", p.text, p.links))
	}
	return text(strings.Join(texts, "; "))
}
