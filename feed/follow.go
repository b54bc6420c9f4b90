package feed

import (
	"context"
	"time"
)

// A Consumer processes the changes of a store at its own pace.
type Consumer interface {
	// CatchUp processes the changes since the last call.
	CatchUp(ctx context.Context) error
	// Close processes the rest, and ends the consumer. Call it before the store's Close.
	Close(ctx context.Context) error
}

// Follow calls CatchUp at an interval, until ctx ends or the consumer fails. It returns the
// consumer's error. The consumer works with the context work, so that it can finish its work when
// ctx ends.
func Follow(ctx, work context.Context, c Consumer, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if ctx.Err() != nil { // select takes either of two cases that are ready
			return nil
		}
		if err := c.CatchUp(work); err != nil {
			return err
		}
	}
}
