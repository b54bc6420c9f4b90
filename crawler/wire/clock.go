package wire

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Clock measures the time of one exchange, and cancels its context when the time limit is
// reached. The clock is stopped while the exchange waits for memory. Only one goroutine may use it.
type Clock struct {
	limit time.Duration
	timer *time.Timer
	ran   time.Duration // how long the clock had run when it was last started
	since time.Time     // when the clock was last started; zero while it is stopped
}

// StartClock starts a clock that cancels the returned context after it has run for left. The cause
// is a TimeoutError with limit, which may be longer than left if some of the time has already been
// used. The returned function cancels the context as well.
func StartClock(ctx context.Context, left, limit time.Duration) (context.Context, *Clock, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &Clock{limit: left, since: time.Now()}
	c.timer = time.AfterFunc(left, func() { cancel(&TimeoutError{limit}) })
	return ctx, c, func() { c.timer.Stop(); cancel(context.Canceled) }
}

func (c *Clock) stop() {
	c.timer.Stop()
	c.ran, c.since = c.Used(), time.Time{}
}

func (c *Clock) start() {
	c.since = time.Now()
	c.timer.Reset(c.limit - c.ran)
}

// Used returns how long the clock has run.
func (c *Clock) Used() time.Duration {
	if c.since.IsZero() {
		return c.ran
	}
	return c.ran + time.Since(c.since)
}

// A TimeoutError means that an exchange took longer than Limit.
type TimeoutError struct{ Limit time.Duration }

func (e *TimeoutError) Error() string { return fmt.Sprintf("no complete response within %v", e.Limit) }
func (e *TimeoutError) Timeout() bool { return true }

// IsTimeout reports whether an error is a timeout.
func IsTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
