package session

import (
	"context"
	"sync"
)

// # Reading the configuration again
//
// While a run goes on, its options do not change. So to obey a new configuration file, a run ends its
// crawl as Ctrl-C does, and begins another one with the new options. Requests in flight are finished,
// and nothing is lost. The view, the metrics and the place among the workers stay. If the file has a
// mistake, the run says so and goes on as before.

// A reloading exchanges the options of a run.
type reloading struct {
	mu   sync.Mutex
	end  context.CancelFunc // guarded by mu: ends the crawl
	next *Options           // guarded by mu: nil if the options stay
}

// begin returns the context of the next crawl.
func (l *reloading) begin(ctx context.Context) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, l.end = context.WithCancel(ctx)
	return ctx
}

// wanted reports whether the crawl ends so that another one can begin.
func (l *reloading) wanted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next != nil
}

// take returns the options of the next crawl, or nil if there are none. If over is true, the run ends anyway.
func (l *reloading) take(over bool) (next *Options) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
	if next = l.next; over {
		next = nil
	}
	l.next = nil
	return next
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
	r.reloading.mu.Lock()
	defer r.reloading.mu.Unlock()
	r.reloading.next = &next
	r.reloading.end()
}
