package splitmix

import "testing"

// The first numbers of the generator SplitMix64 with seed 1234567, from its reference
// implementation: the finalizer of seed + n·γ.
func TestMix(t *testing.T) {
	x := uint64(1234567)
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		x += 0x9E3779B97F4A7C15
		if got := Mix(x); got != want {
			t.Errorf("Mix(%#x) = %d, want %d", x, got, want)
		}
	}
}
