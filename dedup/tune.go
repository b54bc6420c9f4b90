package dedup

import (
	"cmp"
	"fmt"
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

// # Choosing the shingle and the threshold
//
// The literature does not say how long a shingle should be, or how much two pages must resemble
// each other to count as duplicates. Both depend on the pages and on the purpose. [Tune] compares
// different choices on labelled pairs. Each measure gives each pair a score, each threshold turns
// scores into decisions, and precision, recall and F1 rate the decisions.
//
// Two safeguards keep the result honest. First, every figure has a 95% confidence interval, which
// is Wilson's interval for a proportion. Precision and recall are shares of pairs. F1 is 2p/(1+p),
// where p is the share of correct decisions among all pairs that are duplicates or were declared
// duplicates. These intervals assume that the pairs are independent. [Bootstrap] gives intervals
// that also hold for pairs that share pages. Second, the best way is chosen by cross-validation.
// Ten times, a threshold is chosen on nine tenths of the pairs and tested on the last tenth. So no
// threshold is rated on the pairs it was fitted to.
//
// The figure of the best way is still too high, because the best of hundreds of ways is the best
// partly by chance. Ways whose intervals overlap cannot be distinguished.

// Thresholds returns the numbers from .05 to 1 in steps of .01.
func Thresholds() []float64 {
	var all []float64
	for i := 5; i <= 100; i++ {
		all = append(all, float64(i)/100)
	}
	return all
}

// A Way is a combination of shingle and measure that [Tune] tries.
type Way struct {
	Unit    Unit   `json:"unit"`
	Shingle int    `json:"shingle"` // in units; 0 for a measure that compares words
	Measure string `json:"measure"`
}

// String returns the unit, the shingle and the measure, such as "word 10 resemblance".
func (w Way) String() string {
	if w.Shingle == 0 {
		return fmt.Sprintf("%s %s", w.Unit, w.Measure)
	}
	return fmt.Sprintf("%s %d %s", w.Unit, w.Shingle, w.Measure)
}

// A Tuned is the result of [Tune] for one [Way].
type Tuned struct {
	Way
	Choice                  // over all pairs
	Quality                 // of the decisions at Threshold, over all pairs
	CrossValidated Quality  `json:"cross_validated"`
	AUC            float64  `json:"auc"`            // see [AUC]
	Tested         *Quality `json:"test,omitempty"` // of the decisions at Threshold, over other pairs; nil if there are none
}

// Tune sorts ways of measuring by their cross-validated F1, best first. scores[i] are the scores
// that ways[i] gives to the labelled pairs, which are the same for all ways. thresholds contains
// the thresholds to try, in ascending order.
//
// If ways have the same F1, the way with the widest range of equally good thresholds comes first. Such a way separates
// duplicates from other pages most clearly. Otherwise the order of ways is kept.
func Tune(ways []Way, scores [][]Scored, thresholds []float64) []Tuned {
	all := make([]Tuned, len(ways))
	for i, w := range ways {
		best := BestThreshold(scores[i], thresholds)
		all[i] = Tuned{w, best, Assess(scores[i], best.Threshold), CrossValidate(scores[i], thresholds), AUC(scores[i]), nil}
	}
	slices.SortStableFunc(all, func(a, b Tuned) int {
		return cmp.Or(cmp.Compare(b.CrossValidated.F1, a.CrossValidated.F1), compareWidth(b.Tied, a.Tied))
	})
	return all
}
