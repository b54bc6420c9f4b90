// Package store is what a crawl remembers: records, sketches, texts, postings,
// the frontier and the settings they were made with. It holds the contract and
// its memory version; store/badger is the embedded default, and
// store/storetest the promises as tests, which both pass.
//
//	s := store.NewMemory() // or badger.Open
//	r, err := s.Record(ctx, dedup.HashOf([]byte("https://example.com/"))) // nil: unknown
//	for r, err := range s.Records(ctx, 0) { ... }                         // all, in the order they were judged
//	text, ok, err := s.Text(ctx, r.Num)
//
// # The order of writing
//
// [Store.Commit] is the one way in. It makes everything known about some pages
// durable, and it may be interrupted at any moment. So its writes have an order:
// text, sketch, out-links, postings, record, and last the frontier's done, which
// is the commit point. A back end may group them in one transaction or in many;
// none must. What a reader may then find after a crash, and has to bear:
//
//   - a posting whose number has no record: ignored;
//   - a text or a sketch without a record: never read;
//   - a record whose URL is still pending: the page is fetched again, and its
//     second commit keeps the record that is there (Commit says so).
//
// What the contract refuses to promise, because only an embedded store could
// keep it: a snapshot over several calls, and numbers without gaps.
package store

import (
	"context"
	"errors"
	"iter"

	"skink/dedup"
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

// A Reader reads what a store remembers of its pages, and cannot change it. All
// methods may be called from several goroutines.
type Reader interface {
	// Record returns what is known of a canonical URL, or nil.
	Record(ctx context.Context, id dedup.Hash) (*Record, error)
	// RecordAt returns the record of a number, or nil.
	RecordAt(ctx context.Context, num uint64) (*Record, error)
	// Records yields the records with a number of at least from, in order of
	// number.
	Records(ctx context.Context, from uint64) iter.Seq2[*Record, error]

	// Sketch returns a page's 84 minima; false: there are none.
	Sketch(ctx context.Context, num uint64) (dedup.Sketch, bool, error)
	// Text returns a page's main text; false: none was kept.
	Text(ctx context.Context, num uint64) (string, bool, error)

	// Clusters yields the leaders that have members, largest cluster first, ties
	// by the lower number.
	Clusters(ctx context.Context) iter.Seq2[Cluster, error]
	// Members yields the members of a leader's cluster without the leader,
	// highest resemblance first, ties by the lower number.
	Members(ctx context.Context, leader uint64) iter.Seq2[*Record, error]

	// Tally is the number of records of each kind and verdict.
	Tally(ctx context.Context) (Tally, error)
}

// A Store remembers one crawl. All methods may be called from several
// goroutines; Commit is called by one at a time, the judge.
type Store interface {
	frontier.Frontier
	Reader

	// Next reserves the running number of a page about to be committed. Numbers
	// rise and are never given twice, also not after a crash; they start at 1,
	// may have gaps, and are never exported.
	Next(ctx context.Context) (uint64, error)

	// Commit writes entries in their order. An entry whose record's URL already
	// has a record keeps the old record and its number, writes no text, sketch
	// or posting, but still discovers its links and ends its URL.
	Commit(ctx context.Context, entries []*Entry) error

	// Raw returns the exchange a page came from; nil: it was not kept.
	Raw(ctx context.Context, num uint64) (*Raw, error)

	// ByHash returns the lowest number committed with a text hash; false: none.
	ByHash(ctx context.Context, h dedup.Hash) (uint64, bool, error)
	// Leaders appends to dst the numbers posted under key, lowest first, at
	// most limit of them; more says that there are others.
	Leaders(ctx context.Context, key uint64, limit int, dst []uint64) (nums []uint64, more bool, err error)

	// Meta returns a small named value, nil if it was never set. Settings,
	// seeds and the feed's mark are kept here.
	Meta(ctx context.Context, name string) ([]byte, error)
	// SetMeta sets a small named value.
	SetMeta(ctx context.Context, name string, value []byte) error

	// Sync makes all that was committed survive a power cut.
	Sync() error
	// Close syncs, and ends all leases. The store cannot be used after it.
	Close() error
}

// An Entry is everything that is to be known about one URL that has ended.
type Entry struct {
	Record Record
	State  frontier.State // how the frontier ends Record.URL; Unknown: it never was in the frontier

	Text   []byte          // main text as [Pack] made it; nil: none is kept
	Sketch *dedup.Sketch   // nil: the page has no tokens
	Hash   dedup.Hash      // under which ByHash finds the page; zero: it leads no copies
	Keys   []uint64        // under which Leaders finds the page; leaders only
	Links  []frontier.Item // what it led to
	Beyond []string        // what it led to outside the crawl
	Raw    *Raw            // nil: not asked for
}

// A Raw is one HTTP exchange as it was sent and received, kept so that the text
// can be extracted again and an archive can be written.
type Raw struct {
	Request  []byte // request line and headers
	Response []byte // status line and headers, as received
	Body     []byte // decoded body, cut where the crawl cut it
	SHA256   [32]byte
}

// A Cluster is a leader and how many members follow it.
type Cluster struct {
	Leader  uint64
	Members int
}
