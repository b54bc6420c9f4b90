package dedup

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestAssess(t *testing.T) {
	pairs := []Scored{{.9, true}, {.8, true}, {.7, false}, {.3, true}, {.1, false}}
	for _, c := range []struct{ threshold, precision, recall, f1 float64 }{
		{.75, 1, 2. / 3, .8},
		{.5, 2. / 3, 2. / 3, 2. / 3},
		{.05, .6, 1, .75},
		{1, 1, 0, 0},
	} {
		q := Assess(pairs, c.threshold)
		if math.Abs(q.Precision-c.precision)+math.Abs(q.Recall-c.recall)+math.Abs(q.F1-c.f1) > 1e-12 {
			t.Errorf("threshold %v: %+v", c.threshold, q)
		}
		for _, in := range []struct {
			what  string
			value float64
			Interval
		}{{"precision", q.Precision, q.PrecisionI}, {"recall", q.Recall, q.RecallI}, {"F1", q.F1, q.F1I}} {
			if in.Interval[0] > in.value || in.Interval[1] < in.value {
				t.Errorf("threshold %v: %s %v outside its interval %v", c.threshold, in.what, in.value, in.Interval)
			}
		}
	}
}

// TestInterval draws random samples of pairs with known quality. The 95% interval of a sample must
// contain the true value for about 95% of the samples.
func TestInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	draw := func(n int) []Scored {
		all := make([]Scored, n)
		for i := range all {
			all[i].Duplicate = rng.IntN(2) == 0
			if all[i].Duplicate == (rng.IntN(5) > 0) {
				all[i].Score = 1
			}
		}
		return all
	}
	truth := Assess(draw(200_000), .5)
	var held [3]int
	for range 300 {
		q := Assess(draw(150), .5)
		for i, in := range []Interval{q.PrecisionI, q.RecallI, q.F1I} {
			if v := []float64{truth.Precision, truth.Recall, truth.F1}[i]; in[0] <= v && v <= in[1] {
				held[i]++
			}
		}
	}
	for i, n := range held {
		if n < 270 || n > 297 { // 285 are expected, with a standard deviation of 4
			t.Errorf("interval %d of 95%% held the truth %d of 300 times", i, n)
		}
	}
}

// TestWilson checks published examples (Newcombe, 1998, table I).
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		portion
		want Interval
	}{
		{portion{81, 263}, Interval{.2553, .3662}},
		{portion{15, 148}, Interval{.0624, .1605}},
		{portion{0, 20}, Interval{0, .1611}},
		{portion{1, 29}, Interval{.0061, .1718}},
		{portion{20, 20}, Interval{.8389, 1}},
		{portion{0, 0}, Interval{0, 1}},
	} {
		if got := c.wilson(); math.Abs(got[0]-c.want[0])+math.Abs(got[1]-c.want[1]) > .0002 {
			t.Errorf("%d of %d: %.4f, want %.4f", c.n, c.of, got, c.want)
		}
	}
}

// TestCrossValidate checks that scores without meaning get a low quality, although some threshold
// fits them by chance.
func TestCrossValidate(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	var clear, noise []Scored
	for i := range 200 {
		duplicate := i%2 == 0
		score := .2 * rng.Float64()
		if duplicate {
			score += .6
		}
		clear = append(clear, Scored{score, duplicate})
		noise = append(noise, Scored{rng.Float64(), duplicate})
	}
	if q := CrossValidate(clear, Thresholds()); q.F1 != 1 {
		t.Errorf("clear pairs: %+v", q)
	}
	if q := CrossValidate(noise, Thresholds()); q.F1 > .72 {
		t.Errorf("scores without meaning: %+v; calling all duplicates gives .67", q)
	}
}

// TestTune checks the order of ways. The last way of the wanted order has a lower F1, and the one before it a narrower range
// of tied thresholds than the others, which keep their order.
func TestTune(t *testing.T) {
	ways := []Way{{Words, 10, "resemblance"}, {Words, 2, "resemblance"}, {Words, 9, "super"},
		{Words, 3, "resemblance"}, {Chars, 40, "resemblance"}, {Words, 4, "resemblance"}, {Words, 12, "resemblance"}}
	bad := []Scored{{.1, true}, {.2, false}, {.3, true}, {.4, false}}
	good := []Scored{{.9, true}, {.2, false}, {.8, true}, {.1, false}}
	narrow := []Scored{{.9, true}, {.3, false}, {.8, true}, {.1, false}}
	scores := [][]Scored{bad, good, good, good, good, narrow, good}
	got := Tune(ways, scores, Thresholds())
	var order []int
	for _, w := range got {
		order = append(order, w.Shingle)
	}
	if !slices.Equal(order, []int{2, 9, 3, 40, 12, 4, 10}) || got[0].F1 != 1 || got[6].F1 >= 1 {
		t.Errorf("%v: %+v", order, got)
	}
}
