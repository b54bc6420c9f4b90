package dedup

import (
	"cmp"
	"slices"
)

// # Which shingle and which threshold
//
// The literature leaves open how long a shingle should be and from which resemblance two pages are
// duplicates; it depends on the pages and on who asks. Given pairs that somebody has labelled,
// [Tune] answers by trying: each way of measuring gives each pair a score, each threshold turns
// scores into a decision, and precision, recall and F1 say how good the decisions are.
//
// Two things keep the answer honest. Every figure has a confidence interval of 95 %, Wilson's of a
// share: precision and recall are shares of pairs, and F1 is 2p/(1+p) of the share p of rights
// among all pairs that are duplicates or were called so. And the way that looks best is chosen by
// cross-validation: its threshold is set on nine tenths of the pairs and tried on the last, ten
// times over, so that a threshold is never praised for the pairs it was fitted to.
//
// One figure stays too good: the best of many hundred ways is the best by chance too. Ways whose
// intervals overlap are not told apart.

// Thresholds are .05 to 1 in steps of .05.
func Thresholds() []float64 {
	var all []float64
	for i := 1; i <= 20; i++ {
		all = append(all, float64(i)/20)
	}
	return all
}

// A Way is a way of measuring that Tune tries.
type Way struct {
	Form    string `json:"form"`
	Unit    Unit   `json:"unit"`
	Shingle int    `json:"shingle"` // units in one, overlapping
	Measure string `json:"measure"`
}

// A Tuned is what Tune says of one way.
type Tuned struct {
	Way
	Threshold      float64 `json:"threshold"` // the best over all pairs
	Quality                // at that threshold
	CrossValidated Quality `json:"cross_validated"`
}

// Tune assesses ways of measuring by their scores of the same labelled pairs, and ranks them by
// cross-validated F1. Of equals, resemblance over words is first, because that is what a crawl
// judges by unless told otherwise; then the longer shingle, which fewer strangers share by chance
// in a crawl than in a few hundred pairs; then the first given.
func Tune(ways []Way, scores [][]Scored) []Tuned {
	all := make([]Tuned, len(ways))
	for i, w := range ways {
		t := BestThreshold(scores[i], Thresholds())
		all[i] = Tuned{w, t, Assess(scores[i], t), CrossValidate(scores[i], Thresholds())}
	}
	usual := func(t Tuned) (n int) {
		if t.Measure != "resemblance" {
			n += 2
		}
		if t.Unit != Words {
			n++
		}
		return n
	}
	slices.SortStableFunc(all, func(a, b Tuned) int {
		return cmp.Or(cmp.Compare(b.CrossValidated.F1, a.CrossValidated.F1), usual(a)-usual(b), b.Shingle-a.Shingle)
	})
	return all
}

// A Combination is one threshold of one way of measuring.
type Combination struct {
	Way
	Threshold float64 `json:"threshold"`
	Quality
}

// Combinations assesses every threshold of every way.
func Combinations(ways []Way, scores [][]Scored) []Combination {
	all := make([]Combination, 0, len(ways)*len(Thresholds()))
	for i, w := range ways {
		for _, t := range Thresholds() {
			all = append(all, Combination{w, t, Assess(scores[i], t)})
		}
	}
	return all
}
