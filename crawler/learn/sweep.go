package learn

import "time"

// # What was postponed comes back
//
// When nothing else is left to fetch, the crawl looks at its postponed URLs again. It fetches those
// whose pattern has its budget back. If a pattern lost its budget again, but has given new texts, a
// chunk of its URLs is fetched. If that gives a new text too, the next chunk is twice as large. The
// first chunk has four times the URLs among which one new text was found so far. Views and traps come
// back in the same way, but never outnumber the host's new texts.
//
// A pattern that never gave a second text may have had unlucky samples. It gets one chunk of last
// samples. All last samples of a host together are at most a fifth of its new texts, so each pattern
// gets half of what the patterns before it left. The rest stays postponed.
const (
	leastChunk  = 16
	chunkATexts = 4
	mostDoubled = 10 // chunks that are larger than the one before
	lastShare   = 5  // new texts for one last sample
)

// A Sweep decides which of a host's postponed URLs are fetched next.
type Sweep struct {
	site   *Host
	room   int64 // for views and traps
	last   int64 // samples that are left for patterns without a second text
	chunks map[Advice]int
}

// Sweep begins to look at what was postponed of a host.
func (h *Host) Sweep() *Sweep {
	return &Sweep{site: h, room: max(h.New-h.Extra, 0), last: max(h.New/lastShare-h.Last, 0), chunks: map[Advice]int{}}
}

// Look says whether a postponed URL is to be fetched now: whatever else is done, or if nothing is
// that has its budget back, as one of the chunk of those with the same advice.
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
		chunk = int(min(max(leastChunk, s.last/2), s.last))
		s.last -= int64(chunk)
	}
	s.chunks[a] = chunk
	return a, chunk
}

// givesTexts says whether a pattern gave new texts since its last chunk. One text is not enough: the
// first page of any pattern may be new.
func (p *Pattern) givesTexts() bool { return p.New > max(p.Swept, 1) }

// Queued takes in that a chunk of so many URLs was queued.
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
