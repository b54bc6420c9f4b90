package dedup

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"skink/base/splitmix"
)

// A set must contain the given numbers in ascending order without repeats, however the numbers are
// distributed.
func TestNewSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		different := rapid.IntRange(1, 5000).Draw(t, "different numbers")
		shift := rapid.IntRange(0, 60).Draw(t, "equal upper bits")
		var numbers []uint64
		for range rapid.IntRange(0, 5000).Draw(t, "numbers") {
			numbers = append(numbers, splitmix.Mix(rng.Uint64N(uint64(different)))>>shift)
		}
		given := slices.Clone(numbers)
		got := NewSet(numbers)
		if !slices.Equal(numbers, given) {
			t.Fatal("NewSet changed the numbers that it was given")
		}
		slices.Sort(given)
		if want := slices.Compact(given); !slices.Equal(got, want) {
			t.Fatalf("got %d numbers, want %d", len(got), len(want))
		}
	})
}

// randomSets returns two sets of n numbers. Both contain the given number of common numbers.
func randomSets(n, common int) (a, b Set) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(common)))
	for i := range n {
		x := rng.Uint64()
		a = append(a, x)
		if i >= common {
			x = rng.Uint64()
		}
		b = append(b, x)
	}
	return NewSet(a), NewSet(b)
}

// BenchmarkNewSet sorts many lists of random numbers like those of shingles, so that the processor
// cannot learn to predict branches.
func BenchmarkNewSet(b *testing.B) {
	const n, lists = 1000, 500
	rng := rand.New(rand.NewPCG(1, 1))
	numbers := make([]uint64, n*lists)
	for i := range numbers {
		numbers[i] = rng.Uint64()
	}
	b.SetBytes(8 * n)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		at := i % lists * n
		NewSet(numbers[at : at+n])
	}
}
