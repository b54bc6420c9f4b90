package dedup

import (
	"math/bits"
	"slices"
)

// A Set is the set of shingles of a text: their numbers in ascending order, without repeats.
type Set []uint64

// # Sorting shingles
//
// The numbers of shingles are spread evenly over the 64-bit numbers, so the upper bits of a number
// predict its position in the sorted set. NewSet counts the numbers that have the same upper bits,
// distributes them over buckets of about two numbers, and uses insertion sort in each bucket. That
// takes some ten nanoseconds for each number, a sixth of the time of a comparison sort.
//
// A bucket is large if a text repeats itself, or if an attacker chose its words for this purpose.
// Large buckets are sorted by [slices.Sort] first, so NewSet is never slower than a comparison sort
// of the whole set.

// crowded is the minimum size of a bucket that NewSet sorts with slices.Sort, because insertion
// sort takes quadratic time.
const crowded = 32

// NewSet returns the set of the given shingles, which may be in any order and have repeats. NewSet
// neither changes nor keeps its argument.
func NewSet(shingles []uint64) Set {
	if len(shingles) == 0 {
		return nil
	}
	var few [512]uint32 // a table on the stack for texts of up to a thousand words
	ends := few[:]
	width := bits.Len(uint(len(shingles) / 2))
	if 1<<width > len(ends) {
		ends = make([]uint32, 1<<width)
	}
	shift := 64 - width
	for _, v := range shingles {
		ends[v>>shift]++
	}
	largest, end := uint32(0), uint32(0)
	for i, n := range ends {
		largest = max(largest, n)
		ends[i] = end
		end += n
	}
	set := make(Set, len(shingles))
	for _, v := range shingles {
		at := &ends[v>>shift]
		set[*at] = v
		*at++
	}
	if largest > crowded {
		start := uint32(0)
		for _, end := range ends {
			if end-start > crowded {
				slices.Sort(set[start:end])
			}
			start = end
		}
	}
	for i, v := range set {
		for ; i > 0 && set[i-1] > v; i-- {
			set[i] = set[i-1]
		}
		set[i] = v
	}
	return slices.Compact(set)
}
