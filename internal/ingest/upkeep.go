package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"skink/crawler/learn"
)

// syncEvery is what a power cut can cost.
const syncEvery = 30 * time.Second

// writeEvery is what was learned that a kill can cost.
const writeEvery = time.Second

// upkeep is what has to be done every now and then, whatever pages come: making what is
// committed survive a power cut, marking pages that are being read for long, and writing what was
// learned.
type upkeep struct {
	closing chan struct{}
	ended   sync.WaitGroup
	err     atomic.Pointer[error]
}

func (u *upkeep) start(s Store, f *flight, b *learn.Book) {
	u.closing = make(chan struct{})
	u.ended.Go(func() {
		if err := u.run(s, f, b); err != nil {
			u.err.Store(&err)
		}
	})
}

func (u *upkeep) run(s Store, f *flight, b *learn.Book) error {
	ctx := context.Background() // what it writes is short, and the last of it comes after the end of a crawl
	sync, look, write := time.NewTicker(syncEvery), time.NewTicker(lookEvery), time.NewTicker(writeEvery)
	defer sync.Stop()
	defer write.Stop()
	defer look.Stop()
	for {
		var err error
		select {
		case <-u.closing:
			return errors.Join(f.look(ctx, time.Now()), b.Sync(ctx))
		case <-write.C:
			err = b.Sync(ctx)
		case <-sync.C:
			if err = s.Sync(); err != nil {
				err = fmt.Errorf("sync the store: %w", err)
			}
		case now := <-look.C:
			err = f.look(ctx, now)
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
