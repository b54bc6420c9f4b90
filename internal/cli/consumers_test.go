package cli

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A slowConsumer takes a minute each time, and fails at last if it is told to.
type slowConsumer struct {
	calls int
	err   error
}

func (c *slowConsumer) CatchUp(context.Context) error {
	c.calls++
	time.Sleep(time.Minute)
	return c.err
}

func (c *slowConsumer) Close(context.Context) error { return nil }

// A consumer that takes a minute costs the crawl nothing.
func TestSlowConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowConsumer{}
		began := time.Now()
		var crawled time.Duration
		err := consumers{{slow, time.Second}}.while(t.Context(), func(context.Context) error {
			time.Sleep(10 * time.Second) // the crawl
			crawled = time.Since(began)
			return nil
		})
		if err != nil || crawled != 10*time.Second || slow.calls != 1 {
			t.Errorf("the crawl took %v, beside a consumer that was called %d times; %v", crawled, slow.calls, err)
		}
	})
}

// A consumer that fails ends the crawl, and its error is what the crawl ended with.
func TestConsumerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("nobody reads")
		err := consumers{{&slowConsumer{err: gone}, time.Second}}.while(t.Context(), func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, gone) {
			t.Errorf("the crawl ended with %v, want %v", err, gone)
		}
	})
}
