package view

import (
	"context"
	"fmt"
	"sync"
	"time"

	"skink/store"
)

// An index holds the rows of a store. Each request brings it up to date.
type index struct {
	from   Source
	orders *orders

	mu     sync.RWMutex // guards what follows
	rows   *rows
	cursor store.Cursor
	whole  bool      // whether all records of the store have been read at least once
	all    int64     // number of records in the store
	looked time.Time // when the store was last asked for changes
	busy   bool      // whether a goroutine is reading changes
	failed error     // why the last reading failed; nil: it did not
	idle   chan struct{}
}

func newIndex(from Source) *index {
	return &index{from: from, rows: newRows(), orders: newOrders()}
}

const (
	lookEvery = 2 * time.Second        // least time between two readings of the store's changes
	patience  = 100 * time.Millisecond // longest time that a request waits for a reading
	batch     = 256                    // records that are added to the rows under one lock
)

// fresh brings the rows up to date with the store. It waits only a moment: a large store is read in
// the background, and lists show the progress.
func (x *index) fresh(ctx context.Context, beside *sync.WaitGroup, life context.Context) {
	x.mu.Lock()
	if !x.busy && time.Since(x.looked) >= lookEvery && life.Err() == nil {
		x.busy, x.idle = true, make(chan struct{})
		beside.Go(func() { x.read(life) })
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

// read adds the changes since the last look.
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

// take adds the records of some changes to the rows.
func (x *index) take(some []*store.Change) {
	if len(some) == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range some {
		x.rows.add(&c.Content)
	}
	x.cursor = some[len(some)-1].Cursor
}

// restart drops all rows when most of them are dead. The next look reads everything.
func (x *index) restart() {
	if dead := x.rows.n - x.rows.live; dead > 1<<16 && dead > x.rows.live {
		x.rows, x.orders, x.cursor = newRows(), newOrders(), ""
		x.whole = false
	}
}

// look calls do with the rows, which do not change meanwhile.
func (x *index) look(do func(*rows)) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	do(x.rows)
}

// list selects a part of the list of a query. If later is not nil, the caller must call it in the
// background.
func (x *index) list(q query) (s selection, later func()) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.rows.list(q, x.orders)
}

// A progress says how much of the store the rows show.
type progress struct {
	Read, All int64
	Reading   bool   // the rest is being read
	Unread    int64  // records that are too many for lists
	Failed    string // what went wrong
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
