package dedup

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestJoin compares the join with a comparison of all pairs. After must yield each sufficiently
// similar set exactly once. The sets have all lengths, and may share templates or parts of
// templates.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		similarity := rapid.SampledFrom([]float64{.04, .1, .3, .5, .7, .8, .9, .95, 1}).Draw(rt, "similarity")
		sets := similarSets(rt)
		x := joinOf(similarity, sets)
		from := make([]float64, len(sets))
		for i := range from {
			from[i] = max(similarity, rapid.SampledFrom([]float64{0, 0, 0, .4, .6, .75, 1, Nowhere}).Draw(rt, "from"))
		}
		for a := range sets {
			met := metAfter(x, a, from)
			for b := range sets {
				got, least := met[b], max(from[a], from[b])
				want := b > a && len(sets[a]) > 0 && Resemblance(sets[a], sets[b]) >= least
				if got > 1 || want && got == 0 || got > 0 && (b <= a || least > 1) {
					rt.Fatalf("after %d of %d shingles, %d of %d is met %d times at %v; resemblance %v, looked for from %v on",
						a, len(sets[a]), b, len(sets[b]), got, similarity, Resemblance(sets[a], sets[b]), least)
				}
			}
		}
	})
}

// TestJoinWith checks that a join of counted and other sets misses no pair of a counted set.
func TestJoinWith(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		similarity := rapid.SampledFrom([]float64{.1, .3, .5, .8, 1}).Draw(rt, "similarity")
		sets := similarSets(rt)
		counted := make([]bool, len(sets))
		shingles := 0
		for i := range sets {
			if counted[i] = rapid.IntRange(0, 3).Draw(rt, "counted") == 0; counted[i] {
				shingles += len(sets[i])
			}
		}
		order := NewOccurrences(shingles)
		for i, s := range sets {
			if counted[i] {
				order.Count(s)
			}
		}
		x := NewJoinWith(similarity, len(sets), order)
		for i, s := range sets {
			x.Add(i, s)
		}
		from := slices.Repeat([]float64{similarity}, len(sets))
		for a := range sets {
			met := metAfter(x, a, from)
			for b := a + 1; b < len(sets); b++ {
				if (counted[a] || counted[b]) && len(sets[a]) > 0 && Resemblance(sets[a], sets[b]) >= similarity && met[b] != 1 {
					rt.Fatalf("sets %d and %d are met %d times, with resemblance %v", a, b, met[b], Resemblance(sets[a], sets[b]))
				}
			}
		}
	})
}

func similarSets(t *rapid.T) (sets []Set) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	var parts []Set // parts from which the sets are made
	for range rapid.IntRange(1, 12).Draw(t, "parts") {
		parts = append(parts, numbers(rng, rapid.SampledFrom([]int{1, 3, 10, 40, 200}).Draw(t, "length")))
	}
	for range rapid.IntRange(0, 40).Draw(t, "sets") {
		shingles := numbers(rng, rapid.SampledFrom([]int{0, 0, 1, 5, 30}).Draw(t, "own"))
		for _, part := range parts {
			switch rapid.IntRange(0, 2).Draw(t, "how much") {
			case 1:
				shingles = append(shingles, part...)
			case 2:
				shingles = append(shingles, part[rng.IntN(len(part)):]...)
			}
		}
		sets = append(sets, NewSet(shingles))
	}
	return sets
}

func numbers(rng *rand.Rand, n int) (s Set) {
	for range n {
		s = append(s, rng.Uint64())
	}
	return s
}

func joinOf(t float64, sets []Set) *Join {
	shingles := 0
	for _, s := range sets {
		shingles += len(s)
	}
	order := NewOccurrences(shingles)
	for _, s := range sets {
		order.Count(s)
	}
	x := NewJoin(t, len(sets), order)
	for i, s := range slices.Backward(sets) { // the order of the calls must not matter
		x.Add(i, s)
	}
	return x
}

func metAfter(x *Join, a int, from []float64) map[int]int {
	met := map[int]int{}
	x.After(a, from, func(b int) bool { met[b]++; return true })
	return met
}

// A search must end when yield returns false, and a join of empty sets must find nothing.
func TestJoinEnds(t *testing.T) {
	s := numbers(rand.New(rand.NewPCG(1, 2)), 100)
	sets := []Set{NewSet(s), s, s, s, s}
	n := 0
	joinOf(.8, sets).After(0, slices.Repeat([]float64{.8}, len(sets)), func(int) bool { n++; return n < 3 })
	if n != 3 {
		t.Errorf("went on after yield returned false: %d", n)
	}
	if met := metAfter(joinOf(.8, []Set{nil, nil, nil}), 0, []float64{.8, .8, .8}); len(met) > 0 {
		t.Errorf("empty sets met: %v", met)
	}
}

// floods are kinds of sets that all resemble each other by a little less than .8.
var floods = []struct {
	why  string
	make func(rng *rand.Rand, i int) (own int) // number of shingles of set i in addition to the 412 of the template
}{
	{"all pairs at .7", func(*rand.Rand, int) int { return 88 }},
	{"of all lengths, at .77 and less", func(rng *rand.Rand, _ int) int { return 60 + rng.IntN(200) }},
	{"just below .8, at .798", func(*rand.Rand, int) int { return 52 }},
}

func flood(n int, own func(rng *rand.Rand, i int) int) (sets []Set) {
	rng := rand.New(rand.NewPCG(8, 9))
	template := numbers(rng, 412)
	for i := range n {
		sets = append(sets, NewSet(slices.Concat(template, numbers(rng, own(rng, i)))))
	}
	return sets
}

// If many sets resemble each other by just less than the similarity, the join may read only a
// bounded number of postings for each set, and yield a bounded number of candidates. Most
// candidates come from shingles that share a counter with one of the template.
func TestJoinOfFlood(t *testing.T) {
	for _, f := range floods {
		for _, n := range []int{500, 1000, 2000} {
			x := joinOf(.8, flood(n, f.make))
			candidates, from := 0, slices.Repeat([]float64{.8}, n)
			for a := range n {
				candidates += len(metAfter(x, a, from))
			}
			if candidates > 10*n || x.read > 200*n {
				t.Errorf("%s: %d sets: %d candidates, %d postings read", f.why, n, candidates, x.read)
			}
		}
	}
}

// A thousand sets resemble each other by .42. The first must find all the others at .3. If the
// others are then searched for only above .42, they must cause hardly any work.
func TestJoinOfFloodAboveItsLeast(t *testing.T) {
	const n = 1000
	x := joinOf(.3, flood(n, func(*rand.Rand, int) int { return 285 })) // the resemblance is 412/(412+2·285)
	from := slices.Repeat([]float64{.3}, n)
	if met := len(metAfter(x, 0, from)); met != n-1 {
		t.Fatalf("the first meets %d", met)
	}
	candidates := 0
	for i := range from {
		from[i] = .45
	}
	for a := 1; a < n; a++ {
		candidates += len(metAfter(x, a, from))
	}
	if candidates > n {
		t.Errorf("above it %d candidates", candidates)
	}
}

func BenchmarkJoin(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000, 8000, 16_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			sets, from := flood(n, floods[0].make), slices.Repeat([]float64{.8}, n)
			b.SetBytes(int64(8 * 500 * n))
			b.ReportAllocs()
			for b.Loop() {
				x := joinOf(.8, sets)
				for a := range sets {
					x.After(a, from, func(int) bool { return true })
				}
			}
		})
	}
}
