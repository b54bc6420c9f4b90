// Package splitmix spreads the differences between 64-bit numbers over all their bits.
package splitmix

// Mix is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014), with the constants of David
// Stafford's variant 13. It is a permutation of the 64-bit numbers, so it adds no collisions. Stored
// sketches and indexes depend on its values.
func Mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 27
	x *= 0x94D049BB133111EB
	return x ^ x>>31
}
