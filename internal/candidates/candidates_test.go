package candidates

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"skink/dedup"
)

// TestMeasure compares the result with a comparison of each text with each other. The texts resemble each other more or less.
func TestMeasure(t *testing.T) {
	c := corpusOf(rand.New(rand.NewPCG(84, 47)), 120)
	similarities := []float64{.5, .8, .9}
	r, err := c.Measure(t.Context(), similarities)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Ways) != 4*len(similarities) {
		t.Fatalf("%d ways: %v", len(r.Ways), r.Ways)
	}
	for _, w := range r.Ways {
		want := brute(t, c, w)
		if w.Name == "join" {
			want.Candidates = max(w.Candidates, want.Found) // the join may try others, too
		}
		if w.Pairs != want.Pairs || w.Candidates != want.Candidates || w.Found != want.Found || w.Recall != want.Recall || math.Abs(w.Expected-want.Expected) > 1e-9 {
			t.Errorf("got %+v, want %+v", w, want)
		}
		if w.Pairs < 20 || w.Bytes == 0 || w.Precision != float64(w.Found)/float64(w.Candidates) {
			t.Errorf("%+v", w)
		}
	}
	checkBins(t, c, r)
}

// brute counts what a way finds by comparing all texts with each other.
func brute(t *testing.T, c *Corpus, w Way) (want Way) {
	scheme := dedup.Scheme{}
	if w.Name != "join" {
		var err error
		if scheme, err = dedup.ParseScheme(w.Name, w.Similarity); err != nil || scheme.Rows != w.Rows {
			t.Fatal(scheme, err)
		}
	}
	for b := range c.sets {
		for a := range b {
			likely, is := w.Name == "join", dedup.Resemblance(c.sets[a], c.sets[b]) >= w.Similarity
			if !likely {
				likely = sharedKeys(scheme, c.sets[a], c.sets[b]) >= scheme.Meet()
			}
			if is {
				want.Pairs++
				if want.Expected++; w.Name != "join" {
					want.Expected += scheme.Probability(dedup.Resemblance(c.sets[a], c.sets[b])) - 1
				}
			}
			if likely && w.Name != "join" {
				want.Candidates++
			}
			if likely && is {
				want.Found++
			}
		}
	}
	want.Recall = float64(want.Found) / float64(want.Pairs)
	want.Expected /= float64(want.Pairs)
	return want
}

func sharedKeys(s dedup.Scheme, a, b dedup.Set) (n int) {
	x, y := dedup.NewSketch(a), dedup.NewSketch(b)
	other := s.Keys(nil, &y)
	for _, key := range s.Keys(nil, &x) {
		if slices.Contains(other, key) {
			n++
		}
	}
	return n
}

// checkBins checks that each pair is in the bin of its resemblance, and that the curves follow their formula about.
func checkBins(t *testing.T, c *Corpus, r *Result) {
	all := 0
	for i, b := range r.Bins {
		to := 1.01
		if i+1 < len(r.Bins) {
			to = r.Bins[i+1].From
		}
		n := 0
		for y := range c.sets {
			for x := range y {
				if j := dedup.Resemblance(c.sets[x], c.sets[y]); j >= b.From && j < to {
					n++
				}
			}
		}
		if all += n; n != b.Pairs {
			t.Errorf("%d pairs from %v to %v, want %d", b.Pairs, b.From, to, n)
		}
		for _, s := range b.Schemes {
			if b.Pairs > 20 && math.Abs(s.Found-s.Expected) > .35 {
				t.Errorf("from %v: %s %d finds %.3f of %d, expected %.3f", b.From, s.Name, s.Rows, s.Found, b.Pairs, s.Expected)
			}
		}
	}
	if all != r.Ways[0].Pairs || len(r.Bins) != 10 {
		t.Errorf("%d pairs in %d bins, and %d in all", all, len(r.Bins), r.Ways[0].Pairs)
	}
}

// corpusOf returns groups of five texts, each of which has most shingles of its group.
func corpusOf(rng *rand.Rand, texts int) *Corpus {
	c := &Corpus{Texts: texts, room: 1 << 20}
	var base []uint64
	for i := range texts {
		if i%5 == 0 {
			base = nil
			for range 400 {
				base = append(base, rng.Uint64())
			}
		}
		own := slices.Clone(base)
		for j := range own {
			if rng.Float64() < .03*float64(i%5) {
				own[j] = rng.Uint64()
			}
		}
		c.sets = append(c.sets, dedup.NewSet(own))
		c.shingles += len(own)
	}
	return c
}

// TestNoPairs checks that a corpus without similar texts has a result, and a chart.
func TestNoPairs(t *testing.T) {
	c := corpusOf(rand.New(rand.NewPCG(84, 49)), 6)
	c.sets = []dedup.Set{c.sets[0], c.sets[5]} // of two groups
	r, err := c.Measure(t.Context(), []float64{.8})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range r.Ways {
		if w.Pairs != 0 || w.Recall != 1 || w.Precision != 1 {
			t.Errorf("%+v", w)
		}
	}
	var svg strings.Builder
	if err := r.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, svg.String())
}

func TestWriteSVG(t *testing.T) {
	r, err := corpusOf(rand.New(rand.NewPCG(84, 48)), 50).Measure(t.Context(), []float64{.5, .8})
	if err != nil {
		t.Fatal(err)
	}
	var svg strings.Builder
	if err := r.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, svg.String())
	for _, want := range []string{"bands, 2 minima", "bands, 6 minima", "super, 14 minima: expected", ">join<", "join at 0.5: recall 1.000, precision "} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("the chart does not have %q:\n%s", want, svg.String())
		}
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
	}
}

// TestTooLarge checks the error about texts that do not fit in memory.
func TestTooLarge(t *testing.T) {
	c := &Corpus{}
	if err := c.add(dedup.Set{1, 2, 3}, 49); err != nil {
		t.Error(err)
	}
	if err := c.add(dedup.Set{4}, 49); err == nil || !strings.Contains(err.Error(), "the first 2 texts") {
		t.Error(err)
	}
}
