package dedup

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func setOf(s string, w int) Set {
	var t Text
	t.Read([]byte(s))
	return t.Set(w)
}

func TestMeasures(t *testing.T) {
	for _, c := range []struct {
		a, b           string
		w              int
		resemblance    float64
		aInB, bInA     float64
		worked, reason string
	}{
		{a: "a b c d e", b: "a b c d f", w: 2, resemblance: 3. / 5, aInB: 3. / 4, bInA: 3. / 4, worked: "ab bc cd | de df"},
		{a: "b c", b: "a b c d", w: 2, resemblance: 1. / 3, aInB: 1, bInA: 1. / 3, worked: "an excerpt"},
		{a: "a b", b: "c d", w: 2},
		{a: "same words", b: "Same, words!", w: 3, resemblance: 1, aInB: 1, bInA: 1},
		{a: "", b: "", w: 2, resemblance: 1, aInB: 1, bInA: 1, worked: "two empty sets"},
		{a: "", b: "x", w: 2, resemblance: 0, aInB: 1, bInA: 0},
		{a: "a b c", b: "a b c d", w: 4, worked: "a shorter text never equals a longer"},
	} {
		a, b := setOf(c.a, c.w), setOf(c.b, c.w)
		if got := [3]float64{Resemblance(a, b), Containment(a, b), Containment(b, a)}; got != [3]float64{c.resemblance, c.aInB, c.bInA} {
			t.Errorf("%q, %q: resemblance and containments %v, want %v (%s)", c.a, c.b, got, []float64{c.resemblance, c.aInB, c.bInA}, c.worked)
		}
	}
}

func TestMeasuresProperties(t *testing.T) {
	word := rapid.SampledFrom(strings.Fields("a b c d e f"))
	text := rapid.Custom(func(r *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 0, 30).Draw(r, "words"), " ") })
	rapid.Check(t, func(r *rapid.T) {
		w := rapid.IntRange(1, 4).Draw(r, "w")
		a, b := setOf(text.Draw(r, "a"), w), setOf(text.Draw(r, "b"), w)
		j := Resemblance(a, b)
		if j != Resemblance(b, a) || j < 0 || j > 1 {
			r.Fatalf("resemblance %v and %v", j, Resemblance(b, a))
		}
		if Resemblance(a, a) != 1 || Containment(a, a) != 1 {
			r.Fatal("a text does not resemble itself")
		}
		if c := Containment(a, b); len(a) > 0 && c < j {
			r.Fatalf("containment %v below resemblance %v", c, j)
		}
		if (j == 1) != slices.Equal(a, b) {
			r.Fatalf("resemblance %v of %v and %v", j, a, b)
		}
	})
}

// Resembles must agree with Resemblance at every similarity, including the resemblance itself.
func TestResembles(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		set := func(name string) Set {
			return NewSet(rapid.SliceOfN(rapid.Uint64Range(0, 600), 0, 600).Draw(r, name))
		}
		a, b := set("a"), set("b")
		want := Resemblance(a, b)
		for _, t := range []float64{rapid.Float64Range(0, 1).Draw(r, "t"), want, math.Nextafter(want, 2), 0, 1} {
			got, ok := Resembles(a, b, t)
			if ok != (want >= t) || ok && got != want {
				r.Fatalf("from %v: %v, %t, want %v", t, got, ok, want)
			}
		}
	})
}

// A comparison must end early if the similarity is out of reach. Otherwise it would need a step for
// each shingle of the two sets.
func TestComparisonEndsEarly(t *testing.T) {
	const n = 10_000
	for _, c := range []struct {
		common int
		t      float64
		most   int // largest number of steps
	}{
		{n, .8, n},
		{n * 82 / 100, .8, 7300}, // the resemblance is .7; without an early end, there would be 11,800 steps
		{n / 10, .8, 2350},
		{0, .8, 2230},
		{0, .05, 2 * n * 100 / 105},
	} {
		a, b := randomSets(n, c.common)
		bound := int(c.t / (1 + c.t) * 2 * n)
		if _, steps := commonFrom(a, b, bound); steps > c.most+2*piece {
			t.Errorf("%d in common, at %v: %d steps, want at most %d", c.common, c.t, steps, c.most)
		}
	}
	a, b := randomSets(n, n/2)
	if _, steps := commonFrom(a, b[:n/2], n*3/4); steps != 0 {
		t.Errorf("a set of half the size: %d steps", steps)
	}
}

func BenchmarkResembles(b *testing.B) {
	const n = 20_000
	for _, c := range []struct {
		name   string
		common int
	}{{"resemblance=0.95", n * 97 / 100}, {"resemblance=0.7", n * 82 / 100}, {"resemblance=0.1", n * 18 / 100}} {
		x, y := randomSets(n, c.common)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(16 * n)
			b.ReportAllocs()
			for b.Loop() {
				Resembles(x, y, DefaultSimilarity)
			}
		})
	}
}
