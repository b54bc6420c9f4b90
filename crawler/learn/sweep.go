package learn

import "time"

// # Fetching postponed URLs
//
// When nothing else is left to fetch, the crawl looks at its postponed URLs again. It fetches those
// whose pattern has its budget back. If a pattern lost its budget again, but has given new texts, a
// chunk of its URLs is fetched. If that gives a new text too, the next chunk is twice as large. The
// first chunk has four times the URLs among which one new text was found so far. Views and traps come
// back in the same way, but there are never more than half as many as the host has new texts.
//
// A pattern that never gave a second text may have had unlucky samples. It gets one chunk of last
// samples. All last samples of a host together are a fifth of its new texts, and the patterns share them
// equally. The rest stays postponed.
const (
	leastChunk  = 16
	chunkATexts = 4
	mostDoubled = 10 // chunks that are larger than the one before
	lastShare   = 5  // new texts for one last sample
	viewShare   = 2  // new texts for one view or trap
)

// A Sweep decides which postponed URLs of a host are fetched next.
type Sweep struct {
	site   *Host
	room   int64          // how many more URLs of views and traps may be fetched
	last   int64          // how many URLs may be fetched of all patterns that never gave a second new text
	lasts  int64          // number of these patterns
	chunks map[Advice]int // how many URLs with the same advice may be fetched
}

// Sweep returns a Sweep of the host. Pass all its postponed URLs to Look.
func (h *Host) Sweep() *Sweep {
	return &Sweep{site: h, room: max(h.New/viewShare-h.Extra, 0), last: max(h.New/lastShare-h.Last, 0), chunks: map[Advice]int{}}
}

// Look returns whether to fetch a postponed URL. If the returned advice has no Rule, the URL is
// fetched. Otherwise it may be fetched as one of a chunk of URLs with the same advice, if no
// pattern has its budget back. The final size of the chunk may be smaller, see Size.
func (s *Sweep) Look(url string, now time.Time) (a Advice, chunk int) {
	if a = s.site.Look(url, now); a.Rule == "" {
		return a, 0
	}
	chunk, known := s.chunks[a]
	if known {
		return a, chunk
	}
	switch p := s.site.Patterns[a.Pattern]; {
	case p == nil:
	case p.givesTexts():
		chunk = int(max(leastChunk, chunkATexts*p.fetched()/p.New)) << min(p.Chunk, mostDoubled)
		if a.Rule != Copies {
			chunk = int(min(int64(chunk), s.room))
			s.room -= int64(chunk)
		}
	case a.Rule == Copies && p.Chunk == 0:
		chunk = int(s.last)
		s.lasts++
	}
	s.chunks[a] = chunk
	return a, chunk
}

// Size returns how many of the postponed URLs with this advice should be fetched. Call it after Look
// was called for all postponed URLs of the host.
func (s *Sweep) Size(a Advice) int {
	if p := s.site.Patterns[a.Pattern]; p == nil || p.givesTexts() {
		return s.chunks[a]
	}
	return int((s.last + s.lasts - 1) / s.lasts)
}

// givesTexts reports whether a pattern gave a new text since URLs of it were last queued. The
// pattern must have given at least two new texts in all, because the first page of any pattern may
// be new.
func (p *Pattern) givesTexts() bool { return p.New > max(p.Swept, 1) }

// Queued records that so many postponed URLs with this advice (chunk) were queued.
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
