package dedup

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestJoin holds the join against every pair compared: what resembles a set enough is
// met after it, once, unless it is taken. Sets share templates, the stock that their
// differing parts are drawn from, or nothing, and are of all lengths.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		similarity := rapid.SampledFrom([]float64{.04, .1, .3, .5, .7, .8, .9, .95, 1}).Draw(rt, "similarity")
		sets := similarSets(rt)
		x := joinOf(similarity, sets)
		taken := make([]bool, len(sets))
		for i := range taken {
			taken[i] = rapid.IntRange(0, 9).Draw(rt, "taken") == 0
		}
		for a := range sets {
			met := metAfter(x, a, taken)
			for b := range sets {
				got, want := met[b], b > a && !taken[b] && len(sets[a]) > 0 && Resemblance(sets[a], sets[b]) >= similarity
				if got > 1 || want && got == 0 || got > 0 && (b <= a || taken[b]) {
					rt.Fatalf("after %d of %d shingles, %d of %d is met %d times at %v; resemblance %v, taken %v",
						a, len(sets[a]), b, len(sets[b]), got, similarity, Resemblance(sets[a], sets[b]), taken[b])
				}
			}
		}
	})
}

func similarSets(t *rapid.T) (sets []Set) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	var parts []Set // of which sets are made
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
	x := NewJoin(t, order)
	for _, s := range sets {
		x.Add(s)
	}
	return x
}

func metAfter(x *Join, a int, taken []bool) map[int]int {
	met := map[int]int{}
	x.After(a, taken, func(b int) bool { met[b]++; return true })
	return met
}

// A join ends when it is told to, and one of no sets has nothing to find.
func TestJoinEnds(t *testing.T) {
	s := numbers(rand.New(rand.NewPCG(1, 2)), 100)
	sets := []Set{NewSet(s), s, s, s, s}
	n := 0
	joinOf(.8, sets).After(0, make([]bool, len(sets)), func(int) bool { n++; return n < 3 })
	if n != 3 {
		t.Errorf("went on after yield returned false: %d", n)
	}
	if met := metAfter(joinOf(.8, []Set{nil, nil, nil}), 0, make([]bool, 3)); len(met) > 0 {
		t.Errorf("empty sets met: %v", met)
	}
}

// floods are crowds of sets that resemble each other by less than .8, none by more.
var floods = []struct {
	why  string
	make func(rng *rand.Rand, i int) (own int) // how many shingles a set has of its own, beside 412 of a template
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

// In a flood just below the similarity, a join reads a bounded number of postings and
// names a bounded number of candidates for each set, most of them where a shingle shares
// a counter with one of the template: its work grows with the sets, not with the pairs.
func TestJoinOfFlood(t *testing.T) {
	for _, f := range floods {
		for _, n := range []int{500, 1000, 2000} {
			x := joinOf(.8, flood(n, f.make))
			candidates, none := 0, make([]bool, n)
			for a := range n {
				candidates += len(metAfter(x, a, none))
			}
			if candidates > 10*n || x.read > 200*n {
				t.Errorf("%s: %d sets: %d candidates, %d postings read", f.why, n, candidates, x.read)
			}
		}
	}
}

func BenchmarkJoin(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000, 8000, 16_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			sets, none := flood(n, floods[0].make), make([]bool, n)
			b.SetBytes(int64(8 * 500 * n))
			b.ReportAllocs()
			for b.Loop() {
				x := joinOf(.8, sets)
				for a := range sets {
					x.After(a, none, func(int) bool { return true })
				}
			}
		})
	}
}
