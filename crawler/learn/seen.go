package learn

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"strings"

	"github.com/zeebo/xxh3"
)

// # Texts that a host has shown before
//
// A page has a new text if it has a line that no earlier page of the host had. A line is a
// paragraph, a row of a table or an item of a list. So a list in another order is a copy, and a
// page that differs from another in one paragraph is a new text. A further hash covers all words,
// ignoring their order, for lists that are on one line.
//
// The hashes are kept in Bloom filters, 16 bits each ("Space/time trade-offs in hash coding with
// allowable errors", Bloom 1970). All bits of a hash are in one block of 64 ("Cache-, hash- and
// space-efficient Bloom filters", Putze, Sanders and Singler 2007), so a look-up in a filter is one
// read. When a filter is full, the next has four times its size ("Scalable Bloom Filters", Almeida
// et al. 2007), up to largestFilter; after that the oldest is dropped. On a large host, about 2 %
// of the new lines are wrongly taken as known. That does no harm, because evidence needs a row of
// copies.
const (
	firstFilter   = 512       // bytes
	largestFilter = 64 << 10  // bytes
	growth        = 4         //
	mostFilters   = 7         // the growing ones, and two more of the largest size: some 100,000 lines
	bitsALine     = 16        //
	bitsSet       = 5         // of each
	mostLines     = 1000      // of one page
	seedOfURL     = 0x9e3779b // distinguishes URLs from lines
	seedOfLink    = 0x5851f42 // distinguishes links from both
)

// A Text represents a page's main text: hashes of its lines, and last a hash of all its words that
// ignores their order.
type Text []uint32

// TextOf returns the Text of a page's main text, given also as hashes of its words.
func TextOf(text string, words []uint64) (t Text) {
	if len(words) == 0 {
		return nil
	}
	t = make(Text, 0, min(len(text)/32, mostLines)+2)
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && len(t) < mostLines {
			t = append(t, uint32(xxh3.HashString(line)))
		}
	}
	bag := uint64(0)
	for _, word := range words {
		bag += word
	}
	return append(t, uint32(mix(bag)))
}

// LinksOf returns a Text of the links of a page to other pages of its own host.
func LinksOf(url string, to iter.Seq[string]) (t Text) {
	host, own := hostOf(url), path(url)
	for link := range to {
		if hostOf(link) != host {
			continue
		}
		if path, text, _ := strings.Cut(pathOf(link), "?"); path == own || viewOf(path, query(text)) != "" {
			continue
		}
		if t = append(t, hashOf(link)); len(t) == mostLines {
			break
		}
	}
	return t
}

// Body returns a Text of an answer that is not text, from the hash of its bytes.
func Body(hash [16]byte) Text { return Text{hashOf(string(hash[:]))} }

func hashOf(s string) uint32 { return uint32(xxh3.HashString(s)) }

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// A seen is the set of hashes of all lines and URLs that the pages of one host have shown.
type seen struct {
	Filters [][]byte `json:"filters,omitempty"`
	Last    int      `json:"last,omitempty"` // hashes in the last of them
}

// has reports whether a hash is known.
func (s *seen) has(hash uint32) bool {
	for _, f := range s.Filters {
		if b, mask := bitsOf(f, hash); binary.LittleEndian.Uint64(b)&mask == mask {
			return true
		}
	}
	return false
}

// add adds a hash, and reports whether it was known before.
func (s *seen) add(hash uint32) (known bool) {
	known = s.has(hash)
	if !known {
		s.put(hash)
	}
	return known
}

// put adds a hash to the last filter, without checking the others.
func (s *seen) put(hash uint32) {
	if n := len(s.Filters); n == 0 {
		s.grow(firstFilter)
	} else if last := s.Filters[n-1]; s.Last >= len(last)*8/bitsALine {
		s.grow(min(growth*len(last), largestFilter))
	}
	b, mask := bitsOf(s.Filters[len(s.Filters)-1], hash)
	if all := binary.LittleEndian.Uint64(b); all&mask != mask {
		binary.LittleEndian.PutUint64(b, all|mask)
		s.Last++
	}
}

// bitsOf returns the bits of a hash in a filter: the block, and a mask of its bits.
func bitsOf(f []byte, hash uint32) (block []byte, mask uint64) {
	mixed := mix(uint64(hash) + 1)
	for i := range bitsSet {
		mask |= 1 << (mixed >> (6 * i) & 63)
	}
	n, _ := bits.Mul64(mixed, uint64(len(f)/8))
	return f[8*n:], mask
}

// grow adds a filter of size bytes, and drops the oldest if there are too many.
func (s *seen) grow(size int) {
	if len(s.Filters) == mostFilters {
		s.Filters = s.Filters[1:]
	}
	s.Filters, s.Last = append(s.Filters, make([]byte, size)), 0
}

// take adds the hashes of a page, and reports whether its text was known before.
func (s *seen) take(t Text) (known bool) {
	if len(t) == 0 {
		return false
	}
	bag, lines := t[len(t)-1], t[:len(t)-1]
	known = len(lines) > 0
	for _, line := range lines {
		if known {
			known = s.add(line)
		} else {
			s.put(line)
		}
	}
	return s.add(bag) || known
}

// takeLinks adds links, and reports whether all of them were known before, or lead to pages that
// were judged.
func (s *seen) takeLinks(links Text) (known bool) {
	known = true
	for _, link := range links {
		if !s.has(link^seedOfURL) && !s.add(link^seedOfLink) {
			known = false
		}
	}
	return known
}

// takeURL adds a URL, and reports whether it was known before.
func (s *seen) takeURL(url string) (known bool) { return s.add(hashOf(url) ^ seedOfURL) }
