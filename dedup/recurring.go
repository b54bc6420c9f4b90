package dedup

import (
	"maps"

	"github.com/zeebo/xxh3"
)

// # Recurring blocks
//
// A footer, a licence or a "Subscribe to our letter" that an extractor took for text says nothing
// about its page. It makes two short pages of one site resemble each other. Such a block can be
// told from text because it recurs on many pages of one host.
//
// The count is exact and uses bounded memory. It takes two readings of the pages, by the hash
// filter of Park, Chen and Yu ("An effective hash-based algorithm for mining association rules",
// SIGMOD 1995). The first reading counts blocks by bucket in a table of bytes. A bucket's count is
// at least that of each of its blocks. So only blocks in buckets that reach the bound can recur
// often enough, and the second reading counts only these one by one. A crowded table costs memory
// for blocks that turn out to be rare, but never changes the result. The order of the pages does
// not matter in either reading.
//
// The bound was measured on two versions of one documentation, 3,800 pages each. Some 70 of these
// pages repeat a table of 40 words and have 15 words of their own. A bound that is a share of the
// host misses blocks that recur in one section only: at one page in ten, the resemblance of these
// pages stays at .5. With a bound of fifty pages, whatever the size of the host, it falls to 0. Of
// 146 pages that resemble their other version by .8 or more, 142 still do. The other four are short
// and consist largely of a licence; they fell to between .71 and .79. With a bound of thirty, long
// pages of different classes came to resemble each other more, because recurring blocks held the
// text in which they differ.
//
// Known weaknesses: a block that changes from page to page ("page 3 of 12") counts as another block
// each time, and is compared like any text. A common phrase of the field ("Parameters") is left out
// like a footer, on both sides of a comparison.

// These bound the number of pages on which a block must recur to belong to the host and not to the
// page.
const (
	RecurringHost   = 20 // pages a host must have before it is counted at all: on fewer, a series of articles looks like a template
	recurringLeast  = 10 // pages a block must return on,
	recurringShare  = 10 // and on at least one in so many pages of the host,
	RecurringAlways = 50 // but on any host so many pages are enough
)

// The table has a number of buckets for each page, and at most 16 MiB of them. For a million pages
// of fifty blocks each, that is three blocks to a bucket.
const (
	bucketsPerPage = 256
	bucketsMost    = 1 << 24
)

// Recurring finds the blocks that recur on many pages of a host. Call Read once for every page,
// then call Count once for every page.
type Recurring struct {
	least  uint8
	table  []uint8 // counts, which stop at least
	counts map[uint64]int
}

// NewRecurring starts counting the blocks of a host of so many pages.
func NewRecurring(pages int) *Recurring {
	r := &Recurring{counts: map[uint64]int{}}
	r.least = uint8(min(max(recurringLeast, (pages+recurringShare-1)/recurringShare), RecurringAlways))
	if pages >= RecurringHost {
		r.table = make([]uint8, min(bucketsPerPage*pages, bucketsMost))
	}
	return r
}

func (r *Recurring) bucket(block uint64) *uint8 { return &r.table[block%uint64(len(r.table))] }

// Read takes the numbers of a page's blocks, each once, in the first reading.
func (r *Recurring) Read(blocks []uint64) {
	if r.table == nil {
		return
	}
	for _, b := range blocks {
		if n := r.bucket(b); *n < r.least {
			*n++
		}
	}
}

// Count takes the numbers of a page's blocks, each once, in the second reading.
func (r *Recurring) Count(blocks []uint64) {
	if r.table == nil {
		return
	}
	for _, b := range blocks {
		if *r.bucket(b) == r.least {
			r.counts[b]++
		}
	}
}

// Blocks returns the numbers of the blocks that recur, and the number of pages of each.
func (r *Recurring) Blocks() map[uint64]int {
	maps.DeleteFunc(r.counts, func(_ uint64, n int) bool { return n < int(r.least) })
	return r.counts
}

// Block returns the number of a block of text in a language, which is a hash of its canonical form.
// ok is false if the block has no words. Block uses the memory of t.
func (r Rule) Block(t *Text, block, lang string) (number uint64, ok bool) {
	r.Read(t, block, lang)
	return xxh3.Hash(t.Bytes()), t.Len() > 0
}
