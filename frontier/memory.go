package frontier

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"
)

// Memory is a frontier that lives as long as the process, for crawls that nobody
// wants to resume. It holds every URL it was ever told of, some 200 bytes each. It is
// written to be obviously right: maps and slices under a lock.
type Memory struct {
	mu     sync.Mutex // guards everything below
	urls   map[string]*memoryURL
	hosts  map[string]*memoryHost
	counts PerState
}

var _ Frontier = (*Memory)(nil)

// memoryURL is one discovered URL.
type memoryURL struct {
	item   Item
	state  State
	leased bool
}

// memoryHost is one host that was ever named.
type memoryHost struct {
	pending int          // waiting or leased
	waiting []*memoryURL // by depth, then by arrival
	until   time.Time
	delay   time.Duration
}

// NewMemory returns an empty frontier.
func NewMemory() *Memory {
	return &Memory{urls: map[string]*memoryURL{}, hosts: map[string]*memoryHost{}}
}

func (f *Memory) Discover(ctx context.Context, items []Item) (found int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, it := range items {
		switch u := f.urls[it.URL]; {
		case u == nil:
		case u.state == Outside:
			f.counts[Outside]--
		default:
			continue
		}
		found++
		u := &memoryURL{item: it, state: Pending}
		f.urls[it.URL] = u
		f.counts[Pending]++
		h := f.host(HostOf(it.URL))
		h.pending++
		h.push(u)
	}
	return found, nil
}

func (f *Memory) Exclude(ctx context.Context, urls []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, url := range urls {
		if f.urls[url] == nil {
			f.urls[url] = &memoryURL{item: Item{URL: url}, state: Outside}
			f.counts[Outside]++
		}
	}
	return nil
}

// host returns the host of that name, new if need be.
func (f *Memory) host(name string) *memoryHost {
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

func (f *Memory) Lease(ctx context.Context, host string, n int, _ time.Duration) ([]Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[host]
	if h == nil {
		return nil, nil
	}
	n = min(max(n, 0), len(h.waiting))
	var items []Item
	for _, u := range h.waiting[:n] {
		u.leased = true
		items = append(items, u.item)
	}
	h.waiting = slices.Delete(h.waiting, 0, n)
	return items, nil
}

func (f *Memory) Release(ctx context.Context, it Item) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	u := f.urls[it.URL]
	if u == nil || u.state != Pending {
		return nil
	}
	h := f.host(HostOf(it.URL))
	h.take(u)
	u.item, u.leased = it, false
	h.push(u)
	return nil
}

func (f *Memory) Done(ctx context.Context, url string, state State) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !state.Ends() {
		return fmt.Errorf("done %s: state %d is not an end", url, state)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	u := f.urls[url]
	if u == nil || u.state != Pending {
		return nil
	}
	h := f.host(HostOf(url))
	if !u.leased {
		h.take(u)
	}
	h.pending--
	u.state = state
	u.item = Item{}
	f.counts[Pending]--
	f.counts[state]++
	return nil
}

func (f *Memory) State(ctx context.Context, url string) (State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	u := f.urls[url]
	if u == nil {
		return Unknown, ctx.Err()
	}
	return u.state, ctx.Err()
}

func (f *Memory) Block(ctx context.Context, host string, until time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.host(host).until = until
	return nil
}

func (f *Memory) SetDelay(ctx context.Context, host string, delay time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.host(host).delay = delay
	return nil
}

func (f *Memory) Hosts(ctx context.Context) iter.Seq2[Host, error] {
	return func(yield func(Host, error) bool) {
		for _, h := range f.pendingHosts() {
			if err := ctx.Err(); err != nil {
				yield(Host{}, err)
				return
			}
			if !yield(h, nil) {
				return
			}
		}
	}
}

func (f *Memory) pendingHosts() []Host {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []Host
	for name, h := range f.hosts {
		if h.pending > 0 {
			host := Host{Name: name, Pending: h.pending, Until: h.until, Delay: h.delay}
			if len(h.waiting) > 0 {
				host.Depth = h.waiting[0].item.Depth
			}
			list = append(list, host)
		}
	}
	return list
}

func (f *Memory) Counts(ctx context.Context) (Counts, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts.Counts(), ctx.Err()
}

// URLs yields those of a state, in their order by name.
func (f *Memory) URLs(ctx context.Context, state State) iter.Seq2[string, error] {
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

func (f *Memory) inState(state State) (urls []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if state != Pending && state != Outside {
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
