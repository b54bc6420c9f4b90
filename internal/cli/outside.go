package cli

import (
	"context"
	"fmt"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"skink/crawler"
	"skink/frontier"
	"skink/internal/harmless"
	"skink/internal/loopback"
	"skink/internal/monitor"
	"skink/report"
	"skink/store"
	"skink/view"
)

// openView serves a view of the crawl if the flags ask for it. stop stops the crawl like Ctrl-C.
func (c *crawlRun) openView(ctx context.Context, r *running, stop func()) (end func() error, err error) {
	if c.view == "" {
		return func() error { return nil }, nil
	}
	address, err := loopback.Address(c.view)
	if err != nil {
		return nil, err // check has refused an invalid address before
	}
	settings, err := storedSettings(ctx, c.store)
	if err != nil {
		return nil, err
	}
	server, err := view.Listen(address, view.Options{
		Store: ours{c.store}, Name: c.name(), Rule: c.judgedBy, Address: address, About: report.About{Store: c.name(), Settings: settings},
		Alike: alikeBy(c.judgedBy), Nearly: nearlyUpTo(c.judgedBy), Marked: inArchive,
		Crawl: &shownCrawl{running: r, memory: int64(*c.memory), stop: stop},
	})
	if err != nil {
		return nil, fmt.Errorf("--view %w", err)
	}
	c.say.line("The crawl is shown at %s", server.URL())
	return server.Close, nil
}

// ours is a store that this process has open.
type ours struct{ store.Reader }

func (o ours) Read(_ context.Context, do func(store.Reader) error) error { return do(o.Reader) }

// A shownCrawl provides the data of a running crawl to a view.
type shownCrawl struct {
	*running
	memory int64 // bytes of memory for pages
	stop   func()

	mu       sync.Mutex
	stopping bool          // guarded by mu
	sized    time.Time     // guarded by mu: time of the last slow counts
	disk     int64         // guarded by mu
	free     int64         // guarded by mu
	left     time.Duration // guarded by mu
}

func (s *shownCrawl) Pages() int64 {
	added := s.pipeline.Added()
	return added.Pages()
}

func (s *shownCrawl) Pause() { s.crawl.Pause() }
func (s *shownCrawl) GoOn()  { s.crawl.GoOn() }

func (s *shownCrawl) Stop() {
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	s.stop()
}

// Now returns the state of the crawl. It omits a count that fails: the crawl will report the error.
func (s *shownCrawl) Now() view.Moment {
	now := time.Now()
	tally := s.pipeline.Tally()
	counts, _ := s.store.Counts(context.Background())
	m := view.Moment{Tally: tally, Ends: endsOf(counts, likelyPostponed(counts, tally), tally), InFlight: s.crawl.InFlight(), Memory: processMemory(), MostMemory: s.memory, Paused: s.crawl.Paused()}
	states := s.crawl.Hosts()
	for _, h := range states {
		m.Hosts = append(m.Hosts, hostNow(h, now))
	}
	m.Saved = s.saved(tally)
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.sized) > sizedEvery {
		s.sized = now
		s.disk = s.store.size()
		if s.store.folder != nil {
			s.free = s.store.folder.Free()
		}
		s.left = s.timeLeft(counts, states, now)
	}
	m.Disk, m.Free, m.Left, m.Stopping = s.disk, s.free, s.left, s.stopping
	return m
}

// sizedEvery is the interval for measuring the files of a store and listing its hosts.
const sizedEvery = 10 * time.Second

// timeLeft estimates how long the known URLs will take: all of them at the current rate or, if that
// is longer, those of the slowest host at its own rate. It returns 0 while a rate is unknown.
func (s *shownCrawl) timeLeft(counts frontier.Counts, states []crawler.HostState, now time.Time) time.Duration {
	took := now.Sub(s.started)
	added := s.pipeline.Added()
	if done := added.Records(); done < 10 || counts.Pending == 0 || s.crawl.Paused() {
		return 0
	}
	left := time.Duration(float64(took) * float64(counts.Pending) / float64(added.Records()))
	rests := map[string]time.Duration{}
	for _, h := range states {
		rests[h.Name] = h.Rest
	}
	for h, err := range s.store.Hosts(context.Background()) {
		if err != nil {
			return 0
		}
		left = max(left, time.Duration(h.Pending)*rests[h.Name])
	}
	return left
}

// saved returns what the crawl did not need to fetch.
func (s *shownCrawl) saved(tally store.Tally) (all []view.Saving) {
	add := func(why string, n int64) {
		if n > 0 {
			all = append(all, view.Saving{Why: why, Fetches: n})
		}
	}
	add("postponed, because of what was learned of their hosts", tally.Later)
	add("not modified: the server sent no page again", s.pipeline.Visits()[store.NotModified])
	return all
}

// hostNow returns the state of a host for a view.
func hostNow(h crawler.HostState, now time.Time) view.HostNow {
	n := view.HostNow{Name: h.Name, State: view.Done, Requests: h.Requests, Took: h.Took, Rest: h.Rest}
	switch {
	case h.Fails > 0:
		n.State, n.Why = view.Fails, whyAlone(h, now)
	case h.Budget || h.Until.After(now):
		n.State, n.Why = view.Rests, whyAlone(h, now)
	case h.Left:
		n.State = view.Works
	}
	return n
}

// endsOf returns the numbers of a store's URLs by state.
func endsOf(counts frontier.Counts, postponed int64, tally store.Tally) (ends []view.End) {
	rows, _ := endRows(counts, postponed, tally)
	for _, r := range rows {
		ends = append(ends, view.End{Name: r.name, URLs: r.n, Note: harmless.Line(r.note)})
	}
	return ends
}

// momentOf returns the state of a store without a crawl in this process.
func momentOf(ctx context.Context, s store.Reader) (m view.Moment, err error) {
	if m.Tally, err = s.Tally(ctx); err != nil {
		return m, err
	}
	counts, err := s.Counts(ctx)
	if err != nil {
		return m, err
	}
	postponed, err := countPostponed(ctx, s, counts, m.Tally)
	m.Ends = endsOf(counts, postponed, m.Tally)
	return m, err
}

// processMemory returns how many bytes the Go runtime has from the system.
func processMemory() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// outside serves the metrics of --metrics. It starts before the crawl, so that an address in use is
// reported before anything is fetched.
type outside struct {
	server *monitor.Server // nil: no metrics
	view   *atomic.Pointer[running]
}

// openMonitor starts the server if the flags ask for it, and registers it for every fetch.
func (c *crawlRun) openMonitor() (o outside, err error) {
	if c.metrics == "" {
		return o, nil
	}
	o.view = new(atomic.Pointer[running])
	address, err := loopback.Address(c.metrics)
	if err != nil {
		return o, err // check has refused an invalid address before
	}
	o.server, err = monitor.Listen(address, readBuild(), o.numbers)
	if err != nil {
		return o, fmt.Errorf("--metrics %s: %w: try another port", address, err)
	}
	c.onPage = append(c.onPage, func(p *crawler.Page) { o.server.Observe(p.Status, p.Took) })
	c.say.line("Metrics are at %s", o.server.URL())
	return o, nil
}

// show makes the server return the numbers of a running crawl.
func (o outside) show(v *running) {
	if o.server != nil {
		o.view.Store(v)
	}
}

func (o outside) close() error {
	if o.server == nil {
		return nil
	}
	return o.server.Close()
}

func (o outside) numbers() monitor.Numbers {
	v := o.view.Load()
	if v == nil {
		return monitor.Numbers{}
	}
	t := v.pipeline.Tally()
	counts, _ := v.store.Counts(context.Background()) // 0 if counting fails: the crawl will report the error
	return monitor.Numbers{
		Pages:    map[string]int64{"unique": t.Unique, "exact": t.Exact, "near": t.Near, "thin": t.Thin},
		Others:   map[string]int64{"redirect": t.Redirects, "other": t.Other, "blocked": t.Blocked, "sitemap": t.Sitemaps, "postponed": t.Later},
		Problems: t.Problems,
		URLs:     countsByName(counts, likelyPostponed(counts, t)),
		InFlight: v.crawl.InFlight(), Hosts: v.crawl.Waiting(), Bytes: t.Bytes, Fetched: v.crawl.Fetched(),
	}
}
