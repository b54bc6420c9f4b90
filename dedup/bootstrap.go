package dedup

import (
	"math"
	"math/rand/v2"
	"slices"
)

// # Confidence in a recommendation
//
// The intervals of a recommended threshold are percentile intervals of the bootstrap (Efron, 1979;
// Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13). A resample draws as
// many pairs as there are, with replacement. The interval contains the middle 95% of the values
// that 2,000 resamples give. The seed is fixed, so the same pairs always give the same intervals.
//
// Pairs that share a page are not independent. If a page has unusual text, all its pairs are easy
// or all are hard. So a page in several pairs is drawn as one unit, and so is each pair without
// such a page. If the two pages of a pair are drawn m and n times, the pair counts m·n times (Owen
// and Eckles, Bootstrapping data arrays of arbitrary order, 2012). Without shared pages this is the
// usual bootstrap of pairs. With one common page for each group of pairs, it is the bootstrap of
// groups. Otherwise its intervals tend to be too wide rather than too narrow.
//
// Changes: if all of 20 decisions are right, they are right in each resample too, and the interval
// would be 1 to 1. So the interval of each share is widened to include Wilson's interval for as
// many decisions as there are units.
//
// Known weaknesses: the intervals do not account for choosing the best of many ways to measure. The
// best threshold jumps from one score to another, and for such values the bootstrap is only a rough
// guide (Abrevaya and Huang, On the bootstrap of the maximum score estimator, 2005).

// Resamples is the number of bootstrap resamples.
const Resamples = 2000

// A Pages identifies the two pages of a labeled pair by number. Equal pages have equal numbers.
type Pages [2]int

// A Confidence holds the bootstrapped 95% intervals of a measure.
type Confidence struct {
	CrossValidated Quality  `json:"cross_validated"` // quality as CrossValidate returns it, but with bootstrapped intervals
	ThresholdI     Interval `json:"threshold_interval"`
	Units          int      `json:"units"` // number of pages and pairs that were drawn independently of each other
}

// Bootstrap returns confidence intervals for a measure's [BestThreshold] and cross-validated
// quality. pages[i] are the pages of pairs[i].
func Bootstrap(pairs []Scored, pages []Pages, thresholds []float64) Confidence {
	units, n := unitsOf(pages)
	declared := crossValidate([][]Scored{pairs}, thresholds)
	swept := newSweep(pairs, thresholds)
	var values [4][]float64 // threshold, precision, recall and F1 of each resample
	resample(units, n, func(times func(i int) int) {
		precision, recall, decided := count(pairs, declared, times).portions()
		best, _ := swept.best(times)
		for i, v := range []float64{best.Threshold, precision.share(), recall.share(), f1(decided.share())} {
			values[i] = append(values[i], v)
		}
	})
	q := CrossValidate(pairs, thresholds)
	effective := func(in func(i int) bool) int { return decisions(units, in) }
	isDuplicate := func(i int) bool { return pairs[i].Duplicate }
	isDeclared := func(i int) bool { return declared[i] }
	isEither := func(i int) bool { return pairs[i].Duplicate || declared[i] }
	q.PrecisionI = percentiles(values[1]).union(wilson(q.Precision, effective(isDeclared)))
	q.RecallI = percentiles(values[2]).union(wilson(q.Recall, effective(isDuplicate)))
	in := wilson(q.F1/(2-q.F1), effective(isEither))
	q.F1I = percentiles(values[3]).union(Interval{f1(in[0]), f1(in[1])})
	return Confidence{q, percentiles(values[0]), n}
}

// resample calls f with each resample of the pairs: how many times each pair is drawn. There are n units.
func resample(units [][2]int, n int, f func(times func(i int) int)) {
	rng := rand.New(rand.NewPCG(uint64(len(units)), 3))
	drawn := make([]int, n)
	times := func(i int) int {
		if u := units[i]; u[0] != u[1] {
			return drawn[u[0]] * drawn[u[1]]
		}
		return drawn[units[i][0]]
	}
	for range Resamples {
		clear(drawn)
		for range n {
			drawn[rng.IntN(n)]++
		}
		f(times)
	}
}

// count returns the counts of decisions about pairs, of which each counts the given number of times.
func count(pairs []Scored, declared []bool, times func(i int) int) (c counted) {
	for i, p := range pairs {
		c.add(p.Duplicate, declared[i], times(i))
	}
	return c
}

// A Difference compares the cross-validated decisions of two ways about the same pairs, or of the best of several ways.
type Difference struct {
	F1          float64  `json:"f1"`          // F1 of the first minus that of the second
	F1I         Interval `json:"f1_interval"` // bootstrapped 95% interval, from the same resamples for both
	FirstRight  int      `json:"first_right"` // number of pairs about which only the first is right
	SecondRight int      `json:"second_right"`
	McNemar     float64  `json:"mcnemar"` // see [McNemar]
}

// Clear reports whether the first is better than the second beyond chance: beyond the interval, and by McNemar's test with
// p < .001. The interval alone is too narrow, because the tenths of a cross-validation share most pairs (Bengio and
// Grandvalet, No Unbiased Estimator of the Variance of K-Fold Cross-Validation, 2004).
func (d *Difference) Clear() bool { return d.F1I[0] > 0 && d.McNemar < .001 }

// Differ compares two sets of ways, given the scores that they give to the same pairs. Cross-validation chooses the way of
// each set, too. Otherwise the best of many equal ways would often look better than one of them. pages[i] are the pages of
// pair i.
func Differ(first, second [][]Scored, pages []Pages, thresholds []float64) (d Difference) {
	a, b := crossValidate(first, thresholds), crossValidate(second, thresholds)
	pairs := first[0]
	for i, p := range pairs {
		switch {
		case a[i] == b[i]:
		case a[i] == p.Duplicate:
			d.FirstRight++
		default:
			d.SecondRight++
		}
	}
	difference := func(times func(i int) int) float64 {
		return count(pairs, a, times).quality().F1 - count(pairs, b, times).quality().F1
	}
	units, n := unitsOf(pages)
	var values []float64
	resample(units, n, func(times func(i int) int) { values = append(values, difference(times)) })
	d.F1, d.F1I = difference(func(int) int { return 1 }), percentiles(values)
	d.McNemar = McNemar(d.FirstRight, d.SecondRight)
	return d
}

// McNemar returns the two-sided exact p-value of McNemar's test (McNemar, Note on the sampling error of the difference
// between correlated proportions or percentages, 1947): the probability that, of the pairs about which only one
// of two ways is right, chance divides them at least as unequally. The pairs must be independent.
func McNemar(firstRight, secondRight int) (p float64) {
	n := float64(firstRight + secondRight)
	logOf := func(x float64) float64 { v, _ := math.Lgamma(x + 1); return v }
	for i := range min(firstRight, secondRight) + 1 {
		k := float64(i)
		p += 2 * math.Exp(logOf(n)-logOf(k)-logOf(n-k)-n*math.Ln2)
	}
	return min(1, p)
}

// unitsOf returns the one or two units of each pair, and the number of all units. A pair with only
// one unit lists it twice. A unit is a page that is in several pairs, or a pair without such a
// page.
func unitsOf(pages []Pages) (units [][2]int, n int) {
	pairs := map[int]int{} // number of pairs that contain each page
	for _, p := range pages {
		pairs[p[0]]++
		if p[1] != p[0] {
			pairs[p[1]]++
		}
	}
	unit := map[int]int{}
	number := func(page int) int {
		u, ok := unit[page]
		if !ok {
			u = n
			unit[page] = u
			n++
		}
		return u
	}
	for _, p := range pages {
		a, b := p[0], p[1]
		if pairs[a] < 2 {
			a = b
		}
		if pairs[b] < 2 {
			b = a
		}
		units = append(units, [2]int{number(a), number(b)})
	}
	return units, n
}

// decisions returns the number of independent decisions among the pairs for which in returns true:
// the number of their units, but at most the number of these pairs.
func decisions(units [][2]int, in func(i int) bool) int {
	pairs, seen := 0, map[int]bool{}
	for i, u := range units {
		if in(i) {
			pairs++
			seen[u[0]], seen[u[1]] = true, true
		}
	}
	return min(pairs, len(seen))
}

func percentiles(values []float64) Interval {
	slices.Sort(values)
	cut := len(values) / 40
	return Interval{values[cut-1], values[len(values)-cut]}
}

func (in Interval) union(other Interval) Interval {
	return Interval{min(in[0], other[0]), max(in[1], other[1])}
}
