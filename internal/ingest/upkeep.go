package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// syncEvery is how long before a power cut work can be lost to it.
const syncEvery = 30 * time.Second

// writeEvery is how often lessons are written. The book of a large host has some 300 KB.
const writeEvery = 10 * time.Second

// upkeep is what has to be done every now and then, whatever pages come: making what is
// committed survive a power cut, marking pages that are being read for long, writing what was
// learned, and counting what others have written.
type upkeep struct {
	closing chan struct{}
	ended   sync.WaitGroup
	err     atomic.Pointer[error]
}

func (u *upkeep) start(p *Pipeline) {
	u.closing = make(chan struct{})
	u.ended.Go(func() {
		if err := u.run(p); err != nil {
			u.err.Store(&err)
		}
	})
}

func (u *upkeep) run(p *Pipeline) error {
	ctx := context.Background() // its writes are short, and the last of them come after the crawl's end
	sync, look, count, write := time.NewTicker(syncEvery), time.NewTicker(lookEvery), time.NewTimer(countNear), time.NewTicker(writeEvery)
	defer sync.Stop()
	defer write.Stop()
	defer look.Stop()
	defer count.Stop()
	counts := count.C
	if !p.opt.Shared {
		counts = nil
	}
	for {
		var err error
		select {
		case <-u.closing:
			if p.opt.Shared {
				err = p.counts.recount(ctx, p.store)
			}
			return errors.Join(err, p.flight.look(ctx, time.Now()), p.keepLearned(ctx))
		case <-write.C:
			err = p.keepLearned(ctx)
		case <-sync.C:
			if err = p.store.Sync(); err != nil {
				err = fmt.Errorf("sync the store: %w", err)
			}
		case now := <-look.C:
			err = p.flight.look(ctx, now)
		case began := <-counts:
			err = p.counts.recount(ctx, p.store)
			again := max(countEvery, countShare*time.Since(began)) // counting is not what the servers are for
			if p.counts.nears(p.opt.Limit) {
				again = countNear
			}
			count.Reset(again)
		}
		if err != nil {
			return err
		}
	}
}

// failed is what went wrong; nil: nothing did.
func (u *upkeep) failed() error {
	if err := u.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (u *upkeep) stop() error {
	close(u.closing)
	u.ended.Wait()
	return u.failed()
}
