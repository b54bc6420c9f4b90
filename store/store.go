// Package store stores the state of a crawl: records, sketches, texts, postings, the frontier and
// the settings. It contains the interfaces, which are the contract. Package store/badger is
// the embedded store, which is the default. Package internal/tools/storetest tests the contract, and every
// back end passes these tests. It also has a store in memory for tests.
//
// The contract is divided into parts, so a caller asks only for what it uses: a [Reader] for
// reports and feeds, an [Index] for the pipeline, a frontier for the crawler, [Meta] for settings
// and the positions of feeds, and [Portable] for copies. A [Store] implements all of them.
//
// # Pages are identified by their ids
//
// The id of a page is the hash of its canonical URL. A store also numbers pages in the order of
// their commits. The numbers are internal: callers see only the order, in a [Cursor] and in lists.
//
// # Judging pages concurrently
//
// A page is judged from the results of [Index.Lookup]. Any number of goroutines, or machines, may
// judge pages at once. The [Mark] of each lookup keeps their verdicts correct: [Index.Commit]
// refuses a page as [Stale] if a page that could change its verdict was committed after the mark.
// So the verdicts in a store are the same as if its pages had been judged one by one, in the order
// of their commits. If two copies are fetched at once, exactly one is unique.
//
//	s, err := badger.Open("dir", badger.Options{Create: true}) // or postgres.Open
//	id := dedup.HashOf([]byte("https://example.com/"))
//	pages, err := s.Pages(ctx, []dedup.Hash{id}, store.WantText)     // pages[0] is nil if the page is unknown
//	for c, err := range s.Changes(ctx, "", store.WantRecord) { ... } // in the order of commits
package store

import (
	"errors"

	"skink/frontier"
)

var (
	// ErrInUse means that another process has the store open.
	ErrInUse = errors.New("store is in use by another process")
	// ErrCorrupt means that the files exist but cannot be read as a store.
	ErrCorrupt = errors.New("store is damaged or is not a skink store")
	// ErrFull means that the disk has less free space than the store reserves, and that nothing was
	// written.
	ErrFull = errors.New("disk is nearly full")
	// ErrNotExist means that there is no store, and that the caller did not ask to create one.
	ErrNotExist = errors.New("no such store")
	// ErrChanged means that another process has changed a value since the caller read it.
	ErrChanged = errors.New("the value was changed by another process")
	// ErrAway means that the servers that keep the store did not respond in time.
	ErrAway = errors.New("the store's servers are not responding")
)

// A Store holds the state of a crawl. All methods are safe for concurrent use.
type Store interface {
	frontier.Frontier
	Reader
	Index
	Meta
	Portable

	// Sync ensures that all commits survive a power failure.
	Sync() error
	// Close syncs the store and ends all claims. The store must not be used afterwards.
	Close() error
}
