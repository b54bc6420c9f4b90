package dedup

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// twoSets returns two random sets with n shingles in total and a resemblance of about j.
func twoSets(rng *rand.Rand, n int, j float64) (a, b []uint64) {
	both := int(math.Round(float64(n) * j))
	for i := range n {
		x := rng.Uint64()
		switch {
		case i < both:
			a, b = append(a, x), append(b, x)
		case i%2 == 0:
			a = append(a, x)
		default:
			b = append(b, x)
		}
	}
	return a, b
}

// TestEstimate compares bias and spread of the estimate with the formula. 400 pairs suffice to
// detect a bias of a fifth of a standard error, or a spread that is wrong by 15%. Up to a
// resemblance of .9, no estimate may be wrong by more than four standard errors. At .95 the
// distribution is so skewed that five are allowed.
func TestEstimate(t *testing.T) {
	const pairs = 400
	rng := rand.New(rand.NewPCG(1, 2))
	for _, j := range []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9, .95} {
		se, most := standardError(j), 4.
		if j > .9 {
			most = 5
		}
		var sum, squares, worst float64
		for range pairs {
			x, y := twoSets(rng, 600, j)
			a, b := NewSketch(x), NewSketch(y)
			d := Estimate(&a, &b) - j
			sum, squares, worst = sum+d, squares+d*d, max(worst, math.Abs(d))
		}
		if bias := sum / pairs; math.Abs(bias) > 4*se/math.Sqrt(pairs) {
			t.Errorf("J %.2f: bias %.4f, standard error %.4f", j, bias, se)
		}
		if spread := math.Sqrt(squares / pairs); spread < .85*se || spread > 1.15*se {
			t.Errorf("J %.2f: spread %.4f, formula %.4f", j, spread, se)
		}
		if worst > most*se {
			t.Errorf("J %.2f: off by %.4f, %v standard errors are %.4f", j, worst, most, most*se)
		}
	}
}

// TestEstimateOfTexts compares bias and spread of the estimate with the formula for short texts,
// with rolling hashes of shingles.
func TestEstimateOfTexts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "text"), 0))
		words := make([]string, rapid.IntRange(30, 400).Draw(r, "words"))
		for i := range words {
			words[i] = fmt.Sprint(rng.IntN(5000))
		}
		var a, b Text
		a.Read([]byte(strings.Join(words, " ")))
		for range rapid.IntRange(0, len(words)/10).Draw(r, "changes") {
			words[rng.IntN(len(words))] = "changed"
		}
		b.Read([]byte(strings.Join(words, " ")))
		j := Resemblance(a.Set(4), b.Set(4))
		x, y := NewSketch(a.Shingles(nil, 4)), NewSketch(b.Shingles(nil, 4))
		if e := Estimate(&x, &y); j >= .1 && j <= .9 && math.Abs(e-j) > 4*standardError(j) {
			r.Fatalf("resemblance %.3f, estimate %.3f: off by over four standard errors of %.3f", j, e, standardError(j))
		}
	})
}

func TestSketchOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.SliceOfN(rapid.Uint64(), 1, 50).Draw(r, "shingles")
		p := append(rapid.Permutation(s).Draw(r, "order"), s[0])
		if NewSketch(s) != NewSketch(p) {
			r.Fatal("order or repeats change the sketch")
		}
	})
}

// TestAllocations checks that computing a sketch from a text allocates nothing if memory is reused.
func TestAllocations(t *testing.T) {
	for name, text := range map[string][]byte{"English": english, "Russian": russian} {
		var x Text
		var shingles []uint64
		if n := testing.AllocsPerRun(20, func() {
			x.Read(text)
			shingles = x.Shingles(shingles[:0], DefaultShingle)
			NewSketch(shingles)
		}); n > 0 {
			t.Errorf("%s: %v allocations for a sketch", name, n)
		}
	}
}

// TestVectors compares the vector code with the portable code, for all lengths near the strides and
// chunks.
func TestVectors(t *testing.T) {
	if !vectors {
		t.Skip("this processor has no AVX2")
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for n := range 2*chunk + 3*stride {
		s := make([]uint64, n)
		for i := range s {
			s[i] = rng.Uint64()
		}
		if newSketch(s, true) != newSketch(s, false) {
			t.Fatalf("%d shingles: the vector code has other values", n)
		}
	}
}

// SketchOf must decode an encoded sketch, and refuse bytes of another size.
func TestSketchOf(t *testing.T) {
	want := NewSketch([]uint64{1, 1 << 40, 3})
	b := want.Append([]byte("before"))[len("before"):]
	if got, ok := SketchOf(b); !ok || *got != want {
		t.Errorf("%v comes back as %v, %v", want, got, ok)
	}
	for _, b := range [][]byte{nil, b[1:], append(b, 0)} {
		if _, ok := SketchOf(b); ok {
			t.Errorf("%d bytes are a sketch", len(b))
		}
	}
}
