package dedup

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/zeebo/xxh3"
)

// These are the numbers of super- and mega-shingles of a sketch, as in the literature. Each of the
// six super-shingles hashes 14 minima, and each of the fifteen pairs of super-shingles is a
// mega-shingle.
const (
	SuperShingles = 6
	MegaShingles  = SuperShingles * (SuperShingles - 1) / 2
)

// A Scheme defines how a sketch is turned into index keys, and how many keys two pages must share
// to become candidates.
type Scheme struct {
	Name string // "bands", "super" or "mega"
	Rows int    // number of minima in one band
	Need int    // number of equal bands that two pages need to become candidates
}

// found is the minimum probability that the default scheme finds a pair whose resemblance is
// exactly the requested similarity.
const found = 0.98

// BandsFor returns the scheme "bands" for a similarity t. The scheme cuts the 84 minima into equal
// bands. They are as long as possible while two pages of resemblance t still share a band with a
// probability of at least 0.98. Longer bands mean fewer lookups and fewer false candidates.
// BandsFor fails if t is above 1 or below [MinSimilarity]. At a lower similarity, even bands of one
// minimum would be too long.
func BandsFor(t float64) (Scheme, error) {
	for rows := Minima / 3; rows >= 1 && t >= MinSimilarity() && t <= 1; rows-- {
		s := Scheme{Name: "bands", Rows: rows, Need: 1}
		if Minima%rows == 0 && s.Probability(t) >= found {
			return s, nil
		}
	}
	return Scheme{}, fmt.Errorf("similarity %v is not supported: with sketches of %d values, it must be from %.2f to 1", t, Minima, MinSimilarity())
}

// MinSimilarity returns the lowest similarity that BandsFor accepts, rounded up to hundredths.
func MinSimilarity() float64 {
	t := 1 - math.Pow(1-found, 1.0/Minima)
	return math.Ceil(t*100) / 100
}

// ParseScheme returns the scheme with the given name for a similarity: "bands", "super" (two of six
// super-shingles) or "mega" (one of fifteen mega-shingles, which finds the same pages).
func ParseScheme(name string, t float64) (Scheme, error) {
	bands, err := BandsFor(t)
	switch {
	case err != nil || name == "bands":
		return bands, err
	case name == "super", name == "mega":
		return Scheme{Name: name, Rows: Minima / SuperShingles, Need: 2}, nil
	}
	return Scheme{}, fmt.Errorf("unknown scheme %q: must be bands, super or mega", name)
}

// Bands returns the number of bands that the scheme cuts a sketch's 84 minima into: 84 divided by
// Rows.
func (s Scheme) Bands() int { return Minima / s.Rows }

func (s Scheme) String() string {
	switch s.Name {
	case "super":
		return "super: at least 2 of 6 super-shingles of 14 minima each are equal"
	case "mega":
		return "mega: at least 1 of 15 mega-shingles of 2·14 minima each is equal"
	}
	return fmt.Sprintf("bands: at least 1 of %d bands of %d minima each is equal", s.Bands(), s.Rows)
}

// Probability returns the probability that two pages of resemblance j become candidates. This is
// the probability that at least Need of their bands are equal, where each band is equal with
// probability j^Rows.
func (s Scheme) Probability(j float64) float64 {
	one := math.Pow(j, float64(s.Rows))
	n := float64(s.Bands())
	none := math.Pow(1-one, n)
	if s.Need == 1 {
		return 1 - none
	}
	return max(0, 1-none-n*one*math.Pow(1-one, n-1)) // rounding can make the difference negative
}

// Keys appends to dst the keys under which an index stores a sketch. Two pages are candidates if
// they share at least [Scheme.Meet] keys.
func (s Scheme) Keys(dst []uint64, sketch *Sketch) []uint64 {
	if s.Name == "mega" {
		super := Super(sketch)
		mega := Mega(&super)
		return append(dst, mega[:]...)
	}
	for band := range s.Bands() {
		dst = append(dst, bandKey(sketch, band, s.Rows))
	}
	return dst
}

// Meet returns the number of keys that two pages must share to become candidates. It returns Need
// for the scheme "super". It returns 1 for "bands", and for "mega", where each key represents two
// bands.
func (s Scheme) Meet() int {
	if s.Name == "super" {
		return s.Need
	}
	return 1
}

// Method returns the value of Verdict.Method for a leader that this scheme found.
func (s Scheme) Method() Method {
	switch s.Name {
	case "super":
		return BySuper
	case "mega":
		return ByMega
	}
	return ByBands
}

// Super returns the six super-shingles of a sketch. Each is the hash of 14 minima.
func Super(sketch *Sketch) (super [SuperShingles]uint64) {
	for i := range super {
		super[i] = bandKey(sketch, i, Minima/SuperShingles)
	}
	return super
}

// Mega returns the fifteen mega-shingles, the hashes of the pairs of super-shingles. Two pages
// share a mega-shingle if and only if they share two super-shingles.
func Mega(super *[SuperShingles]uint64) (mega [MegaShingles]uint64) {
	n := 0
	for i := range super {
		for j := i + 1; j < len(super); j++ {
			var b [16]byte
			binary.LittleEndian.PutUint64(b[:8], super[i])
			binary.LittleEndian.PutUint64(b[8:], super[j])
			mega[n] = xxh3.HashSeed(b[:], uint64(n))
			n++
		}
	}
	return mega
}

// bandKey returns the hash of one band: its minima as little-endian bytes, with the band's number
// as the seed, so that equal minima in different bands have different keys.
func bandKey(sketch *Sketch, band, rows int) uint64 {
	var b [4 * Minima]byte
	for i, v := range sketch[band*rows : (band+1)*rows] {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
	return xxh3.HashSeed(b[:4*rows], uint64(band))
}
