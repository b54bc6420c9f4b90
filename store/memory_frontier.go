package store

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"skink/frontier"
)

// memoryFrontier is the frontier half of [Memory].
type memoryFrontier struct {
	frontierMu sync.Mutex // guards everything below
	urls       map[string]*memoryURL
	hosts      map[string]*memoryHost
	counts     frontier.PerState
}

// memoryURL is one discovered URL.
type memoryURL struct {
	item   frontier.Item
	state  frontier.State
	leased bool
}

// memoryHost is one host that was ever named.
type memoryHost struct {
	pending int          // waiting or leased
	waiting []*memoryURL // by depth, then by arrival
	until   time.Time
	delay   time.Duration
}

func newMemoryFrontier() memoryFrontier {
	return memoryFrontier{urls: map[string]*memoryURL{}, hosts: map[string]*memoryHost{}}
}

func (f *memoryFrontier) Discover(ctx context.Context, items []frontier.Item) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return f.discover(items), nil
}

func (f *memoryFrontier) discover(items []frontier.Item) (found int) {
	f.frontierMu.Lock()
	defer f.frontierMu.Unlock()
	for _, it := range items {
		switch u := f.urls[it.URL]; {
		case u == nil:
		case u.state == frontier.Outside:
			f.counts[frontier.Outside]--
		default:
			continue
		}
		found++
		u := &memoryURL{item: it, state: frontier.Pending}
		f.urls[it.URL] = u
		f.counts[frontier.Pending]++
		h := f.host(frontier.HostOf(it.URL))
		h.pending++
		h.push(u)
	}
	return found
}

func (f *memoryFrontier) Exclude(ctx context.Context, urls []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.exclude(urls)
	return nil
}

func (f *memoryFrontier) exclude(urls []string) {
	f.frontierMu.Lock()
	defer f.frontierMu.Unlock()
	for _, url := range urls {
		if f.urls[url] == nil {
			f.urls[url] = &memoryURL{item: frontier.Item{URL: url}, state: frontier.Outside}
			f.counts[frontier.Outside]++
		}
	}
}

// host returns the host of that name, new if need be.
func (f *memoryFrontier) host(name string) *memoryHost {
	h := f.hosts[name]
	if h == nil {
		h = &memoryHost{}
		f.hosts[name] = h
	}
	return h
}

// push queues u at the end of its depth.
func (h *memoryHost) push(u *memoryURL) {
	i := len(h.waiting)
	for i > 0 && h.waiting[i-1].item.Depth > u.item.Depth {
		i--
	}
	h.waiting = slices.Insert(h.waiting, i, u)
}

// take removes u from the queue, if it is waiting there.
func (h *memoryHost) take(u *memoryURL) {
	if i := slices.Index(h.waiting, u); i >= 0 {
		h.waiting = slices.Delete(h.waiting, i, i+1)
	}
}

func (f *memoryFrontier) Lease(ctx context.Context, host string, n int, _ time.Duration) ([]frontier.Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.frontierMu.Lock()
	defer f.frontierMu.Unlock()
	h := f.hosts[host]
	if h == nil {
		return nil, nil
	}
	n = min(max(n, 0), len(h.waiting))
	var items []frontier.Item
	for _, u := range h.waiting[:n] {
		u.leased = true
		items = append(items, u.item)
	}
	h.waiting = slices.Delete(h.waiting, 0, n)
	return items, nil
}

func (f *memoryFrontier) Release(ctx context.Context, it frontier.Item) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.frontierMu.Lock()
	defer f.frontierMu.Unlock()
	u := f.urls[it.URL]
	if u == nil || u.state != frontier.Pending {
		return nil
	}
	h := f.host(frontier.HostOf(it.URL))
	h.take(u)
	u.item, u.leased = it, false
	h.push(u)
	return nil
}

func (f *memoryFrontier) Done(ctx context.Context, url string, state frontier.State) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !state.Ends() {
		return fmt.Errorf("done %s: state %d is not an end", url, state)
	}
	f.done(url, state)
	return nil
}

func (f *memoryFrontier) done(url string, state frontier.State) {
	f.frontierMu.Lock()
	defer f.frontierMu.Unlock()
	u := f.urls[url]
	if u == nil || u.state != frontier.Pending {
		return
	}
	h := f.host(frontier.HostOf(url))
	if !u.leased {
		h.take(u)
	}
	h.pending--
	u.state = state
	u.item = frontier.Item{}
	f.counts[frontier.Pending]--
	f.counts[state]++
}

func (f *memoryFrontier) State(ctx context.Context, url string) (frontier.State, error) {
	f.frontierMu.Lock()
	defer f.frontierMu.Unlock()
	u := f.urls[url]
	if u == nil {
		return frontier.Unknown, ctx.Err()
	}
	return u.state, ctx.Err()
}

func (f *memoryFrontier) Block(ctx context.Context, host string, until time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.frontierMu.Lock()
	defer f.frontierMu.Unlock()
	f.host(host).until = until
	return nil
}

func (f *memoryFrontier) SetDelay(ctx context.Context, host string, delay time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.frontierMu.Lock()
	defer f.frontierMu.Unlock()
	f.host(host).delay = delay
	return nil
}

func (f *memoryFrontier) Hosts(ctx context.Context) iter.Seq2[frontier.Host, error] {
	return func(yield func(frontier.Host, error) bool) {
		for _, h := range f.pendingHosts() {
			if err := ctx.Err(); err != nil {
				yield(frontier.Host{}, err)
				return
			}
			if !yield(h, nil) {
				return
			}
		}
	}
}

func (f *memoryFrontier) pendingHosts() []frontier.Host {
	f.frontierMu.Lock()
	defer f.frontierMu.Unlock()
	var list []frontier.Host
	for name, h := range f.hosts {
		if h.pending > 0 {
			host := frontier.Host{Name: name, Pending: h.pending, Until: h.until, Delay: h.delay}
			if len(h.waiting) > 0 {
				host.Depth = h.waiting[0].item.Depth
			}
			list = append(list, host)
		}
	}
	return list
}

func (f *memoryFrontier) Counts(ctx context.Context) (frontier.Counts, error) {
	f.frontierMu.Lock()
	defer f.frontierMu.Unlock()
	return f.counts.Counts(), ctx.Err()
}

// URLs yields those of a state, in their order by name.
func (f *memoryFrontier) URLs(ctx context.Context, state frontier.State) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, url := range f.inState(state) {
			if err := ctx.Err(); err != nil {
				yield("", err)
				return
			}
			if !yield(url, nil) {
				return
			}
		}
	}
}

func (f *memoryFrontier) inState(state frontier.State) (urls []string) {
	f.frontierMu.Lock()
	defer f.frontierMu.Unlock()
	if state != frontier.Pending && state != frontier.Outside {
		return nil
	}
	for url, u := range f.urls {
		if u.state == state {
			urls = append(urls, url)
		}
	}
	slices.Sort(urls)
	return urls
}
