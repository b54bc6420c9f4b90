package dedup

import (
	"maps"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestBandIndex holds the search against every pair compared: it meets the pairs
// that share a band, as often as they share one.
func TestBandIndex(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sketches := make([]Sketch, rapid.IntRange(0, 12).Draw(rt, "sketches"))
		for i := range sketches {
			for k := range sketches[i] {
				sketches[i][k] = rapid.Uint32Range(0, 2).Draw(rt, "minimum")
			}
		}
		scheme := Scheme{Name: "bands", Rows: rapid.SampledFrom([]int{1, 2, 3}).Draw(rt, "rows"), Need: 1}
		if got, want := metPairs(scheme, sketches), sharedBands(scheme, sketches); !maps.Equal(got, want) {
			rt.Fatalf("got %v, want %v", got, want)
		}
	})
}

// TestBandIndexTexts is the same for the sketches of sets that resemble each other,
// copies among them.
func TestBandIndexTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var sketches []Sketch
	for range 30 {
		x, y := twoSets(rng, 200, .5+rng.Float64()/2)
		sketches = append(sketches, NewSketch(x), NewSketch(y), NewSketch(x))
	}
	scheme := Scheme{Name: "bands", Rows: 6, Need: 1}
	got, want := metPairs(scheme, sketches), sharedBands(scheme, sketches)
	if !maps.Equal(got, want) || len(want) < 60 {
		t.Errorf("met %d pairs, want %d", len(got), len(want))
	}
	n := 0
	index(scheme, sketches).After(0, func(int) bool { n++; return n < 3 }) // its copy shares every band with it
	if n != 3 {
		t.Errorf("went on after yield returned false: %d", n)
	}
}

func index(s Scheme, sketches []Sketch) *BandIndex {
	var places []int32
	for i := range sketches {
		places = append(places, int32(i))
	}
	return NewBandIndex(s, sketches, places)
}

// metPairs counts how often the index meets each pair.
func metPairs(s Scheme, sketches []Sketch) map[[2]int]int {
	x, met := index(s, sketches), map[[2]int]int{}
	for a := range sketches {
		x.After(a, func(b int) bool {
			met[[2]int{a, b}]++
			return true
		})
	}
	return met
}

// sharedBands counts the bands that each pair shares, by comparing them all.
func sharedBands(s Scheme, sketches []Sketch) map[[2]int]int {
	shared := map[[2]int]int{}
	for a := range sketches {
		for b := a + 1; b < len(sketches); b++ {
			if n := agree(s.Keys(nil, &sketches[a]), s.Keys(nil, &sketches[b])); n > 0 {
				shared[[2]int{a, b}] = n
			}
		}
	}
	return shared
}
