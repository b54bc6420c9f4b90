package dedup

import (
	"cmp"
	"fmt"
	"slices"
)

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
