package learn

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"strings"

	"github.com/zeebo/xxh3"
)

// # What a host has said before
//
// A page says something new if it has a line that no page of the host had before. A line is a
// paragraph, a row of a table or an item of a list. So a list in another order is a copy, and a page
// that differs from another in one paragraph is a new text. A hash of all words that ignores their
// order stands beside the lines, for lists that are all in one line.
//
// The hashes are kept in Bloom filters, 16 bits each ("Space/time trade-offs in hash coding with
// allowable errors", Bloom 1970). All bits of a hash are in one block of 64 ("Cache-, hash- and
// space-efficient Bloom filters", Putze, Sanders and Singler 2007), so a look at a filter is one read.
// When a filter is full, the next has four times its room ("Scalable Bloom Filters", Almeida et al.
// 2007), up to largestFilter; then the oldest is given up. Of the new lines of a large host, some two in
// a hundred are taken for known. That costs nothing: evidence needs a row of copies.
const (
	firstFilter   = 512       // bytes
	largestFilter = 64 << 10  // bytes
	growth        = 4         //
	mostFilters   = 7         // those that grow, and two more of the largest: some 100,000 lines
	bitsALine     = 16        //
	bitsSet       = 5         // of each
	mostLines     = 1000      // of one page
	seedOfURL     = 0x9e3779b // tells URLs from lines
	seedOfLink    = 0x5851f42 // tells links from both
)

// A Text is what is compared of a page's main text: hashes of its lines, and of all its words
// whatever their order.
type Text []uint32

// TextOf makes a Text of a page's main text and of numbers that stand for its words.
func TextOf(text string, words []uint64) (t Text) {
	if len(words) == 0 {
		return nil
	}
	t = make(Text, 0, min(strings.Count(text, "\n")+2, mostLines+1))
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && len(t) < mostLines {
			t = append(t, uint32(xxh3.HashString(line)))
		}
	}
	bag := uint64(0)
	for _, word := range words {
		bag += mix(word)
	}
	return append(t, uint32(mix(bag)))
}

// LinksOf makes a Text of the URLs that a page leads to on its own host.
func LinksOf(url string, to iter.Seq[string]) (t Text) {
	host, own := hostOf(url), path(url)
	for link := range to {
		a := addressOf(link)
		if hostOf(link) != host || a.path == own || a.view() != "" {
			continue
		}
		if t = append(t, hashOf(link)); len(t) == mostLines {
			break
		}
	}
	return t
}

// Body makes a Text of an answer that is not text, of the hash of its bytes.
func Body(hash [16]byte) Text { return Text{hashOf(string(hash[:]))} }

func hashOf(s string) uint32 { return uint32(xxh3.HashString(s)) }

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

// has says whether a hash is known.
func (s *seen) has(hash uint32) bool {
	for _, f := range s.Filters {
		if b, mask := bitsOf(f, hash); binary.LittleEndian.Uint64(b)&mask == mask {
			return true
		}
	}
	return false
}

// add makes a hash known, and says whether it was known before.
func (s *seen) add(hash uint32) (known bool) {
	known = s.has(hash)
	if !known {
		s.put(hash)
	}
	return known
}

// put makes a hash known in the last filter, without a look at the others.
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

// bitsOf are the bits that stand for a hash in a filter: the block, and which of its bits.
func bitsOf(f []byte, hash uint32) (block []byte, mask uint64) {
	mixed := mix(uint64(hash) + 1)
	for i := range bitsSet {
		mask |= 1 << (mixed >> (6 * i) & 63)
	}
	n, _ := bits.Mul64(mixed, uint64(len(f)/8))
	return f[8*n:], mask
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

// takeLinks makes links known, and says whether all of them were known before, or lead to pages that
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

// takeURL makes a URL known, and says whether it was known before: it teaches once.
func (s *seen) takeURL(url string) (known bool) { return s.add(hashOf(url) ^ seedOfURL) }
