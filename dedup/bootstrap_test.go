package dedup

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		name  string
		pages []Pages
		units string
		n     int
	}{
		{"each page is in one pair", []Pages{{1, 2}, {3, 4}, {5, 6}}, "[[0 0] [1 1] [2 2]]", 3},
		{"page 1 is in two pairs", []Pages{{1, 2}, {3, 1}, {5, 6}}, "[[0 0] [0 0] [1 1]]", 2},
		{"the pages of the first pair are in two pairs each", []Pages{{1, 2}, {3, 1}, {2, 6}}, "[[0 1] [0 0] [1 1]]", 2},
		{"the same pair twice", []Pages{{1, 2}, {2, 1}}, "[[0 1] [1 0]]", 2},
		{"a page paired with itself", []Pages{{1, 1}, {2, 3}}, "[[0 0] [1 1]]", 2},
	} {
		units, n := unitsOf(c.pages)
		if got := fmt.Sprint(units); got != c.units || n != c.n {
			t.Errorf("%s: %s, %d units, want %s, %d", c.name, got, n, c.units, c.n)
		}
	}
}

// sample returns pairs in groups of the given size. The pairs of a group share a page. In one group
// of eight, all decisions by the threshold .5 are wrong.
func sample(rng *rand.Rand, groups, size int) (pairs []Scored, pages []Pages) {
	for g := range groups {
		wrong := rng.IntN(8) == 0
		for i := range size {
			duplicate := i%2 == 0
			score := .2 + .1*rng.Float64()
			if duplicate != wrong {
				score += .5
			}
			pairs = append(pairs, Scored{score, duplicate})
			pages = append(pages, Pages{-g - 1, len(pairs)})
		}
	}
	return pairs, pages
}

// TestBootstrap draws samples with known quality. The intervals must contain the true values in
// about 95% of the samples, even if pairs share pages. Wilson's intervals suppose that pairs are
// independent. If pairs share pages, they contain the true values much less often.
func TestBootstrap(t *testing.T) {
	const (
		samples     = 150
		least, most = 135, 149 // 142 samples are expected, with a standard deviation of 3
		truth       = 7. / 8   // precision, recall and F1 of an infinite sample
	)
	for _, c := range []struct{ groups, size int }{{60, 6}, {120, 2}} {
		rng := rand.New(rand.NewPCG(1, uint64(c.size)))
		var held [3]int
		wilson := 0
		for range samples {
			pairs, pages := sample(rng, c.groups, c.size)
			got := Bootstrap(pairs, pages, Thresholds())
			if got.Units != c.groups {
				t.Fatalf("%d units, want %d", got.Units, c.groups)
			}
			for i, in := range []Interval{got.CrossValidated.PrecisionI, got.CrossValidated.RecallI, got.CrossValidated.F1I} {
				if in[0] <= truth && truth <= in[1] {
					held[i]++
				}
			}
			if in := CrossValidate(pairs, Thresholds()).F1I; in[0] <= truth && truth <= in[1] {
				wilson++
			}
		}
		t.Logf("%d pairs with a common page: %v of %d, Wilson %d", c.size, held, samples, wilson)
		for i, n := range held {
			if n < least || n > most {
				t.Errorf("%d pairs with a common page: interval %d contains the true value of %d of %d samples", c.size, i, n, samples)
			}
		}
		if c.size == 6 && wilson > 120 {
			t.Errorf("Wilson's interval contains the true F1 of %d of %d samples: these pairs do not show that shared pages matter", wilson, samples)
		}
	}
}

// TestBootstrapProperties checks that intervals contain their values, that the same pairs give the
// same intervals, and that right decisions about few pairs do not look certain.
func TestBootstrapProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 20 {
		pairs := make([]Scored, 10+rng.IntN(60))
		pages := make([]Pages, len(pairs))
		some := 1 + rng.IntN(2*len(pairs))
		for i := range pairs {
			pairs[i] = Scored{rng.Float64(), i%3 == 0}
			pages[i] = Pages{rng.IntN(some), rng.IntN(some)}
		}
		got := Bootstrap(pairs, pages, Thresholds())
		q := got.CrossValidated
		for i, in := range []Interval{q.PrecisionI, q.RecallI, q.F1I} {
			if v := []float64{q.Precision, q.Recall, q.F1}[i]; !(0 <= in[0] && in[0] <= v && v <= in[1] && in[1] <= 1) {
				t.Errorf("interval %d of %d pairs: %v does not contain %v", i, len(pairs), in, v)
			}
		}
		if in := got.ThresholdI; !(.05 <= in[0] && in[0] <= in[1] && in[1] <= 1) {
			t.Errorf("interval of the threshold: %v", in)
		}
		if again := Bootstrap(pairs, pages, Thresholds()); again != got {
			t.Errorf("the same pairs give %+v and %+v", got, again)
		}
	}

	var clear []Scored
	var apart, shared []Pages
	for i := range 20 {
		clear = append(clear, Scored{float64(i%2)*.5 + .25, i%2 == 1})
		apart = append(apart, Pages{2 * i, 2*i + 1})
		shared = append(shared, Pages{i / 4, 100 + i})
	}
	few := Bootstrap(clear, apart, Thresholds())
	if few.CrossValidated.F1I != Assess(clear, .5).F1I || few.ThresholdI != (Interval{.5, .5}) {
		t.Errorf("10 right decisions about 10 duplicates: %+v, want Wilson's intervals", few)
	}
	if fewer := Bootstrap(clear, shared, Thresholds()); fewer.CrossValidated.F1I[0] >= few.CrossValidated.F1I[0] {
		t.Errorf("pairs with 5 common pages: F1 %v, want a wider interval than %v", fewer.CrossValidated.F1I, few.CrossValidated.F1I)
	}
}
