//go:build race

package hostile

// slowdown is the factor for time limits of tests, because they are slower with the race detector.
const slowdown = 4
