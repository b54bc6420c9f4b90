package storetest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"skink/frontier"
	"skink/store"
)

// A Frontier is a frontier in memory, for tests: the frontiers of the stores are compared with it.
type Frontier struct {
	mu     sync.Mutex // guards all other fields
	urls   map[string]*memoryURL
	hosts  map[string]*memoryHost
	slots  map[string]frontier.LastSlot
	claims frontier.Claims
	counts frontier.PerState
	seq    uint64 // seq of the most recently queued URL
}

var _ frontier.Frontier = (*Frontier)(nil)

type memoryURL struct {
	item  frontier.Item
	state frontier.State
	taken bool
	seq   uint64 // position among the URLs of its host with the same priority and depth
}

type memoryHost struct {
	name    string
	pending int          // number of URLs in waiting, later and taken
	waiting []*memoryURL // URLs that are due and not taken, by priority, then depth, then seq
	later   []*memoryURL // URLs that are due later, by due time, then seq
	taken   []*memoryURL
	rest    frontier.Rest
}

// NewFrontier returns an empty frontier.
func NewFrontier() *Frontier {
	return &Frontier{urls: map[string]*memoryURL{}, hosts: map[string]*memoryHost{}, slots: map[string]frontier.LastSlot{}}
}

func (f *Frontier) Discover(ctx context.Context, items []frontier.Item) (found int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.discover(items, frontier.State.New), nil
}

func (f *Frontier) Requeue(ctx context.Context, items []frontier.Item) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.discover(items, func(s frontier.State) bool { return s != frontier.Pending }), nil
}

// discover queues the items for whose state wanted returns true, and returns their number.
func (f *Frontier) discover(items []frontier.Item, wanted func(frontier.State) bool) (found int) {
	for _, it := range items {
		state := f.state(it.URL)
		if !wanted(state) {
			continue
		}
		if state != frontier.Unknown {
			f.counts[state]--
		}
		found++
		u := &memoryURL{item: kept(it), state: frontier.Pending}
		f.urls[it.URL] = u
		f.counts[frontier.Pending]++
		h := f.host(frontier.HostOf(it.URL))
		h.pending++
		f.queue(h, u, time.Now())
	}
	return found
}

// kept returns the item with its priority limited to the range that can be stored.
func kept(it frontier.Item) frontier.Item {
	it.Priority = min(max(it.Priority, frontier.SoonestPriority), frontier.LatestPriority)
	it.Place = 0
	return it
}

func (f *Frontier) exclude(urls []string) {
	for _, outside := range urls {
		if url, _ := frontier.Left(outside); f.urls[url] == nil {
			f.urls[url] = &memoryURL{item: frontier.Item{URL: outside}, state: frontier.Outside}
			f.counts[frontier.Outside]++
		}
	}
}

// host returns the named host, creating it if necessary.
func (f *Frontier) host(name string) *memoryHost {
	h := f.hosts[name]
	if h == nil {
		h = &memoryHost{name: name}
		f.hosts[name] = h
	}
	return h
}

// queue puts u behind the waiting URLs with the same priority and depth, or into h.later if u is
// due after now.
func (f *Frontier) queue(h *memoryHost, u *memoryURL, now time.Time) {
	f.seq++
	u.seq, u.taken = f.seq, false
	if u.item.Due.After(now) {
		h.later = inserted(h.later, u, func(a, b *memoryURL) int {
			return cmp.Or(a.item.Due.Compare(b.item.Due), cmp.Compare(a.seq, b.seq))
		})
		return
	}
	h.push(u)
}

// ripen moves the URLs that have become due from h.later to h.waiting.
func (f *Frontier) ripen(h *memoryHost, now time.Time) {
	for len(h.later) > 0 && !h.later[0].item.Due.After(now) {
		u := h.later[0]
		h.later = h.later[1:]
		f.queue(h, u, now)
	}
}

func (h *memoryHost) push(u *memoryURL) {
	u.taken = false
	h.waiting = inserted(h.waiting, u, func(a, b *memoryURL) int {
		return cmp.Or(sooner(a, b), cmp.Compare(a.seq, b.seq))
	})
}

// sooner compares two URLs by priority and then depth. The result is negative if a is fetched first.
func sooner(a, b *memoryURL) int {
	return cmp.Or(cmp.Compare(a.item.Priority, b.item.Priority), cmp.Compare(a.item.Depth, b.item.Depth))
}

func inserted(list []*memoryURL, u *memoryURL, compare func(a, b *memoryURL) int) []*memoryURL {
	i, _ := slices.BinarySearchFunc(list, u, compare)
	return slices.Insert(list, i, u)
}

func (h *memoryHost) drop(u *memoryURL) {
	for _, list := range []*[]*memoryURL{&h.waiting, &h.later, &h.taken} {
		*list = slices.DeleteFunc(*list, func(v *memoryURL) bool { return v == u })
	}
}

// free moves the taken URLs back to their old positions in h.waiting. It is called when the claim
// on the host has ended.
func (h *memoryHost) free() {
	for _, u := range h.taken {
		h.push(u)
	}
	h.taken = nil
}

// expire ends the claims that were not renewed in time, and queues their taken URLs again.
func (f *Frontier) expire(now time.Time) {
	for _, host := range f.claims.Expire(now) {
		f.hosts[host].free()
	}
}

func (f *Frontier) holder(c frontier.Claim) (*memoryHost, error) {
	f.expire(time.Now())
	if err := f.claims.Check(c); err != nil {
		return nil, err
	}
	return f.hosts[c.Host], nil
}

func (f *Frontier) Claim(ctx context.Context, worker string, n int, ttl time.Duration, preferred ...string) (g frontier.Grant, err error) {
	if err := ctx.Err(); err != nil {
		return g, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.expire(now)
	g.Others = f.claims.Others(worker)
	var due []*memoryHost
	for _, h := range f.hosts {
		f.ripen(h, now)
		switch {
		case f.claims.Held(h.name):
		case len(h.waiting) == 0 && len(h.later) == 0:
		case h.due().After(now):
			refuse(&g, h, now)
		default:
			due = append(due, h)
		}
	}
	slices.SortFunc(due, func(a, b *memoryHost) int {
		first := func(h *memoryHost) int { return -cmp.Compare(slices.Index(preferred, h.name), -1) }
		return cmp.Or(cmp.Compare(first(a), first(b)), sooner(a.waiting[0], b.waiting[0]), a.due().Compare(b.due()), cmp.Compare(a.name, b.name))
	})
	for i, h := range due {
		if i >= n {
			refuse(&g, h, now)
			continue
		}
		g.Hosts = append(g.Hosts, frontier.Held{Claim: f.claims.Begin(h.name, worker, now.Add(ttl)), Host: h.host()})
	}
	g.Share, g.Workers = f.claims.Share(worker, g.Waiting, now)
	return g, nil
}

// refuse updates g for a host that has URLs and was not given to the caller of Claim.
func refuse(g *frontier.Grant, h *memoryHost, now time.Time) {
	if !h.rest.Idle && len(h.waiting) > 0 {
		g.Waiting++
	}
	if due := later(h.due(), now); g.Next.IsZero() || due.Before(g.Next) {
		g.Next = due
	}
}

// due returns the earliest time at which the host may get a request and has a URL to fetch.
func (h *memoryHost) due() time.Time {
	due := h.rest.Due()
	if len(h.waiting) == 0 && len(h.later) > 0 {
		due = later(due, h.later[0].item.Due)
	}
	return due
}

func (h *memoryHost) host() frontier.Host {
	host := frontier.Host{Name: h.name, Pending: h.pending, Rest: h.rest}
	if len(h.waiting) > 0 {
		host.Depth = h.waiting[0].item.Depth
	}
	return host
}

func (f *Frontier) Renew(ctx context.Context, claims []frontier.Claim, ttl time.Duration) (lost []frontier.Claim, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.expire(now)
	return f.claims.Renew(claims, now.Add(ttl)), nil
}

func (f *Frontier) Take(ctx context.Context, c frontier.Claim, n int) ([]frontier.Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h, err := f.holder(c)
	if err != nil {
		return nil, fmt.Errorf("take URLs from the queue: %w", err)
	}
	f.ripen(h, time.Now())
	n = min(max(n, 0), len(h.waiting))
	var items []frontier.Item
	for _, u := range h.waiting[:n] {
		u.taken = true
		h.taken = append(h.taken, u)
		items = append(items, u.item)
	}
	h.waiting = slices.Delete(h.waiting, 0, n)
	return items, nil
}

func (f *Frontier) Release(ctx context.Context, c frontier.Claim, it frontier.Item) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h, err := f.holder(c)
	if err != nil {
		return fmt.Errorf("return a URL to the queue: %w", err)
	}
	if u := f.urls[it.URL]; u != nil && u.taken {
		h.drop(u)
		u.item = kept(it)
		f.queue(h, u, time.Now())
	}
	return nil
}

func (f *Frontier) Slot(ctx context.Context, host string, least, most time.Duration) (time.Duration, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := f.slots[host]
	wait := last.Next(time.Now(), least, most)
	f.slots[host] = last
	return wait, ctx.Err()
}

func (f *Frontier) Spend(ctx context.Context, c frontier.Claim, spent frontier.Spent) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	h, err := f.holder(c)
	if err != nil {
		return fmt.Errorf("record what was fetched: %w", err)
	}
	h.rest.Spent = spent
	return ctx.Err()
}

func (f *Frontier) Return(ctx context.Context, c frontier.Claim, rest frontier.Rest) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h, err := f.holder(c)
	if err != nil {
		return fmt.Errorf("release a host: %w", err)
	}
	f.claims.End(c.Host)
	h.free()
	h.rest = rest.Bounded(time.Now())
	return nil
}

// An Ending is the result of fetching a URL.
type Ending struct {
	Claim  frontier.Claim // claim on the URL's host; the zero value means that the claim is not checked
	URL    string
	State  frontier.State  // final state of the URL; Unknown means that the URL was never in the frontier, so no state is stored
	Links  []frontier.Item // URLs in the crawl that the page leads to
	Beyond []string        // URLs outside the crawl that the page leads to; see [frontier.Leave]
}

// End stores the result of fetching a URL, queues the URLs that its page links to, and records the
// linked URLs that the crawl excludes. All of this happens in one step. If the URL has already been
// finished, its state does not change. If the claim is no longer valid, End changes nothing and
// returns [frontier.ErrLost].
func (f *Frontier) End(ctx context.Context, e Ending) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Claim != (frontier.Claim{}) {
		if _, err := f.holder(e.Claim); err != nil {
			return fmt.Errorf("finish processing a URL: %w", err)
		}
	}
	f.discover(e.Links, frontier.State.New)
	f.exclude(e.Beyond)
	u := f.urls[e.URL]
	if e.State == frontier.Unknown || u == nil || u.state != frontier.Pending {
		return nil
	}
	h := f.host(frontier.HostOf(e.URL))
	h.drop(u)
	h.pending--
	*u = memoryURL{state: e.State}
	f.counts[frontier.Pending]--
	f.counts[e.State]++
	return nil
}

func (f *Frontier) State(ctx context.Context, url string) (frontier.State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state(url), ctx.Err()
}

func (f *Frontier) state(url string) frontier.State {
	if u := f.urls[url]; u != nil {
		return u.state
	}
	return frontier.Unknown
}

func (f *Frontier) Hosts(ctx context.Context) iter.Seq2[frontier.Host, error] {
	return store.Listed(ctx, func() ([]frontier.Host, error) { return f.pendingHosts(), nil })
}

func (f *Frontier) pendingHosts() []frontier.Host {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []frontier.Host
	for _, h := range f.hosts {
		if h.pending > 0 {
			list = append(list, h.host())
		}
	}
	return list
}

func (f *Frontier) Counts(ctx context.Context) (frontier.Counts, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts.Counts(), ctx.Err()
}

// URLs yields the URLs in the given state, in lexical order.
func (f *Frontier) URLs(ctx context.Context, state frontier.State) iter.Seq2[string, error] {
	return store.Listed(ctx, func() ([]string, error) { return f.inState(state), nil })
}

func (f *Frontier) inState(state frontier.State) (urls []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if state != frontier.Pending && state != frontier.Outside {
		return nil
	}
	for url, u := range f.urls {
		if u.state == state {
			urls = append(urls, cmp.Or(u.item.URL, url))
		}
	}
	slices.Sort(urls)
	return urls
}

// Contents returns everything that the frontier contains at one moment: the hosts whose
// [frontier.Rest.Lasting] is not zero, the pending URLs, and the states of all other URLs. Hosts and pending
// URLs are sorted by host. The pending URLs of a host are in the order of its queue.
func (f *Frontier) Contents() (hosts []frontier.Host, pending []frontier.Item, states map[string]frontier.State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(f.hosts)) {
		h := f.hosts[name]
		if rest := h.rest.Lasting(); rest != (frontier.Rest{}) {
			hosts = append(hosts, frontier.Host{Name: name, Rest: rest})
		}
		urls := slices.Concat(h.waiting, h.taken)
		slices.SortFunc(urls, func(a, b *memoryURL) int { return cmp.Or(sooner(a, b), cmp.Compare(a.seq, b.seq)) })
		for _, u := range append(urls, h.later...) {
			pending = append(pending, u.item)
		}
	}
	states = map[string]frontier.State{}
	for url, u := range f.urls {
		if u.state != frontier.Pending {
			states[url] = u.state
		}
	}
	return hosts, pending, states
}

// SetRest sets the Rest that the next worker to claim the host gets.
func (f *Frontier) SetRest(host string, rest frontier.Rest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.host(host).rest = rest.Bounded(time.Now())
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
