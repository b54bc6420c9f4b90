package feed

import (
	"context"
	"time"
)

// A Consumer takes the changes of a store, in its own time.
type Consumer interface {
	// CatchUp takes what the store holds and the consumer has not taken.
	CatchUp(ctx context.Context) error
	// Close takes the rest, and ends the consumer. It comes before the store's Close.
	Close(ctx context.Context) error
}

// Follow lets a consumer catch up every so often, until ctx ends or the consumer fails. The error is
// the consumer's. The consumer works with the context work, so that it can finish what it has begun
// when ctx ends.
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
