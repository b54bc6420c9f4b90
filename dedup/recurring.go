package dedup

import (
	"maps"

	"github.com/zeebo/xxh3"
)

// # Recurring blocks
//
// An extractor may mistake a footer, a licence or "Subscribe to our newsletter" for part of the
// text. Such a block makes two short pages of one site resemble each other. It can be recognised
// because it recurs on many pages of one host.
//
// The count is exact and uses bounded memory. The pages are read twice, with the hash filter of
// Park, Chen and Yu ("An effective hash-based algorithm for mining association rules", SIGMOD
// 1995). The first pass counts blocks by bucket in a table of bytes. A bucket's count is at least
// that of each of its blocks. So only blocks in buckets that reach the bound can recur often
// enough. The second pass counts only these blocks, one by one. A crowded table costs memory for
// blocks that turn out to be rare, but never changes the result. The order of the pages does not
// matter in either pass.
//
// The bound was measured on two versions of the same documentation, with 3,800 pages each. Some 70
// of these pages repeat a table of 40 words and have 15 words of their own. A bound that is a share
// of the host misses blocks that recur in only one section: with a bound of one page in ten, the
// resemblance of these pages stays at .5. With a bound of fifty pages, whatever the size of the
// host, it falls to 0. With it, 142 of the 146 pages that resemble their other version by .8 or more
// still do. The other four are short and consist largely of a licence. Their resemblance fell to between
// .71 and .79. With a bound of thirty pages, the resemblance of long pages of different classes
// rose, because some recurring blocks were text in which the pages differ.
//
// Known weaknesses: a block that changes from page to page ("page 3 of 12") counts as a different
// block each time, and is compared like other text. A heading that many pages on a subject share
// ("Parameters") is left out of both sides of a comparison, like a footer.

// On a host of n pages, a block recurs if it is on at least n/recurringShare pages, rounded up. It
// must be on at least minRecurring pages, and need not be on more than RecurringAlways.
const (
	RecurringHost   = 20 // on a host with fewer pages no block recurs, because a series of articles could look like a template
	minRecurring    = 10 // a block on fewer pages than this never recurs
	recurringShare  = 10 // a block recurs if it is on one in recurringShare pages of its host, subject to the other bounds
	RecurringAlways = 50 // a block on at least this many pages recurs, however many pages its host has
)

// The table of Recurring has bucketsPerPage one-byte buckets for each page, up to a total of
// maxBuckets, which is 16 MiB. For example, with a million pages of fifty blocks each, about three
// blocks share a bucket.
const (
	bucketsPerPage = 256
	maxBuckets     = 1 << 24
)

// Recurring finds the blocks that recur on many pages of a host. Call Read once for every page,
// then call Count once for every page.
type Recurring struct {
	least  uint8
	table  []uint8        // number of blocks in each bucket in the first pass; counting stops at Recurring.least
	counts map[uint64]int // number of pages with each block, counted in the second pass
}

// NewRecurring returns a Recurring for a host with the given number of pages. This number
// determines how many pages must contain a block for it to count as recurring.
func NewRecurring(pages int) *Recurring {
	r := &Recurring{counts: map[uint64]int{}}
	r.least = uint8(min(max(minRecurring, (pages+recurringShare-1)/recurringShare), RecurringAlways))
	if pages >= RecurringHost {
		r.table = make([]uint8, min(bucketsPerPage*pages, maxBuckets))
	}
	return r
}

func (r *Recurring) bucket(block uint64) *uint8 { return &r.table[block%uint64(len(r.table))] }

// Read reads the blocks of one page in the first pass. blocks contains the page's block numbers as
// [Rule.Block] returns them, without repeats.
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

// Count reads the blocks of one page in the second pass, after [Recurring.Read] has read all pages.
// blocks contains the page's block numbers, without repeats.
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

// Blocks maps the number of each recurring block to the count of pages with that block. Call it
// after [Recurring.Count] has read all pages.
func (r *Recurring) Blocks() map[uint64]int {
	maps.DeleteFunc(r.counts, func(_ uint64, n int) bool { return n < int(r.least) })
	return r.counts
}

// Block returns the number that identifies a block of text in the language lang: the hash of its
// canonical form under this rule. ok is false if the block has no words. Block overwrites t.
func (r Rule) Block(t *Text, block, lang string) (number uint64, ok bool) {
	r.Read(t, block, lang)
	return xxh3.Hash(t.Bytes()), t.Len() > 0
}
