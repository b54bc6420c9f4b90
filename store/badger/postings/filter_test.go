package postings

import (
	"math/rand/v2"
	"testing"
)

// A filter finds all keys that were added, and reports few absent keys as present, even after it
// has grown.
func TestFilter(t *testing.T) {
	if f := new(Filter); f.Has(0) || f.Has(1) {
		t.Error("an empty filter has something")
	}
	const first = 1 << 15
	f := Filter{parts: []bloom{newBloom(first, bitsPerKey)}}
	const keys = 3 * first // fills two parts
	r := rand.New(rand.NewPCG(1, 2))
	for range keys {
		f.Add(r.Uint64())
	}
	r = rand.New(rand.NewPCG(1, 2))
	for i := range keys {
		if key := r.Uint64(); !f.Has(key) {
			t.Fatalf("key %d was forgotten", i)
		}
	}
	wrong := 0
	const absent = 1 << 17
	for range absent {
		if f.Has(r.Uint64()) {
			wrong++
		}
	}
	share := float64(wrong) / absent
	t.Logf("%d parts, %.2f%% of absent keys pass", len(f.parts), 100*share)
	if share > 0.035 {
		t.Errorf("%.2f%% of absent keys pass, want less than 3.5", 100*share)
	}
}

// Successive small numbers are spread as well as hashes.
func TestFilterOfPlainNumbers(t *testing.T) {
	const keys = 1 << 15
	f := Filter{parts: []bloom{newBloom(keys, bitsPerKey)}}
	for key := range uint64(keys) {
		f.Add(key)
	}
	wrong := 0
	for key := range uint64(1 << 17) {
		if f.Has(key + 1<<30) {
			wrong++
		}
	}
	if share := float64(wrong) / (1 << 17); share > 0.02 {
		t.Errorf("%.2f%% of absent keys pass, want less than 2", 100*share)
	}
}

// A key that is added again takes no space.
func TestFilterCountsAKeyOnce(t *testing.T) {
	var f Filter
	for range 1000 {
		f.Add(42)
	}
	if len(f.parts) != 1 || f.parts[0].free != firstPart-1 {
		t.Errorf("%d parts, %d free", len(f.parts), f.parts[0].free)
	}
}

func BenchmarkFilterMiss(b *testing.B) {
	var f Filter
	for key := range uint64(1 << 22) {
		f.Add(key)
	}
	b.ReportAllocs()
	key := uint64(1 << 40)
	for b.Loop() {
		key++
		f.Has(key)
	}
}
