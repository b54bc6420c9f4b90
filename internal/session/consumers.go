package session

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
	"skink/frontier"
	"skink/store"
)

// consumers follow a crawl: its feeds, and the log of its URLs. Each reads the stored records at
// its own pace. The crawl waits for them only at its end.
//
// After a stop, a consumer on this machine always processes the rest. A consumer that sends to a
// server has until the end of the grace period; the next run sends what remains.
type consumers struct {
	all []consumer
	log *urlLog // one of all; nil: URLs are not logged
	out Output
}

type consumer struct {
	feed.Consumer
	every  time.Duration // interval between two calls of CatchUp
	server string        // URL of the server to which it sends; "": it writes on this machine
}

// waitingSaid is how long the end of a crawl waits before it prints which server it waits for.
const waitingSaid = time.Second

// lateContext returns a context that ends a grace period after ctx, or when it is cancelled. The
// crawler bounds its fetches in the same way, and both periods begin when the crawl is stopped.
func lateContext(ctx context.Context, grace time.Duration) (late context.Context, cancel func()) {
	late, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		over := time.AfterFunc(grace, end)
		context.AfterFunc(late, func() { over.Stop() })
	})
	return late, func() { stop(); end() }
}

const (
	fileEvery   = 2 * time.Second        // a kill can lose this much of a feed in a file; the next run writes it again
	streamEvery = 200 * time.Millisecond // delay for the reader of a stream
)

// openConsumers opens the consumers that the options ask for.
func (r *run) openConsumers(ctx context.Context) (consumers, error) {
	following := consumers{out: r.out}
	f, err := r.openFeed(ctx)
	if err != nil {
		return following, err
	}
	if f != nil {
		following.all = append(following.all, *f)
	}
	if r.opt.LogURLs {
		l, err := newURLLog(ctx, r.out.Log, r.store)
		if err != nil {
			return following, errors.Join(err, r.closeConsumers(ctx, following))
		}
		following.log = l
		following.all = append(following.all, consumer{l, streamEvery, ""})
	}
	return following, nil
}

// closeConsumers closes the consumers of a crawl that has not begun. The error is context.Canceled
// if one of them could not send everything because of a stop.
func (r *run) closeConsumers(ctx context.Context, following consumers) error {
	late, cancel := lateContext(ctx, r.opt.Crawl.Grace)
	defer cancel()
	unsent, err := following.close(late)
	if unsent && err == nil {
		err = context.Canceled
	}
	return err
}

// completeFeed updates the feed's file from the store. A crawl that has work to do does the same
// when it begins.
func (r *run) completeFeed(ctx context.Context) error {
	f, err := r.openFeed(ctx)
	if err != nil || f == nil {
		return err
	}
	following := consumers{all: []consumer{*f}, out: r.out}
	if err := r.closeConsumers(ctx, following); err != nil {
		return err
	}
	return following.refused()
}

// openFeed opens the live feed. It returns nil if the options ask for none.
func (r *run) openFeed(ctx context.Context) (*consumer, error) {
	switch r.opt.Feed {
	case "":
		return nil, nil
	case "-":
		stream, err := feed.NewStream(ctx, r.out.Out, r.store)
		return &consumer{stream, streamEvery, ""}, err
	}
	if frontier.HasScheme(r.opt.Feed) {
		return r.openIndexFeed(ctx)
	}
	file, err := feed.OpenFile(ctx, r.opt.Feed, r.store)
	return &consumer{file, fileEvery, ""}, err
}

// openIndexFeed opens the consumer that sends a crawl to an index. The store keeps its position.
func (r *run) openIndexFeed(ctx context.Context) (*consumer, error) {
	name := "index " + r.opt.Feed
	at, err := r.store.Meta(ctx, name)
	if err != nil {
		return nil, err
	}
	keep := func(ctx context.Context, after store.Cursor) error { return r.store.SetMeta(ctx, name, []byte(after)) }
	b, err := NewIndex(r.store, r.opt.Feed, r.opt.Index, feed.Options{After: store.Cursor(at), Markdown: true}, keep, r.out.Err)
	if err != nil {
		return nil, err
	}
	return &consumer{indexFeed{b}, fileEvery, r.opt.Feed}, nil
}

// answered tells the log of URLs of an answer.
func (f consumers) answered(p *crawler.Page) {
	if f.log != nil {
		f.log.answered(p)
	}
}

// touched returns the function to call after visits without a change, or nil. The consumers get only
// changes.
func (f consumers) touched() func(*store.Record) {
	if f.log == nil {
		return nil
	}
	return f.log.add
}

// close lets each consumer process the rest. Consumers that send to a server have until late ends;
// unsent reports that one of them did not finish by then.
func (f consumers) close(late context.Context) (unsent bool, err error) {
	defer f.sayWaiting()()
	for _, one := range f.all {
		closed := one.Close(one.work(late))
		if one.cutOff(late, closed) {
			unsent = true
			f.out.Say("%s did not accept all pages within the grace period: the next run sends the rest", one.server)
			continue
		}
		err = errors.Join(err, closed)
	}
	return unsent, err
}

// refused returns the error of a crawl whose index permanently refused pages, or nil if it refused
// none.
func (f consumers) refused() error {
	for _, one := range f.all {
		if index, ok := one.Consumer.(indexFeed); ok {
			_, _, refused := index.Counts()
			return RefusedError(refused)
		}
	}
	return nil
}

// work returns the context for a consumer.
func (one consumer) work(late context.Context) context.Context {
	if one.server == "" {
		return context.WithoutCancel(late)
	}
	return late
}

// cutOff reports whether a consumer failed because late had ended.
func (one consumer) cutOff(late context.Context, err error) bool {
	return one.server != "" && late.Err() != nil && errors.Is(err, context.Canceled)
}

// sayWaiting prints the servers that the crawl waits for, unless stop is called within waitingSaid.
func (f consumers) sayWaiting() (stop func()) {
	said := time.AfterFunc(waitingSaid, func() {
		for _, one := range f.all {
			if one.server != "" {
				f.out.Say("Waiting for %s to accept the last pages. Press Ctrl-C to stop; the next run sends the rest.", one.server)
			}
		}
	})
	return func() { said.Stop() }
}

// while runs do, and lets the consumers follow it. If a consumer fails, the context of do ends, and
// while returns the consumer's error. Consumers that send to a server are cancelled when late ends.
func (f consumers) while(ctx, late context.Context, do func(context.Context) error) error {
	following, stop := context.WithCancel(ctx)
	defer stop()
	group, doing := errgroup.WithContext(following)
	for _, one := range f.all {
		group.Go(func() error {
			err := feed.Follow(following, one.work(late), one.Consumer, one.every)
			if one.cutOff(late, err) {
				return nil
			}
			return err
		})
	}
	err := do(doing)
	stop()
	defer f.sayWaiting()()
	if failed := group.Wait(); failed != nil {
		return failed
	}
	return err
}

// A urlLog writes a line for each stored URL, with its answer and verdict. It implements
// [feed.Consumer].
type urlLog struct {
	log    *slog.Logger
	s      store.Reader
	cursor store.Cursor
	took   sync.Map // duration of the last answer, by URL; removed when the URL is logged
}

// newURLLog returns a log of the URLs that are stored from this moment on.
func newURLLog(ctx context.Context, log *slog.Logger, s store.Reader) (*urlLog, error) {
	end, err := s.End(ctx)
	if err != nil {
		return nil, fmt.Errorf("start the log of URLs: %w", err)
	}
	return &urlLog{log: log, s: s, cursor: end}, nil
}

// CatchUp logs the URLs that were stored since the last call.
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

// answered records how long an answer took.
func (l *urlLog) answered(p *crawler.Page) { l.took.Store(p.Item.URL, p.Took) }

// add logs the result of a URL.
func (l *urlLog) add(r *store.Record) {
	attrs := []any{"url", r.URL, "state", NameOf(r.End()), "status", r.Status, "bytes", r.Size}
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
