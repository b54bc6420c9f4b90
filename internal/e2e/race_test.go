//go:build race

package e2e

// raced is true if the tests run with the race detector.
const raced = true
