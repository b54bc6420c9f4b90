// Package rivals has measures of similarity from the literature that compete with resemblance.
// Crawls do not use them. They show what another method would decide on the same pairs.
package rivals

import (
	"math/bits"
	"slices"

	"skink/dedup"
)

// Measures are the measures by name. Each compares the shingles of two texts, in the order of the
// texts and with repetitions, and returns a score from 0 to 1. Two texts without shingles have the
// score 1.
var Measures = map[string]func(a, b []uint64) float64{
	"simhash":   Simhash,
	"winnowing": Winnowing,
}

// # SimHash
//
// Sources: Charikar, Similarity Estimation Techniques from Rounding Algorithms, STOC 2002. Manku,
// Jain and Das Sarma, Detecting Near-Duplicates for Web Crawling, WWW 2007. Each bit of a
// fingerprint of 64 bits is a vote. A shingle votes for 1 if its hash has this bit, else for 0.
// Manku et al. weight each feature; here the weight is the number of its occurrences. A bit with
// equal votes is 0.
//
// Known weaknesses: unrelated texts agree in about 32 bits, so scores below .6 mean little. A few
// frequent shingles decide all the bits of a short text.

// Simhash returns the share of equal bits in the fingerprints of two texts.
func Simhash(a, b []uint64) float64 {
	return 1 - float64(bits.OnesCount64(fingerprint(a)^fingerprint(b)))/64
}

func fingerprint(shingles []uint64) (f uint64) {
	for bit := range 64 {
		votes := 0
		for _, s := range shingles {
			votes += int(s>>bit&1)*2 - 1
		}
		if votes > 0 {
			f |= 1 << bit
		}
	}
	return f
}

// # Winnowing
//
// Source: Schleimer, Wilkerson and Aiken, Winnowing: Local Algorithms for Document Fingerprinting,
// SIGMOD 2003. From each window of consecutive shingles, the one with the least hash is kept.
// So two texts with a common run as long as a window share at least one kept shingle. The score is
// the resemblance of the kept shingles; the authors do not name a score. They keep positions to
// find passages; a score does not need them.
//
// Known weaknesses: the sample is about 2/(window+1) of the shingles, so the score of a short text
// depends on few of them.

// window is the number of consecutive shingles of which winnowing keeps one.
const window = 4

// Winnowing returns the resemblance of the shingles that winnowing keeps.
func Winnowing(a, b []uint64) float64 {
	return dedup.Resemblance(dedup.NewSet(winnow(a)), dedup.NewSet(winnow(b)))
}

// winnow returns the least shingle of each window. A text shorter than a window is one window.
func winnow(shingles []uint64) (kept []uint64) {
	for i := range max(min(len(shingles), 1), len(shingles)-window+1) {
		kept = append(kept, slices.Min(shingles[i:min(i+window, len(shingles))]))
	}
	return kept
}
