// Package storetest tests the promises of packages store and frontier. Every back end passes [Run].
// A back end that outlives its process also passes [RunDurable].
//
// Each test is named after a promise. It requires no more than the contract promises, so a
// distributed store can pass too.
package storetest

import (
	"testing"

	"skink/store"
)

type group struct {
	name     string
	promises []promise
}

// reading lists the promises for callers that only read a store.
var reading = []group{
	{"records", recordPromises},
	{"changes", changePromises},
	{"contents", contentPromises},
	{"visits", visitPromises},
	{"clusters", clusterPromises},
	{"kept", keptPromises},
	{"frontier", frontierPromises},
	{"copies", copyPromises},
}

var writing = []group{
	{"lookups", lookupPromises},
	{"taking", takePromises},
	{"claims", claimPromises},
	{"coming_back", backPromises},
	{"commit", commitPromises},
	{"valid", validPromises},
	{"stale", stalePromises},
}

type promise struct {
	name string
	test func(t *testing.T, s store.Store)
}

// Run tests the promises of a store. For each test, open returns a new, empty store, which it must
// also close at the end of the test.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	run(t, open, reading)
	run(t, open, writing)
}

// RunReader tests only the promises about reading. It is for readers that cannot write, such as
// those of package store/remote.
func RunReader(t *testing.T, open func(t *testing.T) store.Store) { run(t, open, reading) }

func run(t *testing.T, open func(t *testing.T) store.Store, groups []group) {
	for _, group := range groups {
		t.Run(group.name, func(t *testing.T) {
			for _, p := range group.promises {
				t.Run(p.name, func(t *testing.T) { p.test(t, open(t)) })
			}
		})
	}
}

// RunDurable tests the promises that must hold after a store is closed and reopened. open opens the
// store in dir, which is empty the first time. The tests close the store.
func RunDurable(t *testing.T, open func(t *testing.T, dir string) store.Store) {
	for _, p := range durablePromises {
		t.Run(p.name, func(t *testing.T) { p.test(t, reopener(t, open)) })
	}
	t.Run("as_memory", func(t *testing.T) { testAsMemory(t, open) })
}

// reopener returns a function that opens a store. Each later call closes the previous store and
// opens it again.
func reopener(t *testing.T, open func(t *testing.T, dir string) store.Store) func() store.Store {
	dir := t.TempDir()
	var s store.Store
	t.Cleanup(func() {
		if s != nil {
			check(t, s.Close())
		}
	})
	return func() store.Store {
		if s != nil {
			check(t, s.Close())
		}
		s = open(t, dir)
		return s
	}
}
