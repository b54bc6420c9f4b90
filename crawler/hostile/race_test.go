//go:build race

package hostile

// slowdown is the factor by which time limits are longer with the race detector.
const slowdown = 4
