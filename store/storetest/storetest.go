// Package storetest is the promises of packages store and frontier as tests.
// Every back end passes [Run]; one that outlives its process also [RunDurable].
//
// A test is named for the promise it holds a store to, and asks for nothing
// that the contract does not say, so that a store for several machines can
// pass too.
package storetest

import (
	"testing"

	"skink/store"
)

// A group is the promises about one thing.
type group struct {
	name     string
	promises []promise
}

// reading is what a store promises to those who only read it.
var reading = []group{
	{"records", recordPromises},
	{"changes", changePromises},
	{"contents", contentPromises},
	{"visits", visitPromises},
	{"clusters", clusterPromises},
	{"frontier", frontierPromises},
}

var writing = []group{
	{"lookups", lookupPromises},
	{"taking", takePromises},
	{"claims", claimPromises},
	{"coming_back", backPromises},
	{"commit", commitPromises},
	{"stale", stalePromises},
}

// A promise is one sentence of the contract.
type promise struct {
	name string
	test func(t *testing.T, s store.Store)
}

// Run tests a store's promises, each on a new and empty store from open. Open
// closes it at the end of its test.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	run(t, open, reading)
	run(t, open, writing)
}

// RunReader tests those promises that are about reading, for a store that is read in
// another way than it is written.
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

// RunDurable tests what a store promises over its closing and opening. Open
// opens the store in dir, which is empty the first time; tests close it.
func RunDurable(t *testing.T, open func(t *testing.T, dir string) store.Store) {
	for _, p := range durablePromises {
		t.Run(p.name, func(t *testing.T) { p.test(t, reopener(t, open)) })
	}
	t.Run("as_memory", func(t *testing.T) { testAsMemory(t, open) })
}

// reopener returns a function that closes the store it returned before, if any,
// and opens it again.
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
