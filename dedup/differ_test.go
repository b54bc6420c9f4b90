package dedup

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAUC checks areas that were worked by hand, and compares others with a count of all pairs of a duplicate and another.
func TestAUC(t *testing.T) {
	for _, tt := range []struct {
		duplicates, others []float64
		want               float64
	}{
		{nil, nil, .5},
		{[]float64{1}, nil, .5},
		{[]float64{.9, .8}, []float64{.7, .1}, 1},
		{[]float64{.1}, []float64{.2}, 0},
		{[]float64{.5}, []float64{.5}, .5},
		{[]float64{.5, .9}, []float64{.5, .6}, .625}, // ½, 0, 1 and 1 of four
	} {
		var pairs []Scored
		for _, s := range tt.others {
			pairs = append(pairs, Scored{s, false})
		}
		for _, s := range tt.duplicates {
			pairs = append(pairs, Scored{s, true})
		}
		if got := AUC(pairs); got != tt.want {
			t.Errorf("duplicates %v, others %v: %v, want %v", tt.duplicates, tt.others, got, tt.want)
		}
	}
	rng := rand.New(rand.NewPCG(84, 4))
	for range 100 {
		pairs := make([]Scored, 2+rng.IntN(40))
		for i := range pairs {
			pairs[i] = Scored{float64(rng.IntN(10)) / 10, i < 1 || i > 1 && rng.IntN(2) == 0}
		}
		above, all := 0., 0.
		for _, a := range pairs {
			for _, b := range pairs {
				if !a.Duplicate || b.Duplicate {
					continue
				}
				all++
				if a.Score > b.Score {
					above++
				} else if a.Score == b.Score {
					above += .5
				}
			}
		}
		if got, want := AUC(pairs), above/all; math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v: %v, want %v", pairs, got, want)
		}
	}
}

func TestMcNemar(t *testing.T) {
	for _, tt := range []struct {
		first, second int
		want          float64
	}{
		{0, 0, 1},
		{1, 0, 1},
		{3, 3, 1},
		{6, 0, 2. / 64},
		{10, 2, 2 * (1 + 12 + 66) / 4096.},
		{2, 10, 2 * (1 + 12 + 66) / 4096.},
	} {
		if got := McNemar(tt.first, tt.second); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%d and %d: %v, want %v", tt.first, tt.second, got, tt.want)
		}
	}
}

// TestDiffer compares the best of many equally good ways with one of them, in random samples. Their noise has a common part,
// as that of shingles of three and of four words has. The best must look clearly better by chance in few samples. A way that
// is better must look so.
func TestDiffer(t *testing.T) {
	rng := rand.New(rand.NewPCG(84, 5))
	sample := func(common float64, noise ...float64) (ways [][]Scored, pages []Pages) {
		ways = make([][]Scored, len(noise))
		for i := range 200 {
			duplicate, shared := i%2 == 0, rng.NormFloat64()
			for w := range ways {
				score := .5 + noise[w]*(math.Sqrt(common)*shared+math.Sqrt(1-common)*rng.NormFloat64())
				if duplicate {
					score += .2
				}
				ways[w] = append(ways[w], Scored{min(1, max(0, score)), duplicate})
			}
			pages = append(pages, Pages{2 * i, 2*i + 1})
		}
		return ways, pages
	}
	for _, c := range []struct {
		common float64
		ways   int
	}{{0, 2}, {0, 16}, {.8, 16}, {.97, 2}, {.97, 16}} {
		const samples = 100
		lucky := 0
		for range samples {
			ways, pages := sample(c.common, slices.Repeat([]float64{.15}, c.ways)...)
			d := Differ(ways, ways[:1], pages, Thresholds())
			if !(d.F1I[0] <= d.F1 && d.F1 <= d.F1I[1]) {
				t.Errorf("the interval %v does not contain %v", d.F1I, d.F1)
			}
			if d.Clear() {
				lucky++
			}
		}
		t.Logf("%d ways with a common part of %v: clearly better in %d of %d samples", c.ways, c.common, lucky, samples)
		if lucky > 5 { // 2.5 would be by the interval alone, if it were exact
			t.Errorf("the best of %d equal ways with a common part of %v is clearly better than one of them in %d of %d samples", c.ways, c.common, lucky, samples)
		}
	}
	ways, pages := sample(0, .06, .25)
	if d := Differ(ways[:1], ways[1:], pages, Thresholds()); !d.Clear() || d.McNemar > .001 || d.FirstRight <= d.SecondRight {
		t.Errorf("a better way is not clearly better: %+v", d)
	}
	if d := Differ(ways[1:], ways[:1], pages, Thresholds()); d.Clear() || d.F1I[1] >= 0 {
		t.Errorf("a worse way is not clearly worse: %+v", d)
	}
	if d := Differ(ways, ways, pages, Thresholds()); d != (Difference{McNemar: 1}) {
		t.Errorf("a way differs from itself: %+v", d)
	}
}
