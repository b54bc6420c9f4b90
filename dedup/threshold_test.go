package dedup

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBestThreshold(t *testing.T) {
	tenths := []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9, 1}
	for _, c := range []struct {
		name       string
		pairs      []Scored
		thresholds []float64
		want       Choice
	}{
		{"thresholds above .4 and up to .85 separate the labels",
			[]Scored{{.9, true}, {.85, true}, {.4, false}, {.2, false}}, tenths, Choice{.6, [2]float64{.5, .8}}},
		{"a score equal to a threshold reaches it, so .4 declares the pair of .4",
			[]Scored{{.8, true}, {.4, false}}, tenths, Choice{.6, [2]float64{.5, .8}}},
		{"one threshold is best",
			[]Scored{{.55, true}, {.45, false}}, tenths, Choice{.5, [2]float64{.5, .5}}},
		{"in an even number of tied thresholds, the lower of the two in the middle",
			[]Scored{{.65, true}, {.45, false}}, tenths, Choice{.5, [2]float64{.5, .6}}},
		{"the range reaches the greatest threshold",
			[]Scored{{1, true}, {.6, false}}, tenths, Choice{.8, [2]float64{.7, 1}}},
		{"the range reaches the least threshold",
			[]Scored{{.3, true}, {.05, false}}, tenths, Choice{.2, [2]float64{.1, .3}}},
		// The thresholds .1 to .2 declare 1 duplicate and 1 other pair as duplicates, so F1 is 2/3.
		// The thresholds .3 to .8 find 1 of 2 duplicates without an error, which gives the same F1.
		// There is no threshold between these ranges with another F1.
		{"neighbouring ranges with other decisions and the same F1 are one range",
			[]Scored{{.85, true}, {.25, true}, {.25, false}, {.25, false}}, []float64{.2, .3, .4, .5, .6, .7, .8}, Choice{.5, [2]float64{.2, .8}}},
		// The numbers of right, wrong and missed pairs are 3, 2, 0 at .1 (3/5), 2, 2, 1 at .2 to .3
		// (2/5), 2, 1, 1 at .4 to .6 (2/4), and 1, 1, 2 at .7 (1/4).
		{"the best F1 is at one end",
			[]Scored{{.15, true}, {.65, true}, {.7, true}, {.35, false}, {.75, false}}, tenths, Choice{.1, [2]float64{.1, .1}}},
		// The numbers of right, wrong and missed pairs are 2, 2, 0 at .1 to .2 (1/2), 1, 2, 1 at .3
		// (1/4), and 1, 0, 1 at .4 to .7 (1/2).
		{"two ranges tie, and the second is wider",
			[]Scored{{.2, true}, {.7, true}, {.3, false}, {.3, false}}, tenths, Choice{.5, [2]float64{.4, .7}}},
		// The numbers of right, wrong and missed pairs are 2, 2, 0 at .1 to .5 (1/2), 1, 2, 1 at .6
		// (1/4), and 1, 0, 1 at .7 to .8 (1/2).
		{"two ranges tie, and the first is wider",
			[]Scored{{.5, true}, {.8, true}, {.6, false}, {.6, false}}, tenths, Choice{.3, [2]float64{.1, .5}}},
		// The share is 1/2 at .1 to .3, 1/4 at .4 to .5, and 1/2 at .6 to .8.
		{"two ranges are equally wide, and the greater thresholds win",
			[]Scored{{.3, true}, {.8, true}, {.5, false}, {.5, false}}, tenths, Choice{.7, [2]float64{.6, .8}}},
		{"the width counts, not the number of thresholds",
			[]Scored{{.2, true}, {.9, true}, {.3, false}, {.3, false}}, []float64{.1, .15, .2, .3, .4, .9}, Choice{.4, [2]float64{.4, .9}}},
		{"one threshold to try", []Scored{{.2, true}, {.9, false}}, []float64{.5}, Choice{.5, [2]float64{.5, .5}}},
	} {
		if got := BestThreshold(c.pairs, c.thresholds); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestBestThresholdProperties compares BestThreshold for random pairs with its definition.
func TestBestThresholdProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	thresholds := Thresholds()
	for range 500 {
		pairs := make([]Scored, 10+rng.IntN(30))
		for i := range pairs {
			pairs[i] = Scored{float64(rng.IntN(51)) / 50, rng.IntN(2) == 0}
		}
		var f []float64
		for _, threshold := range thresholds {
			f = append(f, Assess(pairs, threshold).F1)
		}
		got := BestThreshold(pairs, thresholds)
		first, last := slices.Index(thresholds, got.Tied[0]), slices.Index(thresholds, got.Tied[1])
		if first < 0 || last < first || got.Threshold != thresholds[(first+last)/2] {
			t.Fatalf("%v: %v is not the middle of a range", pairs, got)
		}
		best := slices.Max(f)
		width := 0
		for i, run := 0, 0; i < len(f); i++ {
			if run++; f[i] != best {
				run = 0
			}
			width = max(width, run)
		}
		if last-first+1 != width || slices.Min(f[first:last+1]) != best {
			t.Fatalf("%v: %v has %d thresholds, the widest range with F1 %v has %d", pairs, got, last-first+1, best, width)
		}
		rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		if again := BestThreshold(pairs, thresholds); again != got {
			t.Fatalf("the order of the pairs changes the threshold from %v to %v", got, again)
		}
	}
}
