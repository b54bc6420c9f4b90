package session

import (
	"context"
	"fmt"
	"runtime/metrics"
	"sync"
	"time"

	"skink/crawler"
	"skink/frontier"
	"skink/report"
	"skink/store"
	"skink/view"
)

// openView serves a view of the crawl if the options ask for it.
func (r *run) openView() error {
	if r.opt.View == nil {
		return nil
	}
	o := r.opt.View(r.rule)
	o.Store, o.Name, o.About = ours{r.store}, r.store.Name, report.About{Store: r.store.Name, Settings: r.settings}
	o.Crawl = &shownCrawl{run: r}
	server, err := view.Listen(o.Address, o)
	if err != nil {
		return fmt.Errorf("--view: %w", err)
	}
	r.out.Say("The crawl is shown at %s", server.URL())
	r.endView = server.Close
	return nil
}

// ours marks a store that this process itself has open, so a view knows that it is not read from
// another process.
type ours struct{ store.Reader }

func (o ours) Read(_ context.Context, do func(store.Reader) error) error { return do(o.Reader) }

type shownCrawl struct {
	*run

	mu       sync.Mutex
	stopping bool          // guarded by mu
	sized    time.Time     // guarded by mu: when size, free and left were last computed
	size     int64         // guarded by mu
	free     int64         // guarded by mu
	left     time.Duration // guarded by mu
}

func (s *shownCrawl) Pages() int64 {
	added := s.now.Load().pipeline.Added()
	return added.Pages()
}

func (s *shownCrawl) Order(verb, host string) {
	s.mu.Lock()
	s.stopping = s.stopping || verb == store.OrderStop
	s.mu.Unlock()
	s.steer.order(verb, host)
}

// Now returns the crawl's current statistics for a view. It omits those that cannot be read,
// because the crawl itself will report the error.
func (s *shownCrawl) Now() view.Moment {
	now, v := time.Now(), s.now.Load()
	tally := v.pipeline.Tally()
	counts, _ := s.store.Counts(context.Background())
	m := view.Moment{Tally: tally, InFlight: v.crawl.InFlight(), Memory: processMemory(), MaxMemory: s.opt.Memory, Paused: v.crawl.Paused()}
	m.Ends, _ = Counts{tally, counts}.Rows()
	states := v.crawl.Hosts()
	for _, h := range states {
		m.Hosts = append(m.Hosts, hostNow(h, now))
	}
	m.Saved = v.saved(tally)
	m.Orders, _ = store.ReadOrders(context.Background(), s.store)
	limits, _ := ReadLimits(context.Background(), s.store)
	m.Limits = limits.Lines()
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.sized) > sizedEvery {
		s.sized = now
		s.size, s.free = s.store.disk()
		s.left = v.timeLeft(counts, states, now)
	}
	m.Disk, m.Free, m.Left, m.Stopping = s.size, s.free, s.left, s.stopping
	return m
}

// sizedEvery is the interval at which a view measures the store and lists the hosts. Both are slow.
const sizedEvery = 10 * time.Second

// timeLeft estimates the time until all pending URLs are fetched. It returns the longer of two
// times: the time for all URLs at the crawl's current rate, and the time for the URLs of the
// slowest host at that host's rate. It returns 0 if a rate is not known yet.
func (s *running) timeLeft(counts frontier.Counts, states []crawler.HostState, now time.Time) time.Duration {
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

func (s *running) saved(tally store.Tally) (all []view.Saving) {
	add := func(why string, n int64) {
		if n > 0 {
			all = append(all, view.Saving{Why: why, Fetches: n})
		}
	}
	add("postponed, because URLs with the same patterns kept returning duplicates", tally.Later)
	add("not modified: the server did not send the page again", s.pipeline.Visits()[store.NotModified])
	return all
}

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

// MomentOf returns the statistics of a store for a view that shows no running crawl.
func MomentOf(ctx context.Context, s store.Reader) (m view.Moment, err error) {
	c, err := ReadCounts(ctx, s)
	if err != nil {
		return m, err
	}
	m.Tally = c.All
	m.Ends, _ = c.Rows()
	if m.Orders, err = store.ReadOrders(ctx, s); err != nil {
		return m, err
	}
	limits, err := ReadLimits(ctx, s)
	m.Limits = limits.Lines()
	return m, err
}

func processMemory() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}
