package cli

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"skink/feed"
)

// consumers follow a crawl: its feeds, and the log of its URLs. Each reads what was stored at its
// own pace. The crawl waits for none of them before its end.
type consumers []consumer

type consumer struct {
	feed.Consumer
	every time.Duration // how often it catches up
}

const (
	fileEvery   = 2 * time.Second        // how much a kill can cost a feed in a file; the next run writes it again
	streamEvery = 200 * time.Millisecond // how long somebody who reads along waits
)

// openConsumers opens the consumers that the flags ask for.
func (c *crawlRun) openConsumers(ctx context.Context) (all consumers, err error) {
	f, err := c.openFeed(ctx)
	if err != nil {
		return nil, err
	}
	if f != nil {
		all = append(all, *f)
	}
	if c.logURLs {
		l, err := newURLLog(ctx, c.say.log, c.store)
		if err != nil {
			return nil, errors.Join(err, all.close(ctx))
		}
		c.onPage = append(c.onPage, l.answered)
		c.onTouch = l.add // a consumer is told of changes, and a visit without a change is none
		all = append(all, consumer{l, streamEvery})
	}
	return all, nil
}

// openFeed opens the live feed; nil: the flags ask for none.
func (c *crawlRun) openFeed(ctx context.Context) (*consumer, error) {
	switch c.feed {
	case "":
		return nil, nil
	case "-":
		stream, err := feed.NewStream(ctx, c.con.Out, c.store)
		return &consumer{stream, streamEvery}, err
	}
	if hasScheme(c.feed) {
		return c.openIndexFeed(ctx)
	}
	if err := mayWrite("--feed", c.feed, nil); err != nil {
		return nil, err
	}
	file, err := feed.OpenFile(ctx, c.feed, c.store)
	return &consumer{file, fileEvery}, err
}

// close lets each consumer take the rest.
func (all consumers) close(ctx context.Context) (err error) {
	for _, one := range all {
		err = errors.Join(err, one.Close(context.WithoutCancel(ctx)))
	}
	return err
}

// while runs do, and lets the consumers follow it. If a consumer fails, the context of do ends, and
// the error is that consumer's.
func (all consumers) while(ctx context.Context, do func(context.Context) error) error {
	following, stop := context.WithCancel(ctx)
	defer stop()
	group, doing := errgroup.WithContext(following)
	for _, one := range all {
		group.Go(func() error { return feed.Follow(following, one.Consumer, one.every) })
	}
	err := do(doing)
	stop()
	if failed := group.Wait(); failed != nil {
		return failed
	}
	return err
}
