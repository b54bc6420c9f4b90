package view

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"
)

// # Orders
//
// An order is a list of all row numbers, sorted by one column. It is created when a request first
// asks for a list sorted by that column. Later rows are sorted and merged into the order. If
// sorting or merging would take too long for a request, it runs in the background, and until then
// lists are in crawl order.

// columns lists the columns that lists can be sorted by, in the order in which the list of pages
// shows them. The first column is not shown: the crawl order, which is the order of the row numbers.
var columns = []column{
	{name: "crawl"},
	{name: "url", title: "Page", compare: func(t *rows, a, b int32) int {
		x, _ := t.strings(int(a))
		y, _ := t.strings(int(b))
		return bytes.Compare(x, y)
	}},
	{name: "verdict", title: "Verdict", compare: by(func(r *row) uint8 { return r.verdict })},
	{name: "resemblance", title: "Resemblance", number: true, compare: by(func(r *row) float32 { return r.resemblance })},
	{name: "words", title: "Words", number: true, compare: by(func(r *row) uint32 { return r.words })},
	{name: "language", title: "Language", compare: byName(func(t *rows, r *row) string { return t.langs.all[r.lang] })},
	{name: bySegment, title: "Segment", compare: byName(func(t *rows, r *row) string { return t.segments.all[r.segment] })},
	{name: "status", title: "Status", number: true, compare: by(func(r *row) uint16 { return r.status })},
	{name: "size", title: "Size", number: true, compare: by(func(r *row) uint32 { return r.size })},
	{name: "depth", title: "Depth", number: true, compare: by(func(r *row) uint16 { return r.depth })},
	{name: "fetched", title: "Fetched", compare: by(func(r *row) uint32 { return r.fetched })},
}

// bySegment is the name of a column that lists show only if there are segments.
const bySegment = "segment"

type column struct {
	name    string
	title   string                        // title in the list of pages
	number  bool                          // whether the cells are numbers
	compare func(t *rows, a, b int32) int // compares two rows
}

func by[T cmp.Ordered](field func(*row) T) func(*rows, int32, int32) int {
	return func(t *rows, a, b int32) int { return cmp.Compare(field(t.at(int(a))), field(t.at(int(b)))) }
}

func byName(name func(*rows, *row) string) func(*rows, int32, int32) int {
	return func(t *rows, a, b int32) int { return strings.Compare(name(t, t.at(int(a))), name(t, t.at(int(b)))) }
}

// columnNamed returns the index of the column with that name, or 0, the crawl order, if there is
// none.
func columnNamed(name string) int {
	return max(slices.IndexFunc(columns, func(c column) bool { return c.name == name }), 0)
}

// atOnce is the maximum number of rows that are sorted while a request waits. More rows are sorted
// in the background.
const atOnce = 20_000

type orders struct {
	beside *sync.WaitGroup // runs what is sorted in the background

	mu      sync.Mutex
	sorted  [][]int32 // row numbers in the order of each column; guarded by mu; a list of row numbers may be replaced, but is never modified
	sorting []bool    // for each column, whether its order is being computed in the background; guarded by mu
}

func newOrders(beside *sync.WaitGroup) *orders {
	return &orders{beside: beside, sorted: make([][]int32, len(columns)), sorting: make([]bool, len(columns))}
}

// sortedBy returns the row numbers in the order of the column with index col, or nil if that order
// is not ready. It is then computed in the background. The caller must hold the lock of the rows. The
// background needs no lock, because it reads only rows of full chunks, whose compared fields never
// change.
func (o *orders) sortedBy(col int, t *rows) []int32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	old := o.sorted[col]
	switch {
	case len(old) == t.n:
		return old
	case t.n-len(old) <= atOnce:
		o.sorted[col] = grown(old, t, col, t.n)
		return o.sorted[col]
	case o.sorting[col]:
		return nil
	}
	o.sorting[col] = true
	whole := *t
	o.beside.Go(func() {
		made := grown(old, &whole, col, whole.n-whole.n%chunkRows)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.sorted[col], o.sorting[col] = made, false
	})
	return nil
}

// grown returns old extended by the rows with the numbers from len(old) to n-1. Equal rows are in
// crawl order.
func grown(old []int32, t *rows, col, n int) []int32 {
	compare := func(a, b int32) int { return cmp.Or(columns[col].compare(t, a, b), cmp.Compare(a, b)) }
	fresh := make([]int32, 0, n-len(old))
	for i := len(old); i < n; i++ {
		fresh = append(fresh, int32(i))
	}
	slices.SortFunc(fresh, compare)
	if len(old) == 0 {
		return fresh
	}
	all := make([]int32, 0, n)
	for _, f := range fresh {
		before := sort.Search(len(old), func(i int) bool { return compare(old[i], f) > 0 })
		all = append(append(all, old[:before]...), f)
		old = old[before:]
	}
	return append(all, old...)
}
