package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// syncEvery is the interval at which the store is synced to disk. A power failure can lose up to
// one interval of work.
const syncEvery = 30 * time.Second

// writeEvery is the interval at which learned evidence is stored. The evidence about a large host
// takes about 300 KB.
const writeEvery = 10 * time.Second

// upkeep does periodic work: it syncs commits to disk, marks pages that take a long time to read,
// writes learned evidence, and counts the pages of other workers.
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
	ctx := context.Background() // the last writes happen after the crawl's context has ended, and are short
	sync, look, counts, write := time.Tick(syncEvery), time.Tick(lookEvery), time.After(countNear), time.Tick(writeEvery)
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
			return errors.Join(err, p.reader.flight.look(ctx, time.Now()), p.lessons.keep(ctx, true))
		case <-write:
			err = p.lessons.keep(ctx, false)
		case <-sync:
			if err = p.store.Sync(); err != nil {
				err = fmt.Errorf("sync the store: %w", err)
			}
		case now := <-look:
			err = p.reader.flight.look(ctx, now)
		case began := <-counts:
			err = p.counts.recount(ctx, p.store)
			again := max(countEvery, countShare*time.Since(began)) // limits the load from counting
			if p.counts.nears(p.opt.Limit) {
				again = countNear
			}
			counts = time.After(again)
		}
		if err != nil {
			return err
		}
	}
}

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
