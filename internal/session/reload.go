package session

import (
	"context"
	"sync/atomic"
)

// # Reading the configuration again
//
// While a run goes on, its options do not change. So to obey a new configuration file, a run ends its
// crawl as Ctrl-C does, and begins another one with the new options. Requests in flight are finished,
// and nothing is lost. The view, the metrics and the place among the workers stay. If the file has a
// mistake, the run says so and goes on as before.

// A reloading exchanges the options of a run.
type reloading struct {
	end  atomic.Pointer[context.CancelFunc] // ends the crawl
	next atomic.Pointer[Options]            // nil if the options stay
}

// begin returns the context of the next crawl.
func (l *reloading) begin(ctx context.Context) context.Context {
	ctx, end := context.WithCancel(ctx)
	l.end.Store(&end)
	return ctx
}

// take returns the options of the next crawl, or nil if there are none. If over is true, the run ends anyway.
func (l *reloading) take(over bool) *Options {
	(*l.end.Load())()
	if next := l.next.Swap(nil); !over {
		return next
	}
	return nil
}

// reload reads the configuration again, and ends the crawl if it is valid.
func (r *run) reload(old *Options) {
	next, keep, err := old.Reload()
	if err == nil {
		_, next.Wanted.Settings, err = Agree(r.life, r.store, r.store.Name, next.Wanted)
	}
	if err == nil {
		err = keep()
	}
	if err != nil {
		r.out.Say("The crawl goes on as before: %v", err)
		return
	}
	next.Seeds, next.Memory, next.Crawl.Worker, next.Crawl.Bodies = old.Seeds, old.Memory, old.Crawl.Worker, old.Crawl.Bodies
	next.Feed, next.FeedFile, next.Index, next.CrawlLog, next.LogURLs = old.Feed, old.FeedFile, old.Index, old.CrawlLog, old.LogURLs
	next.Archive.Dir, next.Metrics, next.MetricsHosts, next.View = old.Archive.Dir, old.Metrics, old.MetricsHosts, old.View
	next.Forever, next.Reload = old.Forever, old.Reload
	r.out.Say("The crawl goes on with the configuration as it is now.")
	r.reloading.next.Store(&next)
	(*r.reloading.end.Load())()
}
