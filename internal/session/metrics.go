package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/monitor"
	"skink/store"
)

// A meter serves the metrics of a crawl. It starts before the crawl, so an address in use is
// reported before anything is fetched.
type meter struct {
	server *monitor.Server // nil if no metrics are served
	now    *atomic.Pointer[running]
	page   *atomic.Int64 // when the last page was fetched, in Unix nanoseconds
}

// openMonitor sets the run's meter, which does nothing if the options ask for no metrics.
func (r *run) openMonitor() (err error) {
	o := &r.meter
	if r.opt.Metrics == "" || o.server != nil {
		return nil
	}
	o.now, o.page = &r.now, new(atomic.Int64)
	o.page.Store(time.Now().UnixNano())
	o.server, err = monitor.Listen(r.opt.Metrics, r.opt.MetricsHosts, r.opt.Build, o.numbers)
	if err != nil {
		return fmt.Errorf("--metrics %s: %w: try another port", r.opt.Metrics, err)
	}
	r.out.Say("Metrics are served at %s", o.server.URL())
	return nil
}

func (o meter) observe(p *crawler.Page) {
	if o.server == nil {
		return
	}
	o.server.Observe(p.Status, p.Took)
	if p.End() == frontier.Fetched {
		o.page.Store(time.Now().UnixNano())
	}
}

// Without metrics, timed returns s.
func (o meter) timed(s *NamedStore) *NamedStore {
	if o.server == nil {
		return s
	}
	with := *s
	with.Store = timedStore{s.Store, o.server}
	return &with
}

func (o meter) close() error {
	if o.server == nil {
		return nil
	}
	return o.server.Close()
}

func (o *meter) numbers() (n monitor.Numbers) {
	v := o.now.Load()
	if v == nil {
		return n
	}
	t := v.pipeline.Tally()
	n.By = map[monitor.Family]map[string]int64{
		monitor.Pages:    {"unique": t.Unique, "exact": t.Exact, "near": t.Near, "thin": t.Thin},
		monitor.Others:   {"redirect": t.Redirects, "other": t.Other, "blocked": t.Blocked, "sitemap": t.Sitemaps, "postponed": t.Later},
		monitor.Problems: t.Problems,
		monitor.States:   hostsByState(v.crawl.Hosts(), time.Now()),
	}
	n.One = map[monitor.Family]float64{
		monitor.InFlight: float64(v.crawl.InFlight()), monitor.Hosts: float64(v.crawl.Waiting()), monitor.Silent: 0,
		monitor.Bytes: float64(t.Bytes), monitor.Fetched: float64(v.fetched()), monitor.LastPage: float64(o.page.Load()/1e6) / 1000,
	}
	if v.store.Disk != nil { // the sizes of other stores are unknown
		size, free := v.store.disk()
		n.One[monitor.StoreSize], n.One[monitor.Space] = float64(size), float64(free)
	}
	if v.store.Silent != nil && v.store.Silent() { // do not wait for the server
		n.One[monitor.Silent] = 1
		return n
	}
	limits, _ := ReadLimits(context.Background(), v.store) // the crawl will report an error
	n.By[monitor.Workers] = workersByState(v.store)
	budget, sleep := cmp.Or(limits.Budget, &Budget{}), cmp.Or(limits.Sleep, &Sleep{Until: time.Unix(0, 0)})
	n.One[monitor.Spent], n.One[monitor.Left] = float64(budget.Spent), float64(budget.Left)
	n.One[monitor.Wakes], n.One[monitor.Due] = float64(sleep.Until.Unix()), float64(sleep.Due)
	if counts, err := v.store.Counts(context.Background()); err == nil { // otherwise, the crawl will report the error
		n.By[monitor.URLs] = Counts{t, counts}.ByName()
	}
	return n
}

func workersByState(s *NamedStore) map[string]int64 {
	all, _ := WorkersAt(context.Background(), s, TimeAt(context.Background(), s))
	vanished := int64(len(slices.DeleteFunc(all, func(w WorkerStatus) bool { return !w.Dead })))
	return map[string]int64{"active": int64(len(all)) - vanished, "vanished": vanished}
}

// hostsByState counts the hosts that have URLs to fetch. Each is in one state: "active" (gets
// requests), "waiting" (has asked for a pause), "failing" (does not respond), "spent" (has reached
// --max-host-pages or --max-host-bytes) or "suspended" (gets no more requests in this run).
func hostsByState(all []crawler.HostState, now time.Time) map[string]int64 {
	states := map[string]int64{"active": 0, "waiting": 0, "failing": 0, "spent": 0, "suspended": 0}
	for _, h := range all {
		switch {
		case h.Alone != "":
			states["suspended"]++
		case h.Budget:
			states["spent"]++
		case !h.Left:
		case h.Fails > 0:
			states["failing"]++
		case h.Until.After(now):
			states["waiting"]++
		default:
			states["active"]++
		}
	}
	return states
}

type timedStore struct {
	store.Store
	server *monitor.Server
}

func (s timedStore) since(operation string, began time.Time) {
	s.server.ObserveStore(operation, time.Since(began))
}

func (s timedStore) Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error) {
	defer s.since("lookup", time.Now())
	return s.Store.Lookup(ctx, asks)
}

func (s timedStore) Commit(ctx context.Context, entries []*store.Entry) ([]store.Outcome, error) {
	defer s.since("commit", time.Now())
	return s.Store.Commit(ctx, entries)
}

func (s timedStore) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	defer s.since("read", time.Now())
	return s.Store.Pages(ctx, ids, want)
}

func (s timedStore) Claim(ctx context.Context, worker string, n int, ttl time.Duration, preferred ...string) (frontier.Grant, error) {
	defer s.since("claim", time.Now())
	return s.Store.Claim(ctx, worker, n, ttl, preferred...)
}

func (s timedStore) Take(ctx context.Context, c frontier.Claim, n int) ([]frontier.Item, error) {
	defer s.since("take", time.Now())
	return s.Store.Take(ctx, c, n)
}
