// Package store is what a crawl remembers: records, sketches, texts, postings,
// the frontier and the settings they were made with. It holds the contract and
// its memory version. Package store/badger is the embedded default, and package
// store/storetest holds the promises as tests, which both pass.
//
// The contract has parts, so that nobody asks for more than he uses: a [Reader]
// for reports and feeds, an [Index] for the pipeline, a frontier for the crawler,
// and [Meta] for settings and marks. [Store] is all of them.
//
// # A page is its id
//
// Outside a store a page is known by the hash of its canonical URL. The order in
// which pages were judged is the store's own: it gives each committed page the
// next place, and shows it as a [Cursor] and as the order of what it lists.
//
// # Judged under a mark
//
// A page is judged by what [Index.Lookup] finds, and may be judged by any number
// of goroutines, or machines, at once. What keeps their verdicts true is the
// [Mark] that each look-up carries: [Index.Commit] refuses a page as [Stale] if a
// page that could have changed its verdict came since. So the verdicts in a store
// are those of judging its pages one by one, in the order of their commits, and
// of two copies that are fetched at once exactly one is unique.
//
//	s := store.NewMemory() // or badger.Open
//	id := dedup.HashOf([]byte("https://example.com/"))
//	pages, err := s.Pages(ctx, []dedup.Hash{id}, store.WantText)     // pages[0] is nil: unknown
//	for c, err := range s.Changes(ctx, "", store.WantRecord) { ... } // in the order of commits
//
// # The order of writing
//
// Commit is the one way in. It makes everything known about some pages durable,
// and it may be interrupted at any moment. So its writes have an order: text,
// sketch, out-links, postings, record, and last the frontier's end of the URL,
// which is the commit point. A back end may group them in one transaction or in
// many; none must. What a reader may then find after a crash, and has to bear:
//
//   - a posting whose page has no record: ignored;
//   - a text or a sketch without a record: never read;
//   - a record whose URL is still pending: the page is fetched again, and its
//     second commit keeps the record that is there ([Kept]).
//
// What the contract does not promise, because only an embedded store could keep
// it: a snapshot over several calls, and places without gaps.
package store

import (
	"errors"

	"skink/frontier"
)

var (
	// ErrInUse: another process has the store open.
	ErrInUse = errors.New("store is in use by another process")
	// ErrCorrupt: the files are there but cannot be read as a store.
	ErrCorrupt = errors.New("store is damaged or is not a skink store")
	// ErrFull: the disk has less than the reserve left; nothing was written.
	ErrFull = errors.New("disk is nearly full")
	// ErrNotExist: no store there, and none was to be made.
	ErrNotExist = errors.New("no such store")
)

// A Store remembers one crawl. All methods may be called from several
// goroutines at once.
type Store interface {
	frontier.Frontier
	Reader
	Index
	Meta

	// Sync makes all that was committed survive a power cut.
	Sync() error
	// Close syncs, and gives up all that is claimed. The store cannot be used
	// after it.
	Close() error
}
