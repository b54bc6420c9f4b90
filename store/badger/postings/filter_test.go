package postings

import (
	"math/rand/v2"
	"testing"

	"skink/base/splitmix"
)

func bloomOf(keys []uint64) bloom {
	b := bloom{make([]byte, bloomBlocks(len(keys), 10)*bloomBlock)}
	for _, key := range keys {
		h := splitmix.Mix(key)
		setBits(b.block(h), h)
	}
	return b
}

// passes reports whether a filter cannot exclude a key. The first bit must agree with the whole check.
func passes(t testing.TB, b *bloom, key uint64) bool {
	h := splitmix.Mix(key)
	g := splitmix.Mix(h)
	has := b.has(h, g)
	if has && b.firstBit(h, g) == 0 {
		t.Fatalf("the first bit of key %d is not set", key)
	}
	return has
}

// A filter finds all keys that were added, and reports few absent keys as present, whether the keys are random or
// successive small numbers.
func TestFilter(t *testing.T) {
	const keys, absent = 1 << 16, 1 << 17
	r := rand.New(rand.NewPCG(1, 2))
	for name, key := range map[string]func(i uint64) uint64{
		"random":     func(uint64) uint64 { return r.Uint64() },
		"successive": func(i uint64) uint64 { return i },
	} {
		var all []uint64
		for i := range uint64(keys) {
			all = append(all, key(i))
		}
		b := bloomOf(all)
		for _, k := range all {
			if !passes(t, &b, k) {
				t.Fatalf("%s: key %d was forgotten", name, k)
			}
		}
		wrong := 0
		for i := range uint64(absent) {
			if passes(t, &b, key(1<<30+i)) {
				wrong++
			}
		}
		share := float64(wrong) / absent
		t.Logf("%s: %.2f%% of absent keys pass", name, 100*share)
		if share > 0.02 {
			t.Errorf("%s: %.2f%% of absent keys pass, want less than 2", name, 100*share)
		}
	}
}
