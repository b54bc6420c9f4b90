package rivals

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestByHand checks values that were worked by hand.
func TestByHand(t *testing.T) {
	for _, c := range []struct {
		measure string
		a, b    []uint64
		want    float64
	}{
		{"simhash", nil, nil, 1},
		{"simhash", []uint64{0b1100}, []uint64{0b1010}, 62. / 64}, // two bits differ
		{"simhash", []uint64{1, 1, 2}, []uint64{1}, 1},            // bit 0 has votes 2:1, bit 1 has 1:2
		{"simhash", []uint64{1, 2}, []uint64{3}, 62. / 64},        // equal votes are 0
		{"simhash", []uint64{0}, []uint64{1<<64 - 1}, 0},          // all bits differ
		{"winnowing", nil, nil, 1},
		{"winnowing", []uint64{5}, nil, 0},
		{"winnowing", []uint64{9, 5}, []uint64{7, 5}, 1},                   // one short window each, with 5 as its minimum
		{"winnowing", []uint64{4, 7, 2, 8, 9, 3}, []uint64{2, 8, 9, 6}, 1}, // windows 4728, 7289, 2893 keep 2
		{"winnowing", []uint64{1, 5, 6, 7, 8}, []uint64{5, 6, 7, 8}, .5},   // 1 and 5 of the first, 5 of the second
	} {
		if got := Measures[c.measure](c.a, c.b); got != c.want {
			t.Errorf("%s of %v and %v: got %v, want %v", c.measure, c.a, c.b, got, c.want)
		}
	}
}

// TestBruteForce compares the measures with implementations on strings and maps.
func TestBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(84, 2))
	words := make([]uint64, 30)
	for i := range words {
		words[i] = rng.Uint64()
	}
	text := func() []uint64 {
		all := make([]uint64, rng.IntN(20))
		for i := range all {
			all[i] = words[rng.IntN(len(words))]
		}
		return all
	}
	for range 2000 {
		a, b := text(), text()
		if got, want := Simhash(a, b), bruteSimhash(a, b); got != want {
			t.Fatalf("simhash of %v and %v: got %v, want %v", a, b, got, want)
		}
		if got, want := Winnowing(a, b), bruteWinnowing(a, b); got != want {
			t.Fatalf("winnowing of %v and %v: got %v, want %v", a, b, got, want)
		}
	}
}

func bruteSimhash(a, b []uint64) float64 {
	majority := func(shingles []uint64) string {
		ones := map[int]int{}
		for _, s := range shingles {
			for place, digit := range fmt.Sprintf("%064b", s) {
				if digit == '1' {
					ones[place]++
				}
			}
		}
		f := ""
		for place := range 64 {
			f += fmt.Sprint(2*ones[place] > len(shingles))[:1]
		}
		return f
	}
	x, y, same := majority(a), majority(b), 0
	for i := range x {
		if x[i] == y[i] {
			same++
		}
	}
	return float64(same) / 64
}

func bruteWinnowing(a, b []uint64) float64 {
	in := map[string]int{}
	for side, shingles := range [][]uint64{a, b} {
		for i := range shingles {
			if i > 0 && i+4 > len(shingles) {
				break
			}
			least := ""
			for j := i; j < i+4 && j < len(shingles); j++ {
				if s := fmt.Sprintf("%020d", shingles[j]); least == "" || s < least {
					least = s
				}
			}
			in[least] |= 1 << side
		}
	}
	both := 0
	for _, sides := range in {
		if sides == 3 {
			both++
		}
	}
	if len(in) == 0 {
		return 1
	}
	return float64(both) / float64(len(in))
}
