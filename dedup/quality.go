package dedup

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Scored is a labeled pair with the score that one measure gives it.
type Scored struct {
	Score     float64 // 0 to 1
	Duplicate bool    // the pair's label
}

// A Quality rates decisions about labeled pairs. Each pair was declared a duplicate or not.
type Quality struct {
	Precision  float64  `json:"precision"` // share of the pairs declared duplicates that really are; 1 if no pair was declared
	Recall     float64  `json:"recall"`    // share of the duplicates that were declared duplicates; 1 if there are none
	F1         float64  `json:"f1"`        // harmonic mean of precision and recall
	PrecisionI Interval `json:"precision_interval"`
	RecallI    Interval `json:"recall_interval"`
	F1I        Interval `json:"f1_interval"`
}

// An Interval is a 95% confidence interval: its lower and upper ends.
type Interval [2]float64

// counted contains counts of decisions about pairs: duplicates that were declared duplicates
// (right), duplicates that were not (missed), and other pairs that were declared duplicates
// (wrong).
type counted struct{ right, wrong, missed int }

func (c counted) quality() Quality {
	precision, recall, decided := c.portions()
	in := decided.wilson()
	return Quality{
		Precision: precision.share(), PrecisionI: precision.wilson(),
		Recall: recall.share(), RecallI: recall.wilson(),
		F1: f1(decided.share()), F1I: Interval{f1(in[0]), f1(in[1])},
	}
}

// portions returns the shares from which a quality is computed. F1 is f1(decided), where decided
// ignores pairs that are not duplicates and were not declared duplicates.
func (c counted) portions() (precision, recall, decided portion) {
	return portion{c.right, c.right + c.wrong}, portion{c.right, c.right + c.missed}, portion{c.right, c.right + c.wrong + c.missed}
}

func f1(decided float64) float64 { return 2 * decided / (1 + decided) }

type portion struct{ n, of int }

// share returns 1 if the denominator is 0.
func (c portion) share() float64 {
	if c.of == 0 {
		return 1
	}
	return float64(c.n) / float64(c.of)
}

// wilson returns the 95% score interval of the share (Wilson, 1927). It is valid even for a small
// number of pairs. For 20 of 20 the interval is .84 to 1, where resampling the pairs would give
// exactly 1.
func (c portion) wilson() Interval { return wilson(c.share(), c.of) }

// wilson returns the 95% score interval of a share observed in the given number of independent
// decisions.
func wilson(share float64, decisions int) Interval {
	const z = 1.959964 // 95% of a normal distribution is within z standard deviations of the mean
	if decisions == 0 {
		return Interval{0, 1}
	}
	n, p := float64(decisions), share
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return Interval{min(p, max(0, middle-half)), max(p, min(1, middle+half))} // rounding errors could otherwise exclude p if it is 0 or 1
}

func (c *counted) add(duplicate, declared bool, times int) {
	switch {
	case duplicate && declared:
		c.right += times
	case declared:
		c.wrong += times
	case duplicate:
		c.missed += times
	}
}

// Assess returns the quality of a threshold: a pair is declared a duplicate if its score is at
// least threshold.
func Assess(pairs []Scored, threshold float64) Quality {
	var c counted
	for _, p := range pairs {
		c.add(p.Duplicate, p.Score >= threshold, 1)
	}
	return c.quality()
}

// AUC returns the area under the ROC curve (Hanley and McNeil, 1982): the probability that a duplicate has a higher score
// than another pair, where equal scores count half. It needs no threshold. It is .5 if there are no duplicates or
// no others.
func AUC(pairs []Scored) float64 {
	var duplicates, others []float64
	for _, p := range pairs {
		if p.Duplicate {
			duplicates = append(duplicates, p.Score)
		} else {
			others = append(others, p.Score)
		}
	}
	slices.Sort(others)
	sum, all := 0., float64(len(duplicates)*len(others))
	for _, score := range duplicates {
		below, _ := slices.BinarySearch(others, score)
		upTo, _ := slices.BinarySearch(others, math.Nextafter(score, 2))
		sum += float64(below+upTo) / 2
	}
	if all == 0 {
		return .5
	}
	return sum / all
}

// Cross-validation divides the pairs into this many parts.
const folds = 10

// CrossValidate returns the cross-validated quality of a measure. For each tenth of the pairs, the
// threshold is chosen on the other nine tenths and tested on this one. The tenths are random, with
// the same share of duplicates in each. All measures of the same pairs get the same tenths.
func CrossValidate(pairs []Scored, thresholds []float64) Quality {
	var sum counted
	for i, declared := range crossValidate([][]Scored{pairs}, thresholds) {
		sum.add(pairs[i].Duplicate, declared, 1)
	}
	return sum.quality()
}

// crossValidate reports for each pair whether tenfold cross-validation declared it a duplicate. If there are several ways,
// the way is also chosen on nine tenths of the pairs. So the best of many is not rated on the pairs on which it is the
// best.
func crossValidate(ways [][]Scored, thresholds []float64) []bool {
	pairs := ways[0]
	fold := make([]int, len(pairs))
	rng := rand.New(rand.NewPCG(uint64(len(pairs)), 2))
	for _, label := range []bool{true, false} {
		n := 0
		for _, i := range rng.Perm(len(pairs)) {
			if pairs[i].Duplicate == label {
				fold[i] = n % folds
				n++
			}
		}
	}
	declared := make([]bool, len(pairs))
	swept := make([]*sweep, len(ways))
	for w := range ways {
		swept[w] = newSweep(ways[w], thresholds)
	}
	for f := range folds {
		top := math.Inf(-1)
		for w, of := range swept {
			choice, share := of.best(func(i int) int {
				if fold[i] == f {
					return 0
				}
				return 1
			})
			if share <= top {
				continue
			}
			top = share
			for i, p := range ways[w] {
				if fold[i] == f {
					declared[i] = p.Score >= choice.Threshold
				}
			}
		}
	}
	return declared
}
