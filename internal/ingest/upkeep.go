package ingest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// syncEvery is what a power cut can cost.
const syncEvery = 30 * time.Second

// upkeep is what has to be done every now and then, whatever pages come: making what is
// committed survive a power cut, and marking pages that are being read for long.
type upkeep struct {
	closing chan struct{}
	ended   sync.WaitGroup
	err     atomic.Pointer[error]
}

func (u *upkeep) start(s Store, f *flight) {
	u.closing = make(chan struct{})
	u.ended.Go(func() {
		if err := u.run(s, f); err != nil {
			u.err.Store(&err)
		}
	})
}

func (u *upkeep) run(s Store, f *flight) error {
	ctx := context.Background() // what it writes is short, and the last of it comes after the end of a crawl
	sync, look := time.NewTicker(syncEvery), time.NewTicker(lookEvery)
	defer sync.Stop()
	defer look.Stop()
	for {
		var err error
		select {
		case <-u.closing:
			return f.look(ctx, time.Now())
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
