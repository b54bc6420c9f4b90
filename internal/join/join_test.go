package join

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"skink/dedup"
)

// TestJoin compares the join with a comparison of all pairs. It must try each sufficiently similar
// pair exactly once, in the order that it promises, however many rounds it takes. The sets have all
// lengths, and may share templates or parts of templates.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		similarity := rapid.SampledFrom([]float64{.04, .1, .3, .5, .7, .8, .9, .95, 1}).Draw(rt, "similarity")
		sets := similarSets(rt)
		from := make([]float64, len(sets))
		for i := range from {
			from[i] = max(similarity, rapid.SampledFrom([]float64{0, 0, 0, .4, .6, .75, 1, Nowhere}).Draw(rt, "from"))
		}
		met := tried(rt, similarity, rapid.SampledFrom([]int{1, 1000, 1 << 30}).Draw(rt, "memory"), from, sifted(rt, entriesOf(similarity, sets)))
		for a := range sets {
			for b := range sets {
				got, least := met[[2]int32{int32(a), int32(b)}], max(from[a], from[b])
				want := b > a && len(sets[a]) > 0 && dedup.Resemblance(sets[a], sets[b]) >= least
				if got > 1 || want && got == 0 || got > 0 && (b <= a || least > 1) {
					rt.Fatalf("%d of %d shingles and %d of %d are tried %d times at %v; resemblance %v, looked for from %v on",
						a, len(sets[a]), b, len(sets[b]), got, similarity, dedup.Resemblance(sets[a], sets[b]), least)
				}
			}
		}
	})
}

// tried returns how often a join tries each pair. It checks the order of the pairs.
func tried(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, similarity float64, memory int, from []float64, rows [][]byte) map[[2]int32]int {
	met := map[[2]int32]int{}
	latest, led := map[int32]int32{}, map[int32]bool{} // the latest first set of each second set, and the sets that were first
	x := &Join{T: similarity, Memory: memory, From: func(text int32) float64 { return from[text] }, Try: func(a, b int32) error {
		if last, ok := latest[b]; ok && last > a || led[b] {
			t.Fatalf("the pair %d, %d comes after %d, or %d was first already", a, b, last, b)
		}
		latest[b], led[a] = a, true
		met[[2]int32{a, b}]++
		return nil
	}}
	for next, more := int32(0), true; more; {
		var err error
		if next, more, err = x.Round(rowsFrom(rows, next)); err != nil {
			t.Fatal(err)
		}
	}
	return met
}

// sifted returns rows without keys that only one of them has. Some tables are so small that they take
// many keys for repeated ones.
func sifted(t *rapid.T, rows [][]byte) (left [][]byte) {
	err := Sift(rapid.IntRange(0, 1000).Draw(t, "keys"), 1<<20, rowsFrom(rows, 0), func(row []byte) error {
		left = append(left, slices.Clone(row))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// entriesOf returns the rows of sets.
func entriesOf(similarity float64, sets []dedup.Set) (rows [][]byte) {
	shingles := 0
	for _, s := range sets {
		shingles += len(s)
	}
	order := NewOccurrences(shingles, 1<<30)
	for _, s := range sets {
		order.Count(s)
	}
	for i, s := range sets {
		if e, ok := order.Entry(similarity, int32(i), s); ok {
			rows = append(rows, e.AppendRow(nil))
		}
	}
	return rows
}

// Clusters that a join finds are those of all pairs, whatever the memory. Pairs that come after a text
// was taken must not matter.
func TestJoinClusters(t *testing.T) {
	similarities := []float64{.1, .2, .3, .5, .8, 1}
	rapid.Check(t, func(rt *rapid.T) {
		sets := similarSets(rt)
		var pairs []likePair
		for b := range sets {
			for a := range b {
				if len(sets[a]) > 0 {
					pairs = append(pairs, likePair{a, b, dedup.Resemblance(sets[a], sets[b])})
				}
			}
		}
		want := takenBy(rt, len(sets), similarities, pairs, false)
		rows := entriesOf(similarities[0], sets)
		for _, memory := range []int{1, 1000, 1 << 30} {
			taken, err := NewTaken(len(sets), similarities)
			if err != nil {
				rt.Fatal(err)
			}
			x := &Join{T: similarities[0], Memory: memory, From: taken.From, Try: func(a, b int32) error {
				taken.Take(a, b, dedup.Resemblance(sets[a], sets[b]))
				return nil
			}}
			for next, more := int32(0), true; more; {
				if next, more, err = x.Round(rowsFrom(rows, next)); err != nil {
					rt.Fatal(err)
				}
			}
			if taken.Sort(); !slices.Equal(taken.Pairs(), want.Pairs()) {
				rt.Fatalf("with %d bytes: %v, want %v", memory, taken.Pairs(), want.Pairs())
			}
		}
	})
}

func similarSets(t *rapid.T) (sets []dedup.Set) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	var parts []dedup.Set // parts from which the sets are made
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
		sets = append(sets, dedup.NewSet(shingles))
	}
	return sets
}

func numbers(rng *rand.Rand, n int) (s dedup.Set) {
	for range n {
		s = append(s, rng.Uint64())
	}
	return s
}

// A join must end when Try fails, and a join of empty sets must find nothing.
func TestJoinEnds(t *testing.T) {
	s := dedup.NewSet(numbers(rand.New(rand.NewPCG(1, 2)), 100))
	sets := []dedup.Set{s, s, s, s, s}
	for _, memory := range []int{1, 1 << 20} {
		n, failed := 0, errors.New("failed")
		x := &Join{T: .8, Memory: memory, From: func(int32) float64 { return .8 }, Try: func(int32, int32) error {
			if n++; n == 3 {
				return failed
			}
			return nil
		}}
		if _, _, err := x.Round(rowsFrom(entriesOf(.8, sets), 0)); err != failed || n != 3 {
			t.Errorf("%v after %d pairs", err, n)
		}
	}
	if rows := entriesOf(.8, []dedup.Set{nil, nil, nil}); len(rows) > 0 {
		t.Errorf("empty sets have entries: %v", rows)
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

func flood(n int, own func(rng *rand.Rand, i int) int) (sets []dedup.Set) {
	rng := rand.New(rand.NewPCG(8, 9))
	template := numbers(rng, 412)
	for i := range n {
		sets = append(sets, dedup.NewSet(slices.Concat(template, numbers(rng, own(rng, i)))))
	}
	return sets
}

// If many sets resemble each other by just less than the similarity, the join may read only a
// bounded number of postings for each set, and yield a bounded number of candidates. Most
// candidates come from shingles that share a counter with one of the template.
func TestJoinOfFlood(t *testing.T) {
	for _, f := range floods {
		for _, n := range []int{500, 1000, 2000} {
			for _, memory := range []int{100 << 10, 1 << 30} {
				candidates, rounds := 0, 0
				x := &Join{T: .8, Memory: memory, From: func(int32) float64 { return .8 }, Try: func(int32, int32) error { candidates++; return nil }}
				rows := entriesOf(.8, flood(n, f.make))
				for next, more := int32(0), true; more; rounds++ {
					next, more, _ = x.Round(rowsFrom(rows, next))
				}
				if candidates > 10*n || x.read > 200*n*rounds {
					t.Errorf("%s: %d sets in %d rounds: %d candidates, %d postings read", f.why, n, rounds, candidates, x.read)
				}
			}
		}
	}
}

// A thousand sets resemble each other by .42. The first must find all the others at .3. If the
// others are then searched for only above .42, they must cause hardly any work, in each round.
func TestJoinOfFloodAboveItsLeast(t *testing.T) {
	const n = 1000
	rows := entriesOf(.3, flood(n, func(*rand.Rand, int) int { return 285 })) // the resemblance is 412/(412+2·285)
	for _, memory := range []int{1 << 20, 1 << 30} {
		from, met, rounds := slices.Repeat([]float64{.3}, n), map[int32]int{}, 0
		x := &Join{T: .3, Memory: memory, From: func(text int32) float64 { return from[text] }, Try: func(a, b int32) error {
			met[a]++
			from[b] = .45
			return nil
		}}
		for next, more := int32(0), true; more; rounds++ {
			next, more, _ = x.Round(rowsFrom(rows, next))
		}
		if met[0] != n-1 {
			t.Fatalf("in %d rounds the first meets %d", rounds, met[0])
		}
		candidates := -met[0]
		for _, n := range met {
			candidates += n
		}
		if candidates > n {
			t.Errorf("above it %d candidates in %d rounds", candidates, rounds)
		}
	}
}

func BenchmarkJoin(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000, 8000, 16_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			sets := flood(n, floods[0].make)
			b.SetBytes(int64(8 * 500 * n))
			b.ReportAllocs()
			for b.Loop() {
				x := &Join{T: .8, Memory: 1 << 30, From: func(int32) float64 { return .8 }, Try: func(int32, int32) error { return nil }}
				if _, _, err := x.Round(rowsFrom(entriesOf(.8, sets), 0)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
