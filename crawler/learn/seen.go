package learn

import (
	"iter"
	"math/bits"
)

// # What a host has said before
//
// A page says something new if it has a line that no page of the host had before. A line is a
// paragraph, a row of a table or an item of a list. So a list in another order is a copy, and a page
// that differs from another in one paragraph is a new text. A hash of all words that ignores their
// order stands beside the lines, for lists that are all in one line.
//
// The hashes are kept in Bloom filters, 16 bits each ("Space/time trade-offs in hash coding with
// allowable errors", Bloom 1970). When one is full, the next has twice its room ("Scalable Bloom
// Filters", Almeida et al. 2007), up to largestFilter; then the oldest is given up. Fewer than
// one new line in a hundred is taken for known. That costs nothing: evidence needs a row of copies.
const (
	firstFilter   = 512       // bytes
	largestFilter = 64 << 10  // bytes
	mostFilters   = 10        // those that grow, and two more of the largest: some 100,000 lines
	bitsALine     = 16        //
	probesALine   = 4         // bits that are set of each
	mostLines     = 1000      // of one page
	seedOfURL     = 0x9e3779b // tells URLs from lines
	seedOfLink    = 0x5851f42 // tells links from both
)

// A Text is what is compared of a page's main text: hashes of its lines, and of all its words
// whatever their order.
type Text []uint32

// TextOf makes a Text of a page's main text. It is pure.
func TextOf(text string) (t Text) {
	word, line, bag := uint64(fnvBasis), uint64(0), uint64(0)
	endWord := func() {
		if word != fnvBasis {
			line, bag, word = (line^word)*fnvPrime, bag+mix(word), fnvBasis
		}
	}
	for i := range len(text) {
		switch c := text[i]; c {
		default:
			word = (word ^ uint64(c)) * fnvPrime
		case ' ', '\t', '\r', '\n':
			if endWord(); c == '\n' && line != 0 {
				if len(t) < mostLines {
					t = append(t, fold(line))
				}
				line = 0
			}
		}
	}
	if endWord(); line != 0 && len(t) < mostLines {
		t = append(t, fold(line))
	}
	if t == nil {
		return nil
	}
	return append(t, fold(bag))
}

// LinksOf makes a Text of the URLs that a page leads to on its own host.
func LinksOf(url string, to iter.Seq[string]) (t Text) {
	host, own := hostOf(url), path(url)
	for link := range to {
		if hostOf(link) != host || path(link) == own || viewOf(link) != "" {
			continue
		}
		if t = append(t, hashOf(link)^seedOfLink); len(t) == mostLines {
			break
		}
	}
	return t
}

// Body makes a Text of an answer that is not text, of the hash of its bytes.
func Body(hash [16]byte) Text { return Text{hashOf(string(hash[:]))} }

// These are those of FNV-1a.
const (
	fnvBasis = 14695981039346656037
	fnvPrime = 1099511628211
)

// fold makes a number of 32 bits of one of 64.
func fold(x uint64) uint32 { return uint32(mix(x)) }

func hashOf(s string) uint32 { return uint32(sumOf(s)) }

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// seen are the hashes of what a host has said.
type seen struct {
	Filters [][]byte `json:"filters,omitempty"`
	Last    int      `json:"last,omitempty"` // hashes in the last of them
}

// in says whether a hash is in a filter. The hash is mixed.
func in(f []byte, mixed uint64) bool {
	for i := range uint64(probesALine) {
		if at := probe(f, mixed, i); f[at>>3]&(1<<(at&7)) == 0 {
			return false
		}
	}
	return true
}

// probe is the i-th of the bits that stand for a mixed hash in a filter ("Less Hashing, Same
// Performance", Kirsch and Mitzenmacher 2006).
func probe(f []byte, mixed, i uint64) uint64 {
	high, _ := bits.Mul64(mixed*(2*i+1)+i*(mixed>>32|1)<<32, uint64(len(f))*8)
	return high
}

// add makes a hash known, and says whether it was known before.
func (s *seen) add(hash uint32) (known bool) {
	mixed := mix(uint64(hash) + 1)
	for _, f := range s.Filters {
		if in(f, mixed) {
			return true
		}
	}
	if n := len(s.Filters); n == 0 {
		s.grow(firstFilter)
	} else if last := s.Filters[n-1]; s.Last >= len(last)*8/bitsALine {
		s.grow(min(2*len(last), largestFilter))
	}
	f := s.Filters[len(s.Filters)-1]
	for i := range uint64(probesALine) {
		at := probe(f, mixed, i)
		f[at>>3] |= 1 << (at & 7)
	}
	s.Last++
	return false
}

// grow begins a filter of so many bytes, and gives up the oldest if there are too many.
func (s *seen) grow(size int) {
	if len(s.Filters) == mostFilters {
		s.Filters = s.Filters[1:]
	}
	s.Filters, s.Last = append(s.Filters, make([]byte, size)), 0
}

// take makes a page known, and says whether all that it says was known before.
func (s *seen) take(t Text) (known bool) {
	if len(t) == 0 {
		return false
	}
	bag, lines := t[len(t)-1], t[:len(t)-1]
	allKnown := len(lines) > 0
	for _, line := range lines {
		if !s.add(line) {
			allKnown = false
		}
	}
	return s.add(bag) || allKnown
}

// takeLinks makes links known, and says whether all of them were known before.
func (s *seen) takeLinks(links Text) (known bool) {
	known = true
	for _, hash := range links {
		if !s.add(hash) {
			known = false
		}
	}
	return known
}

// takeURL makes a URL known, and says whether it was known before: it teaches once.
func (s *seen) takeURL(url string) (known bool) { return s.add(hashOf(url) ^ seedOfURL) }
