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
// predict its position in the sorted set. NewSet counts the numbers that have the same upper bits, and
// distributes them over buckets of about two numbers. [slices.Sort] then sorts a list that is nearly
// sorted, which is faster, whatever the words of the text are.

// NewSet returns the set of the given shingles, which may be in any order and have repeats. NewSet
// neither changes nor keeps its argument.
func NewSet(shingles []uint64) Set {
	width := bits.Len(uint(len(shingles) / 2))
	ends, end := make([]uint32, 1<<width), uint32(0)
	for _, v := range shingles {
		ends[v>>(64-width)]++
	}
	for i, n := range ends {
		ends[i], end = end, end+n
	}
	set := make(Set, len(shingles))
	for _, v := range shingles {
		at := &ends[v>>(64-width)]
		set[*at] = v
		*at++
	}
	slices.Sort(set)
	return slices.Compact(set)
}
