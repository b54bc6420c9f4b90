package session

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"skink/crawler"
	"skink/feed"
)

// A slowConsumer takes a minute for each call of CatchUp, which returns err.
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

func one(c feed.Consumer, server string) consumers {
	return consumers{all: []consumer{{c, time.Second, server}}, out: Output{Quiet: true}}
}

// A consumer that takes a minute does not slow down the crawl.
func TestSlowConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowConsumer{}
		began := time.Now()
		var crawled time.Duration
		err := one(slow, "").run(t.Context(), t.Context(), func(context.Context) error {
			time.Sleep(10 * time.Second) // the duration of the crawl
			crawled = time.Since(began)
			return nil
		})
		if err != nil || crawled != 10*time.Second || slow.calls != 1 {
			t.Errorf("the crawl took %v, beside a consumer that was called %d times; %v", crawled, slow.calls, err)
		}
	})
}

// A consumer that fails ends the crawl, and the crawl returns its error.
func TestConsumerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("nobody reads")
		err := one(&slowConsumer{err: gone}, "").run(t.Context(), t.Context(), func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, gone) {
			t.Errorf("the crawl ended with %v, want %v", err, gone)
		}
	})
}

// A deadServer never answers.
type deadServer struct{}

func (deadServer) CatchUp(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
func (d deadServer) Close(ctx context.Context) error { return d.CatchUp(ctx) }

// A server that never answers delays the end of a crawl by the grace period, counted from the stop,
// and by no more.
func TestDeadServer(t *testing.T) {
	const grace = 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		following := one(deadServer{}, "http://localhost:9200/pages")
		run, stop := context.WithCancel(t.Context())
		late, cancel := crawler.Late(run, grace)
		defer cancel()
		var stopped time.Time
		err := following.run(run, late, func(context.Context) error {
			time.Sleep(time.Hour) // the duration of the crawl
			stopped = time.Now()
			stop()
			time.Sleep(grace / 2) // the time that pages in flight take
			return context.Canceled
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the crawl ended with %v", err)
		}
		if unsent, err := following.close(late); err != nil || !unsent {
			t.Errorf("close: %v, unsent %v", err, unsent)
		}
		if took := time.Since(stopped); took != grace {
			t.Errorf("the crawl ended %v after the stop, want %v", took, grace)
		}
	})
}
