package dedup

import (
	"encoding/binary"
	"math"

	"skink/base/splitmix"
)

// Minima is the number of hash functions, which is also the number of values in a sketch.
const Minima = 84

// # The 84 functions
//
// A sketch keeps the minimum of each of 84 functions over the page's shingles. If a function orders
// all shingles like a random permutation, the smallest element of A∪B is equally likely to be any
// of its members, and is in both A and B with probability |A∩B|/|A∪B|. So the share of the 84
// places in which two sketches agree estimates the resemblance, with standard error √(J(1-J)/84):
// .055 at J = .5, .044 at .8.
//
// The literature asks for 84 "static" functions and does not name them. Here a function is a
// permutation of the 32-bit numbers,
//
//	f_i(x) = (y ^ y>>15) · c, where y = (x ^ k_i) · m_i
//
// and x is the upper half of the shingle's mixed 64-bit number.
//
//   - The functions need not be strong hashes, because the shingles are already hashed well. Each
//     f_i by itself may be any permutation, and its minimum is an unbiased random sample. The
//     family must add independence between its members: 84 functions whose minima fell on the same
//     shingle would be one function. Multiplication by 84 different odd numbers alone is not
//     enough. It ties the low bits of all the products together, and does not reorder nearby x if
//     the multipliers are close. The exclusive or before it and the second round after it remove
//     both dependencies. The test compares the spread of the estimate with the formula.
//   - The functions are permutations, so two shingles never tie unless their 32 bits are equal. For
//     pages of 1,000 shingles, that happens once in ten thousand pages.
//   - The values have 32 bits, because a sketch is then 336 bytes, and eight values fit one vector
//     register. A minimum over n shingles is about 2^32/n, so two different minima are equal by
//     chance once in 2^32/n. With a million shingles, that is once in four thousand.
//   - The functions do not depend on the length of the page, so the sketch of a stub can be
//     compared with that of a book.
//
// The portable code below is the definition. On processors with AVX2, eight-lane vector code
// computes the same values in an eighth of the time.
//
// The constants k_i and m_i come from SplitMix64 started at the first 64 bits of the fractional
// part of π, with m_i made odd; c is the first multiplier of Chris Wellons' hash "lowbias32" (2018,
// public domain). They must never change.

// A Sketch is a summary of a page in 336 bytes: for each of the 84 functions, the minimum over the
// page's shingles.
type Sketch [Minima]uint32

// SketchSize is the size of an encoded sketch in bytes.
const SketchSize = 4 * Minima

// Append appends the encoded sketch to b: its minima, little-endian.
func (s *Sketch) Append(b []byte) []byte {
	for _, v := range s {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// SketchOf decodes a sketch encoded by [Sketch.Append]. ok is false if b has the wrong size.
func SketchOf(b []byte) (s *Sketch, ok bool) {
	if len(b) != SketchSize {
		return nil, false
	}
	s = new(Sketch)
	for i := range s {
		s[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return s, true
}

const secondRound = 0x7FEB352D

var flips, factors = func() (k, m [Minima]uint32) {
	state := uint64(0x243F6A8885A308D3)
	next := func() uint32 {
		state += base
		return uint32(splitmix.Mix(state) >> 32)
	}
	for i := range k {
		k[i], m[i] = next(), next()|1
	}
	return k, m
}()

// NewSketch computes the sketch of a text from its shingles, which may be in any order and have
// repeats. If there are no shingles, every value is math.MaxUint32.
func NewSketch(shingles []uint64) Sketch { return newSketch(shingles, vectors) }

// chunk is the number of shingles that newSketch passes through all 84 functions before it
// continues with the next shingles. Their upper halves take 4 KB, which stay in the processor's
// first-level cache. chunk is a multiple of stride, the number of shingles that the vector code
// processes in one iteration.
const (
	chunk  = 1024
	stride = 32
)

// newSketch passes the upper halves of the shingles, chunk by chunk, through each function. The
// vector code processes only full strides. The last stride is padded with repeated shingles, which
// do not change a minimum.
func newSketch(shingles []uint64, vector bool) (s Sketch) {
	for i := range s {
		s[i] = math.MaxUint32
	}
	var x [chunk]uint32
	for len(shingles) > 0 {
		n := min(len(shingles), chunk)
		for i, v := range shingles[:n] {
			x[i] = uint32(v >> 32)
		}
		shingles = shingles[n:]
		if !vector {
			for i := range s {
				s[i] = least(x[:n], flips[i], factors[i], s[i])
			}
			continue
		}
		for n%stride != 0 {
			x[n] = x[0]
			n++
		}
		for i := range s {
			s[i] = leastAVX2(&x[0], n, flips[i], factors[i], s[i])
		}
	}
	return s
}

// least returns the minimum of low and of one function's values for all elements of x. flip and
// factor are the constants k_i and m_i of the function. leastAVX2 must return the same result.
func least(x []uint32, flip, factor, low uint32) uint32 {
	for _, v := range x {
		y := (v ^ flip) * factor
		low = min(low, (y^y>>15)*secondRound)
	}
	return low
}

// Estimate returns the share of equal values in two sketches, which estimates the resemblance of
// their texts.
func Estimate(a, b *Sketch) float64 {
	n := 0
	for i := range a {
		equal := 0 // compiles without a branch, because a processor cannot predict which values are equal
		if a[i] == b[i] {
			equal = 1
		}
		n += equal
	}
	return float64(n) / Minima
}

// standardError returns the standard error of an estimate of the resemblance j.
func standardError(j float64) float64 { return math.Sqrt(j * (1 - j) / Minima) }
