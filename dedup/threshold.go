package dedup

import (
	"cmp"
	"math"
	"slices"
)

// A Choice is the threshold with the best F1, and the range of thresholds around it that have the
// same F1.
type Choice struct {
	Threshold float64    `json:"threshold"`
	Tied      [2]float64 `json:"tied"` // lowest and highest threshold of that range
}

// BestThreshold returns the threshold with the highest F1. The thresholds must be in ascending
// order. Often neighbouring thresholds have the same F1, because no pair has a score between them.
// Then BestThreshold returns the middle one, which leaves the widest margin on both sides. If there
// are several such ranges, it chooses the widest of them. If several are equally wide, it chooses
// the one with the highest thresholds, which declare the fewest pairs duplicates.
func BestThreshold(pairs []Scored, thresholds []float64) Choice {
	best, _ := newSweep(pairs, thresholds).best(func(int) int { return 1 })
	return best
}

type sweep struct {
	pairs      []Scored
	thresholds []float64
	reached    []int     // number of thresholds that the score of each pair reaches
	sums       []counted // reused by best
}

func newSweep(pairs []Scored, thresholds []float64) *sweep {
	s := &sweep{pairs: pairs, thresholds: thresholds, reached: make([]int, len(pairs)), sums: make([]counted, len(thresholds)+1)}
	for i, p := range pairs {
		n, equal := slices.BinarySearch(thresholds, p.Score)
		if equal {
			n++
		}
		s.reached[i] = n
	}
	return s
}

// best returns the [BestThreshold] of the pairs, counting pair i times(i) times, and the share of right decisions there,
// which grows with F1.
func (s *sweep) best(times func(i int) int) (Choice, float64) {
	clear(s.sums)
	duplicates := 0
	for i, p := range s.pairs {
		n := times(i)
		s.sums[s.reached[i]].add(p.Duplicate, true, n)
		if p.Duplicate {
			duplicates += n
		}
	}
	var sum counted
	top, first, last := math.Inf(-1), 0, 0
	for at := len(s.thresholds); at > 0; {
		// Going down, find the next range of thresholds with the same F1.
		to, share := at-1, 0.0
		for ; at > 0; at-- {
			next := s.sums[at]
			next.right, next.wrong = next.right+sum.right, next.wrong+sum.wrong
			next.missed = duplicates - next.right
			_, _, decided := next.portions()
			if at-1 < to && decided.share() != share {
				break
			}
			sum, share = next, decided.share()
		}
		if share > top || share == top && compareWidth([2]float64{s.thresholds[at], s.thresholds[to]}, [2]float64{s.thresholds[first], s.thresholds[last]}) > 0 {
			top, first, last = share, at, to
		}
	}
	return Choice{s.thresholds[(first+last)/2], [2]float64{s.thresholds[first], s.thresholds[last]}}, top
}

// compareWidth compares the widths of two ranges like [cmp.Compare]. Thresholds are decimal
// fractions, so it ignores differences that are due to rounding.
func compareWidth(a, b [2]float64) int {
	return cmp.Compare(math.Round((a[1]-a[0])*1e6), math.Round((b[1]-b[0])*1e6))
}
