package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skink/base/harmless"
	"skink/crawler"
	"skink/dedup"
	"skink/feed"
	"skink/feed/release"
	"skink/frontier"
	"skink/internal/bucket"
	"skink/internal/corpus"
	"skink/internal/output"
	"skink/report"
	"skink/store"
)

// consumers are the outputs that follow a running crawl, such as the feeds of its pages. Each consumer
// reads the stored records at its own pace. The crawl waits for its consumers only at the end.
//
// When the crawl is stopped, a consumer that writes locally still processes all remaining pages. A
// consumer that sends to a server stops at the end of the grace period; the next run sends the
// rest.
type consumers struct {
	all []consumer
	out Output
}

type consumer struct {
	feed.Consumer
	every  time.Duration // interval between calls to CatchUp
	server string        // URL of the server that receives the pages; "" means that the consumer writes locally
}

// waitingSaid is how long a finished crawl waits for its consumers before it prints which servers
// have not accepted all pages yet.
const waitingSaid = time.Second

const (
	fileEvery   = 2 * time.Second        // time between writes to a feed file; if the process is killed, the next run writes the missing pages
	streamEvery = 200 * time.Millisecond // maximum delay before a program reading the feed from a pipe gets a page
)

func (r *run) openConsumers(ctx context.Context) (consumers, error) {
	outputs := consumers{out: r.out}
	f, err := r.openFeed(ctx)
	if err != nil {
		return outputs, err
	}
	if f != nil {
		outputs.all = append(outputs.all, *f)
	}
	if r.opt.Follow.Page != nil {
		outputs.all = append(outputs.all, consumer{&follower{Follower: r.opt.Follow, s: r.store}, streamEvery, ""})
	}
	return outputs, nil
}

// closeConsumers closes the consumers of a crawl that did not begin. The error is context.Canceled
// if the user stopped the program before all of them had sent everything.
func (r *run) closeConsumers(ctx context.Context, following consumers) error {
	late, cancel := crawler.Late(ctx, r.opt.Crawl.Grace)
	defer cancel()
	unsent, err := following.close(late)
	if unsent && err == nil {
		err = context.Canceled
	}
	return err
}

// completeOutputs gives the outputs the pages that they miss. It is for runs that have nothing to
// fetch; other runs do this when the crawl begins.
func (r *run) completeOutputs(ctx context.Context) error {
	outputs, err := r.openConsumers(ctx)
	if err != nil {
		return err
	}
	if err := r.closeConsumers(ctx, outputs); err != nil {
		return err
	}
	return outputs.refused()
}

// openFeed returns nil if the options ask for no feed.
func (r *run) openFeed(ctx context.Context) (*consumer, error) {
	switch r.opt.Feed {
	case "":
		return nil, nil
	case "-":
		if r.stream == nil {
			stream, err := feed.NewStream(ctx, r.out.Out, r.store)
			if err != nil {
				return nil, err
			}
			r.stream = &consumer{stream, streamEvery, ""}
		}
		return r.stream, nil
	}
	if bucket.IsAddress(r.opt.Feed) {
		return &consumer{objectFeed{r.store, r.opt.FeedFile, release.Left{}}, fileEvery, r.opt.Feed}, nil
	}
	if frontier.HasScheme(r.opt.Feed) {
		return r.openIndexFeed(ctx)
	}
	f, err := r.opt.FeedFile.Open()
	if err != nil {
		return nil, fmt.Errorf("open feed: %w", err)
	}
	file, err := feed.OpenFile(ctx, f, r.store, r.archivist())
	return &consumer{file, fileEvery, ""}, err
}

// openIndexFeed opens the consumer that sends pages to a search index. The store keeps the position
// of the last page sent.
func (r *run) openIndexFeed(ctx context.Context) (*consumer, error) {
	name := "index " + r.opt.Feed
	at, err := r.store.Meta(ctx, name)
	if err != nil {
		return nil, err
	}
	place, err := feed.ParsePlace(string(at))
	if err != nil {
		return nil, fmt.Errorf("read the position of %s: %w", r.opt.Feed, err)
	}
	b, err := NewIndex(r.store, feed.BulkOptions{
		URL: r.opt.Feed, Header: r.opt.Index, Options: feed.Options{After: place.After, Markdown: true}, Again: place.Refused,
		Refused: func(feed.Refusal) {},
		Keep: func(ctx context.Context, now feed.Place) error {
			return r.store.SetMeta(ctx, name, []byte(now.String()))
		},
	}, r.out.Err)
	return &consumer{b, fileEvery, r.opt.Feed}, err
}

// An objectFeed writes the feed to an object in a bucket when the run ends, because nothing can be
// appended to an object. It implements [feed.Consumer].
type objectFeed struct {
	s    store.Reader
	to   *output.File
	left release.Left
}

func (f objectFeed) Left() release.Left { return f.left }

func (f objectFeed) CatchUp(context.Context) error { return nil }

func (f objectFeed) Close(ctx context.Context) error {
	return f.to.Write(ctx, func(w io.Writer) error {
		pack := corpus.Pack(w, f.to.Name())
		if pages, err := feed.Write(ctx, pack, f.s, feed.Options{Left: f.left, Markdown: true}); err != nil || pages == 0 {
			return err
		}
		return pack.Close()
	})
}

// close closes all consumers, after each has processed the remaining records. A consumer that sends
// to a server is cut off when late ends; the result unsent reports whether this happened.
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
		if output, ok := one.Consumer.(interface{ Left() release.Left }); ok && output.Left().String() != "" {
			f.out.Say("The feed %s", output.Left())
		}
	}
	return unsent, err
}

func (f consumers) refused() error {
	for _, one := range f.all {
		if index, ok := one.Consumer.(*feed.Bulk); ok {
			_, _, refused := index.Counts()
			return RefusedError(refused, "page")
		}
	}
	return nil
}

// work returns late for a consumer that sends to a server, and a context that never ends for any
// other consumer.
func (one consumer) work(late context.Context) context.Context {
	if one.server == "" {
		return context.WithoutCancel(late)
	}
	return late
}

func (one consumer) cutOff(late context.Context, err error) bool {
	return one.server != "" && late.Err() != nil && errors.Is(err, context.Canceled)
}

// sayWaiting prints the servers that the crawl is waiting for. It prints nothing if stop is called
// within waitingSaid.
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

// run calls do, which runs the crawl, while the consumers follow it. If a consumer fails, run
// cancels the context passed to do, and returns the consumer's error. Consumers that send to a
// server are cancelled when late ends.
func (f consumers) run(ctx, late context.Context, do func(context.Context) error) error {
	following, stop := context.WithCancel(ctx)
	defer stop()
	group, doing := errgroup.WithContext(following)
	for _, one := range f.all {
		group.Go(func() error {
			err := repeat(following, one.every, func() error { return one.CatchUp(one.work(late)) })
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

// A urlLog writes a log line for each visit of this worker whose result has been stored: its HTTP status,
// its verdict and the duration of the request. A nil urlLog does nothing.
type urlLog struct {
	log  *slog.Logger
	took sync.Map // URL → duration of its last request; removed when the URL is logged
}

// answered remembers the duration of a page's request until its URL is logged.
func (l *urlLog) answered(p *crawler.Page) {
	if l != nil {
		l.took.Store(p.Item.URL, p.Took)
	}
}

func (l *urlLog) add(r *store.Record) {
	if l == nil {
		return
	}
	attrs := []any{"url", r.URL, "host", frontier.HostOf(r.URL), "state", NameOf(r.End()), "status", r.Status, "bytes", r.Size}
	if r.Visit != store.FirstVisit {
		attrs = append(attrs, "visit", r.Visit.String())
	}
	if took, ok := l.took.LoadAndDelete(r.URL); ok { // nothing may have been fetched, for example because robots.txt disallows the URL
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

// A Follower receives the pages of a store while a crawl runs. The zero value receives none.
type Follower struct {
	After store.Cursor // the position after which Page gets the changes; "" means the beginning of the store

	// Page gets each change of the store with its text, in the order of the store. Calls do not
	// overlap. If Page returns an error, the crawl ends.
	Page func(context.Context, *store.Change) error
}

// A follower passes the changes of a store to a [Follower]. It implements [feed.Consumer].
type follower struct {
	Follower
	s   store.Reader
	err error // error of Page, which is not called again
}

func (f *follower) CatchUp(ctx context.Context) error {
	if f.err != nil {
		return nil // it was returned before
	}
	for change, err := range f.s.Changes(ctx, f.After, store.WantText) {
		if err != nil {
			return err
		}
		if f.err = f.Page(ctx, change); f.err != nil {
			return f.err
		}
		f.After = change.Cursor
	}
	return nil
}

func (f *follower) Close(ctx context.Context) error { return f.CatchUp(ctx) }

const namedRefused = 20

// NewIndex returns a Bulk that sends pages to a search index. It calls opt.Refused, which must be set, for each
// page that the index refuses, and writes a line to out for the first namedRefused of them.
func NewIndex(s store.Reader, opt feed.BulkOptions, out io.Writer) (*feed.Bulk, error) {
	named, told := 0, opt.Refused
	opt.Delayed = func(why error) {
		fmt.Fprintf(out, "skink: the index cannot be reached: %s; skink will try again for about two minutes\n", harmless.Error(why))
	}
	opt.Refused = func(r feed.Refusal) {
		told(r)
		switch named++; {
		case named <= namedRefused:
			fmt.Fprintf(out, "skink: the search index refused the document %s: %s\n", r.ID, harmless.Error(errors.New(r.Error)))
		case named == namedRefused+1:
			fmt.Fprintln(out, "skink: further refused documents are counted, but not listed")
		}
	}
	b, err := feed.NewBulk(s, opt)
	if err != nil {
		return nil, UsageError{err}
	}
	return b, nil
}

// RefusedError returns the error with which a command ends if a search index has permanently
// refused the given number of pages or passages, or nil for 0.
func RefusedError(refused int, what string) error {
	if refused == 0 {
		return nil
	}
	return fmt.Errorf("the index refused %s, which the next run sends again: create the index with the mapping that skink export --print-mapping prints (for passages, add --chunks)", report.Counted(refused, what))
}
