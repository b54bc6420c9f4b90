package dedup

import (
	"maps"

	"github.com/zeebo/xxh3"
)

// # Blocks that return
//
// A footer, a licence or a "Subscribe to our letter" that an extractor took for text says nothing
// about its page, and makes two short pages of one site look alike. Such a block can be told from
// text because it returns on many pages of one host.
//
// Which blocks return is counted exactly and in bounded memory, in two readings of the pages, by
// the hash filter of Park, Chen and Yu ("An effective hash-based algorithm for mining association
// rules", SIGMOD 1995). The first reading counts blocks by bucket in a table of bytes. A bucket's
// count is at least that of each of its blocks, so only blocks in buckets that reach the bound can
// return often enough, and only these are counted one by one in the second reading. A crowded table
// costs memory for blocks that turn out to be rare; it never changes the answer. The order of the
// pages does not count in either reading.
//
// How many pages are many was measured on two versions of one documentation, 3,800 pages each, some
// 70 of which repeat a table of 40 words and have 15 of their own. A bound that is a share of the
// host misses what returns in one section only: at one page in ten these pages resemble each other
// as before, by .5. With a bound of fifty pages, whatever the size of the host, they do not
// resemble each other at all. Of 146 pages that resemble their other version by .8 or more, 142
// still do. The other four are short, a licence is a good part of them, and they fell to between
// .71 and .79. With a bound of thirty, long pages of different classes came to resemble each other
// more, because blocks that returned held what they say differently.
//
// What it gets wrong: a block that changes from page to page ("page 3 of 12") is another block each
// time, and a phrase of the trade ("Parameters") is left out like a footer. The first is compared
// like any text. The second is missing on both sides of a comparison.

// These say on how many pages a block must return to be the host's and not the page's.
const (
	RecurringHost   = 20 // pages a host must have before it is counted at all: on fewer, a series of articles looks like a template
	recurringLeast  = 10 // pages a block must return on,
	recurringShare  = 10 // and on at least one in so many pages of the host,
	RecurringAlways = 50 // but on any host so many pages are enough
)

// The table has a number of buckets for each page, and 16 MiB of them at most: with a million pages
// of fifty blocks each that is three blocks to a bucket.
const (
	bucketsPerPage = 256
	bucketsMost    = 1 << 24
)

// Recurring finds the blocks that return on many of a host's pages: Read every page
// once, then Count every page once.
type Recurring struct {
	least  uint8
	table  []uint8 // counts, which stop at least
	counts map[uint64]int
}

// NewRecurring begins to count the blocks of a host of so many pages.
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

// Blocks are the numbers of those that return, and on how many pages each does.
func (r *Recurring) Blocks() map[uint64]int {
	maps.DeleteFunc(r.counts, func(_ uint64, n int) bool { return n < int(r.least) })
	return r.counts
}

// Block is the number of a block of text in a language, a hash of its canonical
// form; false: it has no words. It uses the memory of t.
func (r Rule) Block(t *Text, block, lang string) (number uint64, ok bool) {
	r.Read(t, block, lang)
	return xxh3.Hash(t.Bytes()), t.Len() > 0
}
