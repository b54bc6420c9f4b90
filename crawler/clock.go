package crawler

import (
	"context"
	"time"
)

// A clock measures one exchange, and ends its context when its time is over. It is stopped while
// the exchange waits for memory. One goroutine uses it.
type clock struct {
	limit time.Duration
	timer *time.Timer
	ran   time.Duration // before since
	since time.Time     // zero: it is stopped
}

// startClock returns a context that ends when a clock has run for the time that is left of a limit,
// or with cancel.
func startClock(ctx context.Context, left, limit time.Duration) (context.Context, *clock, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &clock{limit: left, since: time.Now()}
	c.timer = time.AfterFunc(left, func() { cancel(&timeoutError{limit}) })
	return ctx, c, func() { c.timer.Stop(); cancel(context.Canceled) }
}

func (c *clock) stop() {
	c.timer.Stop()
	c.ran, c.since = c.used(), time.Time{}
}

func (c *clock) start() {
	c.since = time.Now()
	c.timer.Reset(c.limit - c.ran)
}

// used is how long the clock has run.
func (c *clock) used() time.Duration {
	if c.since.IsZero() {
		return c.ran
	}
	return c.ran + time.Since(c.since)
}
