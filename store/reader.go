package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"skink/dedup"
	"skink/frontier"
)

// A Reader reads a store. Any number of readers may use a store at once, even while a crawl writes
// to it. Each result is consistent in itself, but the store may change between two calls.
type Reader interface {
	frontier.Reader
	Keeper

	// Pages returns the stored data of the pages with the given ids, in order. The element for a
	// page without a record is nil.
	Pages(ctx context.Context, ids []dedup.Hash, want Want) ([]*Content, error)

	// Changes yields the pages that were committed after a cursor, in the order of their commits. A
	// page occurs only once, at the position of its last visit. A page that is visited during the
	// iteration may occur again after its new visit, but only if after is not empty.
	Changes(ctx context.Context, after Cursor, want Want) iter.Seq2[*Change, error]

	// End returns the cursor after the latest change.
	End(ctx context.Context) (Cursor, error)

	// Clusters yields the clusters, largest first. Clusters of equal size are in the order of their
	// first members' commits. A leader without members has no cluster.
	Clusters(ctx context.Context) iter.Seq2[Cluster, error]
	// Members yields the members of the given clusters in order, without their leaders. In each
	// cluster, the member with the highest resemblance comes first, and members with equal
	// resemblance are in the order of their commits.
	Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*Record, error]

	// Tally counts the records of each kind and verdict.
	Tally(ctx context.Context) (Tally, error)

	// Meta returns the small value with the given name, or nil if it was never set.
	Meta(ctx context.Context, name string) ([]byte, error)
}

// Want is the set of data to return in addition to the record of a page.
type Want uint8

const (
	WantText   Want = 1 << iota // main text with its headings, and its Markdown if the store keeps it
	WantSketch                  // sketch of the main text
	WantLinks                   // links in document order

	WantRecord Want = 0 // only the record
)

// A Content is the stored data of one page. It contains only what the caller requested.
type Content struct {
	Record Record
	Text   string        // main text; "" if no text was kept
	Kept   bool          // whether a text was kept, even an empty one
	Sketch *dedup.Sketch // nil means that the page has no sketch
	Links  []Link        // in document order; nil means that there are none, or that none were kept

	Markdown string    // main text as Markdown, if WantText was set; "" means that the store keeps none
	Headings []Heading // headings in Text, in order, if WantText was set
}

// A Cursor is a position in the changes of a store. It is printable, but opaque to all but the
// store that created it. The empty cursor is before the first change.
type Cursor string

// CursorAt returns the cursor after the commit with the number place.
func CursorAt(place uint64) Cursor { return Cursor(strconv.FormatUint(place, 10)) }

// Place is the inverse of [CursorAt]. It returns 0 for the empty cursor.
func (c Cursor) Place() (uint64, error) {
	if c == "" {
		return 0, nil
	}
	place, err := strconv.ParseUint(string(c), 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%q is not a cursor of this store", c)
	}
	return place, nil
}

// A Change is a page with the result of its last visit.
type Change struct {
	Content
	Kind   ChangeKind
	Cursor Cursor // position after this change
}

// A ChangeKind is the kind of change that the last visit to a page found.
type ChangeKind string

const (
	New     ChangeKind = "new"     // first visit
	Changed ChangeKind = "changed" // visited before, or judged again
	Gone    ChangeKind = "gone"    // an earlier visit found a page with text, but the last one did not
)

// ChangeOf returns the kind of change that a page's last visit found. r is the page's current
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

// A Cluster is a leader and the number of pages that duplicate it.
type Cluster struct {
	Leader  dedup.Hash // page id of the leader
	Members int
}

// Sequence calls list when the iteration begins, and yields the values that list passes to its argument, and then the
// error of list, if any. If the iteration ends early, the argument returns an error, which list must return.
func Sequence[T any](list func(yield func(T) error) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		stopped := false
		err := list(func(v T) error {
			if stopped = !yield(v, nil); stopped {
				return errStopped
			}
			return nil
		})
		if err != nil && !stopped {
			var none T
			yield(none, err)
		}
	}
}

var errStopped = errors.New("the iteration has ended")

// Forward passes the values of all to yield. It returns the first error of all or yield.
func Forward[T any](all iter.Seq2[T, error], yield func(T) error) error {
	for v, err := range all {
		if err == nil {
			err = yield(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Listed calls list when the iteration begins, and yields the values that list returns. If list
// fails or ctx is done, Listed yields the error and ends.
func Listed[T any](ctx context.Context, list func() ([]T, error)) iter.Seq2[T, error] {
	return Sequence(func(yield func(T) error) error {
		all, err := list()
		for i := 0; i < len(all) && err == nil; i++ {
			if err = ctx.Err(); err == nil {
				err = yield(all[i])
			}
		}
		return err
	})
}

// A Keeper caches values that can be computed again from a store's pages, such as which pages
// resemble each other. The value must say which state of the pages it was computed from. A cached
// value may disappear at any time, and callers must also work without it.
type Keeper interface {
	// Kept returns the complete value last cached under the given name, or nil if there is none.
	Kept(ctx context.Context, name string) ([]byte, error)
	// Keep caches a value, and replaces any previous one. The name consists of lower-case letters and
	// hyphens. If several calls run at the same time, one of their values remains. A store that is
	// open only for reading caches values too, if it can write to its folder.
	Keep(ctx context.Context, name string, value []byte) error
}
