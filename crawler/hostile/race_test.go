//go:build race

package hostile

// slowdown is how much longer the race detector makes a test wait for an answer.
const slowdown = 4
