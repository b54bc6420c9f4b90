package badger

import (
	"context"
	"iter"

	"skink/store"
)

// readPage is one element of the sequence that ahead reads.
type readPage struct {
	change *store.PackedChange
	err    error
}

const (
	aheadPages = 128      // maximum number of pages that ahead passes on at once
	aheadBytes = 64 << 10 // size in bytes at which it passes on fewer pages
)

// ahead yields the elements of changes, which it reads in another goroutine. So the next pages are
// read while the caller unpacks and uses the previous ones. At most three times aheadPages pages
// are in memory, and usually at most three times aheadBytes.
func ahead(ctx context.Context, changes iter.Seq2[*store.PackedChange, error]) iter.Seq2[*store.PackedChange, error] {
	return func(yield func(*store.PackedChange, error) bool) {
		batches, stop := make(chan []readPage, 1), make(chan struct{})
		go func() {
			defer close(batches)
			readAhead(changes, batches, stop)
		}()
		defer func() { // the sequence must not be read after the end of its transaction
			close(stop)
			for range batches {
			}
		}()
		for batch := range batches {
			for _, p := range batch {
				if err := ctx.Err(); err != nil {
					p = readPage{err: err}
				}
				if !yield(p.change, p.err) || p.err != nil {
					return
				}
			}
		}
	}
}

func readAhead(changes iter.Seq2[*store.PackedChange, error], batches chan<- []readPage, stop <-chan struct{}) {
	var batch []readPage
	size := 0
	pass := func() bool {
		select {
		case batches <- batch:
			batch, size = nil, 0
			return true
		case <-stop:
			return false
		}
	}
	for change, err := range changes {
		if batch = append(batch, readPage{change, err}); change != nil {
			size += len(change.Record) + len(change.Text) + len(change.Links)
		}
		if (len(batch) == aheadPages || size >= aheadBytes) && !pass() {
			return
		}
	}
	pass()
}
