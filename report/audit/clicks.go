package audit

import (
	"slices"

	"skink/store"
)

// maxWays is the maximum number of links from which [site.count] finds the clicks to each page. They
// take 256 MB.
const maxWays = 1 << 26

// keepWays keeps the links of a page that a visitor can click, until count is called. The argument ways
// has the indexes of their URLs.
func (s *site) keepWays(at int32, ways []int32) {
	if s.kept += len(ways); s.kept <= maxWays {
		s.ways[at] = slices.Clone(ways)
	}
}

// clicked reports whether a visitor follows links of this kind.
func clicked(kind store.LinkKind) bool {
	return kind == store.LinkAnchor || kind == store.LinkFrame || kind == store.LinkRefresh
}

// count sets page.clicks of each page to the length of the shortest path of links from a seed. The
// crawl's own depth would be too small for a page that a sitemap lists. A redirect takes no click. If no
// path leads to a page, or there are too many links, clicks stays the depth.
func (s *site) count() {
	ways := s.ways
	if s.ways = nil; s.kept > maxWays {
		return
	}
	const unknown = -1
	clicks := make([]int32, len(s.pages))
	var next []int32
	for at := range s.pages {
		if clicks[at] = unknown; s.pages[at].seed {
			clicks[at], next = 0, append(next, int32(at))
		}
	}
	for n := int32(0); len(next) > 0; n++ {
		var later []int32
		reach := func(to, steps int32, all *[]int32) {
			if clicks[to] == unknown {
				clicks[to], *all = steps, append(*all, to)
			}
		}
		for i := 0; i < len(next); i++ { // redirects lengthen next
			at := next[i]
			if p := &s.pages[at]; p.kind == store.Redirect && p.to != nobody {
				reach(p.to, n, &next)
			}
			for _, to := range ways[at] {
				reach(max(to, ^to), n+1, &later)
			}
		}
		next = later
	}
	for at := range s.pages {
		if clicks[at] != unknown {
			s.pages[at].clicks = clicks[at]
		}
	}
	if s.scored {
		s.score(ways)
	}
}
