package dedup

import (
	"fmt"
	"math/bits"
	"slices"

	"skink/base/splitmix"
)

// DefaultShingle is the default number of tokens in a shingle. It is ten words, as in Zelenkov and
// Segalovich.
const DefaultShingle = 10

// MaxShingle is the maximum length of a shingle, in units. Most pages are shorter. A page shorter
// than a shingle is a single shingle, so it resembles only equal texts.
const MaxShingle = 10_000

// # Shingles
//
// A shingle consists of w consecutive tokens. A text of n tokens has n-w+1 shingles. A text of
// fewer than w tokens is a single shingle, so two equal short texts have resemblance 1 and a short
// text never equals a longer one.
//
// A shingle's number is computed without joining words. Each token has a 64-bit hash h. The hash of
// a window is the polynomial h[i]·B^(w-1) + … + h[i+w-1] modulo 2^64. The hash of the next window
// follows from it by one subtraction, one multiplication and one addition. This is Rabin and Karp's
// rolling hash over words instead of bytes. B is odd, so no power of it loses bits. A polynomial
// modulo 2^64 has weak low bits, so the sum passes through a mixer. The mixer is a permutation of
// the 64-bit numbers and adds no collisions.
//
// Two different windows collide with probability 2^-64. In a comparison of two pages of a thousand
// shingles, the chance of one wrong match is some 10^-13. That is the meaning of "exact" in this
// package.

// base is 2^64 divided by the golden ratio, rounded to an odd number. Knuth uses it as a multiplier
// (The Art of Computer Programming, volume 3, section 6.4).
const base = 0x9E3779B97F4A7C15

// A Unit is the element of a shingle: a word or a character.
type Unit string

const (
	Words Unit = "word" // tokens of the canonical text
	Chars Unit = "char" // characters of the canonical text, which has one space between tokens
)

// A Shingling defines how a text is cut into overlapping shingles. A shingle begins at each unit.
// The zero value is not usable; see [DefaultShingling].
type Shingling struct {
	Unit Unit
	K    int // number of units in a shingle, 1 to MaxShingle
}

// DefaultShingling returns the default: overlapping shingles of ten words.
func DefaultShingling() Shingling { return Shingling{Unit: Words, K: DefaultShingle} }

// Check returns an error if the shingling is invalid. The error contains a suggestion.
func (s Shingling) Check() error {
	switch {
	case s.Unit != Words && s.Unit != Chars:
		return fmt.Errorf("unknown unit %q: must be word or char", s.Unit)
	case s.K < 1:
		return fmt.Errorf("shingle length %d: must be at least 1", s.K)
	case s.K > MaxShingle:
		return fmt.Errorf("shingle length %d: must be at most %d, because most texts are shorter", s.K, MaxShingle)
	}
	return nil
}

// Append appends the numbers of t's shingles to dst, in the order of the text and with repeats. A
// text without units has no shingles. A text shorter than a shingle is a single shingle.
func (s Shingling) Append(dst []uint64, t *Text) []uint64 {
	units := t.tokens
	if s.Unit == Chars {
		units = t.chars()
	}
	return Roll(dst, units, s.K)
}

// Roll appends the hash of each k consecutive units to dst. Fewer units have one hash together, and no
// units have none. The units are themselves hashes, such as those of [Text.Numbers].
func Roll(dst, units []uint64, k int) []uint64 {
	n := len(units)
	if n == 0 {
		return dst
	}
	k = min(k, n)
	dst = slices.Grow(dst, n-k+1)
	var window, drop uint64 = 0, 1 // window is the hash of the last k units, and drop is base^k
	for _, h := range units[:k] {
		window = window*base + h
		drop *= base
	}
	dst = append(dst, splitmix.Mix(window))
	for i := k; i < n; i++ {
		window = window*base + units[i] - units[i-k]*drop
		dst = append(dst, splitmix.Mix(window))
	}
	return dst
}

// Shingles appends the numbers of t's overlapping shingles of k words to dst.
func (t *Text) Shingles(dst []uint64, k int) []uint64 {
	return Shingling{Unit: Words, K: k}.Append(dst, t)
}

// Set returns the set of t's shingles. It uses a buffer in t for the list of shingles.
func (s Shingling) Set(t *Text) Set {
	t.shingles = s.Append(t.shingles[:0], t)
	return NewSet(t.shingles)
}

// Set returns the set of the overlapping shingles of k words in t.
func (t *Text) Set(k int) Set { return Shingling{Unit: Words, K: k}.Set(t) }

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
