package learn

import "time"

// # Fetching postponed URLs
//
// When nothing else is left to fetch, the crawl looks at its postponed URLs again. It fetches the
// URLs of patterns that have regained their budget. If a pattern lost its budget again but gave new
// text in between, a chunk of its URLs is fetched. If the chunk gives new text too, the next chunk
// is twice as large. The first chunk has chunkATexts times as many URLs as the pattern has needed
// so far for one page with new text. No views and traps are queued.
//
// A pattern that never gave a second new page may have had unlucky samples. So one chunk of its
// URLs is fetched; these are called last samples. Their number is 1/lastShare of the number of the
// host's pages with new text, and its patterns share them equally. All other URLs stay postponed.
const (
	minChunk    = 16
	chunkATexts = 4
	maxDoubled  = 10 // maximum number of times that the chunk size is doubled
	lastShare   = 5  // one last sample for every lastShare of the host's pages with new text
)

// A Sweep decides which postponed URLs of a host are fetched next.
type Sweep struct {
	site   *Host
	last   int64          // total number of last samples that may be fetched
	lasts  int64          // number of patterns that share the last samples
	chunks map[Advice]int // number of URLs that may be fetched, by their advice
}

// Sweep returns a new Sweep of the host. The caller must pass all postponed URLs of the host to
// [Sweep.Look].
func (h *Host) Sweep() *Sweep {
	return &Sweep{site: h, last: max(h.New/lastShare-h.Last, 0), chunks: map[Advice]int{}}
}

// Look returns the advice about a postponed URL. If the advice has no Rule, the URL should be
// fetched. If the advice about every URL of the host has a Rule, a chunk of URLs with the same
// advice may be fetched instead. Look returns the size of the chunk, which Size may reduce later.
func (s *Sweep) Look(url string, now time.Time) (a Advice, chunk int) {
	if a = s.site.Look(url, now); a.Rule == "" {
		return a, 0
	}
	chunk, known := s.chunks[a]
	if known {
		return a, chunk
	}
	switch p := s.site.Patterns[a.Pattern]; {
	case p == nil || a.Rule != Copies:
	case p.givesTexts():
		chunk = int(max(minChunk, chunkATexts*p.fetched()/p.New)) << min(p.Chunk, maxDoubled)
	case p.Chunk == 0:
		chunk = int(s.last)
		s.lasts++
	}
	s.chunks[a] = chunk
	return a, chunk
}

// Size returns how many of the postponed URLs with this advice should be fetched. Call it after
// Look has been called for all postponed URLs of the host.
func (s *Sweep) Size(a Advice) int {
	if p := s.site.Patterns[a.Pattern]; p == nil || p.givesTexts() {
		return s.chunks[a]
	}
	return int((s.last + s.lasts - 1) / s.lasts)
}

// givesTexts reports whether a pattern has given a page with new text since a chunk of its URLs was
// last queued. The pattern must have given at least two such pages in total, because the first page
// of any pattern may be new.
func (p *Pattern) givesTexts() bool { return p.New > max(p.Swept, 1) }

// Queued records that a chunk of postponed URLs with this advice was queued. The argument chunk is
// the number of URLs.
func (h *Host) Queued(a Advice, chunk int) {
	p := h.Patterns[a.Pattern]
	if p == nil {
		return
	}
	if !p.givesTexts() {
		h.Last += int64(chunk)
	}
	p.Swept = p.New
	p.Chunk++
}
