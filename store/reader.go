package store

import (
	"context"
	"iter"

	"skink/dedup"
	"skink/frontier"
)

// A Reader reads a store. Any number of readers may use a store at once, even while a crawl writes
// to it. Each result shows the store at one moment. The results of two calls may show it at
// different moments.
type Reader interface {
	frontier.Reader
	Keeper

	// Pages returns the stored data of the pages with these ids, in the order of ids. An element of
	// the result is nil if its page has no record.
	Pages(ctx context.Context, ids []dedup.Hash, want Want) ([]*Content, error)

	// Changes yields the pages that were committed after a cursor, in the order of their commits. A
	// page that was visited again occurs once, at the position of its last visit.
	Changes(ctx context.Context, after Cursor, want Want) iter.Seq2[*Change, error]

	// End returns the cursor after the latest change. Changes after it are those committed later.
	End(ctx context.Context) (Cursor, error)

	// Clusters yields the leaders that have members, the largest cluster first. Clusters of equal
	// size come in the order in which their leaders were committed.
	Clusters(ctx context.Context) iter.Seq2[Cluster, error]
	// Members yields the members of some clusters, without their leaders. The clusters come in the
	// order of the argument. In each, the member with the highest resemblance comes first, and
	// members of equal resemblance come in the order of their commits.
	Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*Record, error]

	// Tally returns the number of records of each kind and verdict.
	Tally(ctx context.Context) (Tally, error)

	// Meta returns a small named value, or nil if it was never set.
	Meta(ctx context.Context, name string) ([]byte, error)
}

// Want is the set of data that a caller asks for in addition to the record of a page.
type Want uint8

const (
	WantText   Want = 1 << iota // the page's main text with its headings, and its Markdown if the store keeps it
	WantSketch                  // the sketch of the page's main text
	WantLinks                   // the page's links

	WantRecord Want = 0 // the record alone
)

// A Content is the stored data of one page. It contains only the data that was asked for.
type Content struct {
	Record Record
	Text   string        // main text; "" if no text was kept
	Kept   bool          // a text was kept, which may be empty
	Sketch *dedup.Sketch // nil means that the page has no sketch
	Links  []Link        // in document order; nil means that the page has none, or none were kept

	Markdown string    // the main text as Markdown, if WantText was set; "" means that the store keeps none
	Headings []Heading // the headings in Text, in order, if WantText was set
}

// A Cursor is a position in the changes of a store. It is printable, and only the store that made
// it can read it. The empty cursor is before the first change.
type Cursor string

// A Change is a page with the result of its last visit.
type Change struct {
	Content
	Kind   ChangeKind
	Cursor Cursor // the position after this change
}

// A ChangeKind is the kind of change that the last visit to a page found.
type ChangeKind string

const (
	New     ChangeKind = "new"     // the page was visited for the first time
	Changed ChangeKind = "changed" // the page was visited before, or was judged again
	Gone    ChangeKind = "gone"    // an earlier visit found a page with text, and the last one did not
)

// ChangeOf returns the kind of change that the last visit to a page found, given the page's current
// record.
func ChangeOf(r *Record) ChangeKind {
	switch {
	case len(r.Earlier) == 0 && r.JudgedAt.IsZero():
		return New
	case r.Kind != Page && len(r.Earlier) > 0 && r.Earlier[0].Words > 0:
		return Gone
	}
	return Changed
}

// A Cluster is a leading page and the number of pages that duplicate it.
type Cluster struct {
	Leader  dedup.Hash // id of the leader's page
	Members int
}

// Listed calls list when the loop begins, and yields the values that it returns. If list fails or
// ctx is done, Listed yields the error and ends.
func Listed[T any](ctx context.Context, list func() ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		all, err := list()
		if err != nil {
			yield(none, err)
			return
		}
		for _, v := range all {
			if err := ctx.Err(); err != nil {
				yield(none, err)
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}
