package learn

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"strings"

	"github.com/zeebo/xxh3"

	"skink/base/splitmix"
)

// # Text that a host has shown before
//
// A page has new text if it has a line that no earlier page of the host had. A line is a paragraph,
// a table row or a list item. So a page with a known list in another order is a copy, and a page
// that differs from another in one paragraph has new text. Some lists are on one line. For these,
// another hash covers all words of a page, ignoring their order.
//
// The hashes are kept in Bloom filters, with 16 bits per hash ("Space/time trade-offs in hash
// coding with allowable errors", Bloom 1970). All bits of a hash are in one block of 64 ("Cache-,
// hash- and space-efficient Bloom filters", Putze, Sanders and Singler 2007), so a lookup in a
// filter is one read. When a filter is full, the next has four times its size ("Scalable Bloom
// Filters", Almeida et al. 2007), up to largestFilter. If there are more than maxFilters, the
// oldest is dropped. On a large host, about 2% of the new lines are mistaken for known ones.
// Isolated errors do no harm, because a pattern loses its budget only after many copies in a row.
const (
	firstFilter   = 512       // bytes
	largestFilter = 64 << 10  // bytes
	growth        = 4         // size of a filter, relative to the previous one
	maxFilters    = 7         // maximum number of filters: four of growing size and three of the largest size, for some 100,000 lines
	bitsALine     = 16        // number of filter bits per hash
	bitsSet       = 5         // maximum number of bits that a hash sets
	maxLines      = 1000      // maximum number of lines or links hashed per page
	seedOfURL     = 0x9e3779b // makes the hash of a URL differ from that of a line
	seedOfLink    = 0x5851f42 // makes the hash of a link differ from those of URLs and lines
)

// A Text represents a page's main text. It contains a hash of each line, followed by one hash of
// all words that does not depend on their order.
type Text []uint32

// TextOf returns the Text of a page's main text. The argument words contains the hash of each word
// in the text.
func TextOf(text string, words []uint64) (t Text) {
	if len(words) == 0 {
		return nil
	}
	t = make(Text, 0, min(len(text)/32, maxLines)+2)
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && len(t) < maxLines {
			t = append(t, uint32(xxh3.HashString(line)))
		}
	}
	bag := uint64(0)
	for _, word := range words {
		bag += word
	}
	return append(t, uint32(splitmix.Mix(bag)))
}

// LinksOf returns a Text with hashes of the links from a page to other pages of its host. It leaves
// out links to the same path, and to views (views.go).
func LinksOf(url string, to iter.Seq[string]) (t Text) {
	host, own := hostOf(url), path(url)
	for link := range to {
		if hostOf(link) != host {
			continue
		}
		if path, text, _ := strings.Cut(pathOf(link), "?"); path == own || viewOf(path, query(text)) != "" {
			continue
		}
		if t = append(t, hashOf(link)); len(t) == maxLines {
			break
		}
	}
	return t
}

// Body returns the Text of a response that is not text, given the hash of its bytes.
func Body(hash [16]byte) Text { return Text{hashOf(string(hash[:]))} }

func hashOf(s string) uint32 { return uint32(xxh3.HashString(s)) }

// A seen is a set of hashes of the lines and links of one host's pages, and of their URLs.
type seen struct {
	Filters [][]byte `json:"filters,omitempty"`
	Last    int      `json:"last,omitempty"` // number of hashes in the last filter
}

func (s *seen) has(hash uint32) bool {
	for _, f := range s.Filters {
		if b, mask := bitsOf(f, hash); binary.LittleEndian.Uint64(b)&mask == mask {
			return true
		}
	}
	return false
}

func (s *seen) add(hash uint32) (known bool) {
	if s.has(hash) {
		return true
	}
	if n := len(s.Filters); n == 0 {
		s.grow(firstFilter)
	} else if last := s.Filters[n-1]; s.Last >= len(last)*8/bitsALine {
		s.grow(min(growth*len(last), largestFilter))
	}
	b, mask := bitsOf(s.Filters[len(s.Filters)-1], hash)
	binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)|mask)
	s.Last++
	return false
}

// bitsOf returns the block of a filter that contains a hash, and the mask of the hash's bits within
// it.
func bitsOf(f []byte, hash uint32) (block []byte, mask uint64) {
	mixed := splitmix.Mix(uint64(hash) + 1)
	for i := range bitsSet {
		mask |= 1 << (mixed >> (6 * i) & 63)
	}
	n, _ := bits.Mul64(mixed, uint64(len(f)/8))
	return f[8*n:], mask
}

// grow adds a filter of size bytes, and drops the oldest if there are too many.
func (s *seen) grow(size int) {
	if len(s.Filters) == maxFilters {
		s.Filters = s.Filters[1:]
	}
	s.Filters, s.Last = append(s.Filters, make([]byte, size)), 0
}

func (s *seen) take(t Text) (known bool) {
	if len(t) == 0 {
		return false
	}
	bag, lines := t[len(t)-1], t[:len(t)-1]
	known = len(lines) > 0
	for _, line := range lines {
		known = s.add(line) && known
	}
	return s.add(bag) || known
}

// takeLinks adds links, and reports whether every one of them was known before, or is the URL of a
// judged page.
func (s *seen) takeLinks(links Text) (known bool) {
	known = true
	for _, link := range links {
		if !s.has(link^seedOfURL) && !s.add(link^seedOfLink) {
			known = false
		}
	}
	return known
}

func (s *seen) takeURL(url string) (known bool) { return s.add(hashOf(url) ^ seedOfURL) }
