package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skink/crawler"
	"skink/dedup"
	"skink/feed"
	"skink/store"
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

// A urlLog writes a line when a URL is stored: how it was answered and judged. It implements
// [feed.Consumer].
type urlLog struct {
	log    *slog.Logger
	s      store.Reader
	cursor store.Cursor
	took   sync.Map // from a URL to how long its last answer took; logging a URL takes it out
}

// newURLLog logs what is stored from this moment on.
func newURLLog(ctx context.Context, log *slog.Logger, s store.Reader) (*urlLog, error) {
	end, err := s.End(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin the log of URLs: %w", err)
	}
	return &urlLog{log: log, s: s, cursor: end}, nil
}

// CatchUp logs what was stored since it was last called.
func (l *urlLog) CatchUp(ctx context.Context) error {
	for page, err := range l.s.Changes(ctx, l.cursor, store.WantRecord) {
		if err != nil {
			return fmt.Errorf("log URLs: %w", err)
		}
		l.add(&page.Record)
		l.cursor = page.Cursor
	}
	return nil
}

// Close logs the last URLs.
func (l *urlLog) Close(ctx context.Context) error { return l.CatchUp(ctx) }

// answered remembers how long an answer took.
func (l *urlLog) answered(p *crawler.Page) { l.took.Store(p.Item.URL, p.Took) }

// add logs what became of a URL.
func (l *urlLog) add(r *store.Record) {
	attrs := []any{"url", r.URL, "state", nameOf(r.End()), "status", r.Status, "bytes", r.Size}
	if r.Visit != store.FirstVisit {
		attrs = append(attrs, "visit", r.Visit.String())
	}
	if took, ok := l.took.LoadAndDelete(r.URL); ok { // missing if nothing was fetched: robots.txt may have forbidden the URL
		attrs = append(attrs, "ms", math.Round(float64(took.(time.Duration))/1e5)/10)
	}
	if r.Problem != "" {
		attrs = append(attrs, "problem", r.Problem)
	}
	if r.Location != "" {
		attrs = append(attrs, "location", r.Location)
	}
	if r.Verdict != "" {
		attrs = append(attrs, "verdict", string(r.Verdict))
	}
	if r.Verdict == dedup.Exact || r.Verdict == dedup.Near {
		attrs = append(attrs, "resemblance", r.Resemblance, "leader", r.DuplicateOf)
	}
	l.log.Info("url", attrs...)
}
