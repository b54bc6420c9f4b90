package view

import (
	"context"
	"fmt"
	"sync"
	"time"

	"skink/base/segment"
	"skink/store"
)

// An index contains the rows of a store. A row is the part of a record that the view keeps in
// memory. Each request first updates the rows.
type index struct {
	from   Source
	orders *orders
	beside *sync.WaitGroup // runs the reads of the store
	life   context.Context // ends the reads of the store

	mu   sync.RWMutex // guards the fields below
	rows *rows
	// segments by which rows are divided; never changes
	divided segment.List
	// position in the store's changes up to which the index has read
	cursor store.Cursor
	whole  bool      // whether the whole store has been read once
	all    int64     // number of records in the store
	looked time.Time // end of the last read of the store
	busy   bool
	failed error // error of the last read; nil if it succeeded
	// closed when the running read ends
	idle chan struct{}
}

func newIndex(from Source, divided segment.List, beside *sync.WaitGroup, life context.Context) *index {
	return &index{from: from, rows: newRows(divided), divided: divided, orders: newOrders(beside), beside: beside, life: life}
}

const (
	lookEvery = 2 * time.Second        // minimum interval between reads of a store that is being written to
	patience  = 100 * time.Millisecond // how long a request waits for a read of the store
	batch     = 256                    // maximum number of records added to the rows each time the lock is held
)

// fresh starts reading the changes of the store, unless the last read ended less than lookEvery
// ago. It waits at most patience for the read to end. Reading a large store may take longer. The
// read then continues in the background, and lists show its progress.
func (x *index) fresh(ctx context.Context) {
	x.mu.Lock()
	if !x.busy && time.Since(x.looked) >= lookEvery && x.life.Err() == nil {
		x.busy, x.idle = true, make(chan struct{})
		x.beside.Go(func() { x.read(x.life) })
	}
	idle := x.idle
	x.mu.Unlock()
	if idle == nil {
		return
	}
	select {
	case <-idle:
	case <-time.After(patience):
	case <-ctx.Done():
	}
}

func (x *index) read(ctx context.Context) {
	x.mu.RLock()
	cursor := x.cursor
	x.mu.RUnlock()
	err := x.from.Read(ctx, func(s store.Reader) error {
		tally, err := s.Tally(ctx)
		if err != nil {
			return err
		}
		x.mu.Lock()
		x.all = tally.Records()
		x.mu.Unlock()
		some := make([]*store.Change, 0, batch)
		for c, err := range s.Changes(ctx, cursor, store.WantSketch) {
			if err != nil {
				x.take(some)
				return err
			}
			if some = append(some, c); len(some) == batch {
				x.take(some)
				some = some[:0]
			}
		}
		x.take(some)
		return nil
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	x.whole = x.whole || err == nil
	x.busy, x.looked, x.failed = false, time.Now(), err
	x.restart()
	close(x.idle)
}

func (x *index) take(some []*store.Change) {
	if len(some) == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range some {
		x.rows.add(&c.Content)
	}
	x.rows.pairs = sync.OnceValue(x.rows.countPairs)
	x.cursor = some[len(some)-1].Cursor
}

// restart drops all rows if most of them are dead because their pages have newer rows. The next
// read then reads the whole store.
func (x *index) restart() {
	if dead := x.rows.n - x.rows.live; dead > 1<<16 && dead > x.rows.live {
		x.rows, x.orders, x.cursor = newRows(x.divided), newOrders(x.beside), ""
		x.whole = false
	}
}

// look calls do with the rows while it holds a lock, so the rows do not change during the call.
func (x *index) look(do func(*rows)) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	do(x.rows)
}

// list selects the part of a list that the query q asks for.
func (x *index) list(q query) selection {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.rows.list(q, x.orders)
}

type progress struct {
	Read, All int64
	Reading   bool   // whether the first read of the whole store is still running
	Unread    int64  // number of records without a row, because the store has more than maxRows records
	Failed    string // error of the last read; "" if it succeeded
}

func (x *index) progress() progress {
	x.mu.RLock()
	defer x.mu.RUnlock()
	p := progress{Read: int64(x.rows.live), All: x.all, Reading: !x.whole, Unread: x.rows.unread}
	if x.failed != nil {
		p.Failed = fmt.Sprintf("The store could not be read completely: %v.", x.failed)
	}
	return p
}
