package store

import (
	"context"
	"iter"

	"skink/dedup"
	"skink/frontier"
)

// A Reader is asked what a store remembers. Any number of readers may look at a
// store, also while a crawl writes to it. Each answer is true of the moment it
// was given; answers of different calls may be of different moments.
type Reader interface {
	frontier.Reader

	// Pages returns what is known of canonical URLs by their ids, in the order of
	// the ids; nil where no record is.
	Pages(ctx context.Context, ids []dedup.Hash, want Want) ([]*Content, error)

	// Changes yields the pages that were committed after a cursor, in the order
	// of their commits. A page that was visited again stands at the place of its
	// last visit only.
	Changes(ctx context.Context, after Cursor, want Want) iter.Seq2[*Change, error]

	// End is the cursor after the last change that is known now.
	End(ctx context.Context) (Cursor, error)

	// Clusters yields the leaders that have members, largest cluster first, ties
	// by the order of their commits.
	Clusters(ctx context.Context) iter.Seq2[Cluster, error]
	// Members yields the members of some leaders' clusters without the leaders: one
	// cluster after another as they are asked for, and in each the highest resemblance
	// first, ties by the order of their commits.
	Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*Record, error]

	// Tally is the number of records of each kind and verdict.
	Tally(ctx context.Context) (Tally, error)

	// Meta returns a small named value, nil if it was never set.
	Meta(ctx context.Context, name string) ([]byte, error)
}

// Want says what of a page is asked for beside its record.
type Want uint8

const (
	WantText   Want = 1 << iota // its main text
	WantSketch                  // its 84 minima

	WantRecord Want = 0 // its record alone
)

// A Content is what is remembered of one page, as far as it was asked for.
type Content struct {
	Record Record
	Text   string        // main text; "" if none was kept
	Kept   bool          // a text was kept, which may be empty
	Sketch *dedup.Sketch // nil: the page has none
}

// A Cursor says how far somebody has come in the changes of a store. It is
// printable, and means something to the store that gave it only. The empty
// cursor stands before the first change.
type Cursor string

// A Change is a page as its last visit left it.
type Change struct {
	Content
	Kind   ChangeKind
	Cursor Cursor // stands after this change
}

// A ChangeKind says what a page's last visit did to it.
type ChangeKind string

const (
	New     ChangeKind = "new"     // its first visit
	Changed ChangeKind = "changed" // known before
	Gone    ChangeKind = "gone"    // known before as a page with text, and not one now
)

// ChangeOf says what the last commit did to a page.
func ChangeOf(r *Record) ChangeKind {
	switch {
	case len(r.Earlier) == 0 && r.JudgedAt.IsZero():
		return New
	case r.Kind != Page && len(r.Earlier) > 0 && r.Earlier[0].Words > 0:
		return Gone
	}
	return Changed
}

// A Cluster is a leader and how many members follow it.
type Cluster struct {
	Leader  dedup.Hash // id of its page
	Members int
}
