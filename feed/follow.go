package feed

import (
	"context"
	"time"
)

// A Consumer processes the changes of a store at its own pace.
type Consumer interface {
	// CatchUp processes the changes since the last call.
	CatchUp(ctx context.Context) error
	// Close processes the remaining changes and closes the consumer. Call it before closing the
	// store.
	Close(ctx context.Context) error
}

// Follow calls c.CatchUp at the given interval until ctx is done or CatchUp fails, and returns the
// error of CatchUp. CatchUp gets the context work instead of ctx, so that a running call can finish
// when ctx is done.
func Follow(ctx, work context.Context, c Consumer, every time.Duration) error {
	tick := time.Tick(every)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}
		if ctx.Err() != nil { // if both cases are ready, select chooses one at random
			return nil
		}
		if err := c.CatchUp(work); err != nil {
			return err
		}
	}
}
