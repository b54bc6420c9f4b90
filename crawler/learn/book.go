package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// A Keeper remembers named values: a store's Meta.
type Keeper interface {
	Meta(ctx context.Context, name string) ([]byte, error)
	SetMeta(ctx context.Context, name string, value []byte) error
}

// NameOf is the name under which a keeper has what was learned of a host.
func NameOf(host string) string { return "learned/" + host }

// A Book is what is known of all hosts of a crawl, read from its keeper when a host is first met,
// and written back by Sync. A host's holder alone may write it, so that of two workers on one
// store neither overwrites what the other learned. Its methods may be called from several
// goroutines.
type Book struct {
	keeper Keeper
	Budget bool                                           // put last what is not worth a fetch; set before use
	Exempt map[string]bool                                // hosts of which nothing is learned or taken off; set before use
	Mirror bool                                           // sample hosts that are mirrors of others; set before use
	Again  func(ctx context.Context, urls []string) error // queues URLs again whose pattern won its budget back; set before use

	Shared bool // others may hold the hosts that are not asked for any more; set before use

	mu    sync.Mutex
	hosts map[string]*entry // guarded by mu, with all they hold
}

// An entry is a host in the book.
type entry struct {
	site  *Host
	dirty bool
	last  map[string][]string // URLs put last in this process, by pattern
	used  bool                // since the last Sync
	asked int64               // URLs of a mirror since its last sample
	links int                 // in last
}

// mostLast is how many URLs that were put last are remembered of a host, to be queued again when
// their pattern wins its budget back. Those beyond wait for a later run.
const mostLast = 20_000

// mostHosts is how many hosts are in memory.
const mostHosts = 4096

// NewBook opens what a keeper remembers. All is put last that should be.
func NewBook(keeper Keeper) *Book {
	return &Book{keeper: keeper, Budget: true, hosts: map[string]*entry{}}
}

// Read returns what a keeper knows of a host, nil if that is nothing.
func Read(ctx context.Context, keeper interface {
	Meta(ctx context.Context, name string) ([]byte, error)
}, host string) (*Host, error) {
	value, err := keeper.Meta(ctx, NameOf(host))
	if err != nil || len(value) == 0 {
		return nil, err
	}
	h := NewHost()
	if err := json.Unmarshal(value, h); err != nil {
		return nil, fmt.Errorf("read what was learned of %s: %w", host, err)
	}
	return h, nil
}

// host is called with mu held.
func (b *Book) host(ctx context.Context, name string) (*entry, error) {
	if e := b.hosts[name]; e != nil {
		e.used = true
		return e, nil
	}
	site, err := Read(ctx, b.keeper, name)
	if err != nil {
		return nil, err
	}
	if site == nil {
		site = NewHost()
	}
	e := &entry{site: site, used: true}
	b.hosts[name] = e
	return e, nil
}

// Clean is [Host.Clean], as far as the host is in memory.
func (b *Book) Clean(url string) string {
	if b.Exempt[hostOf(url)] {
		return url
	}
	clean := CleanAny(url)
	if !hasQuery(clean) {
		return clean
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.hosts[hostOf(clean)]
	if e == nil {
		return clean
	}
	return e.site.Clean(clean)
}

// Look says whether a URL is to be fetched now, as [Host.Look] does, with what else was
// asked for.
func (b *Book) Look(ctx context.Context, url string, now time.Time) (Advice, error) {
	if b.Exempt[hostOf(url)] {
		return Advice{}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, hostOf(url))
	if err != nil {
		return Advice{}, err
	}
	if clean := e.site.Clean(url); !b.Budget && clean == url {
		return Advice{}, nil
	}
	a := e.site.Look(url, now)
	if a.Rule == "" && b.Mirror {
		a = e.mirrored(url)
	}
	e.dirty = e.dirty || a.Rule != ""
	if a.Rule == Copies {
		e.remember(a.Pattern, url)
	}
	return a, nil
}

// remember keeps a URL that was put last, as long as there is room.
func (e *entry) remember(pattern, url string) {
	if e.links >= mostLast {
		return
	}
	if e.last == nil {
		e.last = map[string][]string{}
	}
	e.last[pattern] = append(e.last[pattern], url)
	e.links++
}

// Recall takes in what a process before this one put last for its pattern, so that it comes
// back if the pattern wins its budget back.
func (b *Book) Recall(ctx context.Context, url string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, hostOf(url))
	if err != nil {
		return err
	}
	own, any := Shape(url)
	shape := own
	if any != "" && !e.site.Patterns[own].spent() {
		shape = any
	}
	e.remember(shape, url)
	return nil
}

// Replay takes in a page that was judged before this process began, of which the book does not
// know because the process before it was killed. Where it led nobody knows, so its parameters say
// nothing.
func (b *Book) Replay(ctx context.Context, url string, v Verdict) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Exempt[hostOf(url)] {
		return nil
	}
	e, err := b.host(ctx, hostOf(url))
	if err != nil {
		return err
	}
	e.dirty = true
	e.site.Pages++
	e.site.judgeShape(url, &v)
	return nil
}

// mirrored puts the URLs of a mirror last, but for samples.
func (e *entry) mirrored(url string) Advice {
	other, _ := e.site.MirrorOf()
	if other == "" {
		return Advice{}
	}
	if e.asked++; e.asked%mirrorStride == 0 {
		return Advice{}
	}
	return e.site.applied(url, Advice{Rule: Mirror, Pattern: other})
}

// Judged takes in what became of a page.
func (b *Book) Judged(ctx context.Context, url string, v Verdict) error {
	if b.Exempt[hostOf(url)] {
		return nil
	}
	again, err := b.judged(ctx, url, v)
	if err != nil || len(again) == 0 || b.Again == nil {
		return err
	}
	return b.Again(ctx, again)
}

// judged returns the URLs to be queued again.
func (b *Book) judged(ctx context.Context, url string, v Verdict) (again []string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, hostOf(url))
	if err != nil {
		return nil, err
	}
	e.dirty = true
	e.site.Judged(url, v)
	if v.Copy() || len(e.last) == 0 {
		return nil, nil
	}
	own, any := Shape(url)
	for _, shape := range []string{own, any} {
		if urls := e.last[shape]; len(urls) > 0 && !e.site.Patterns[shape].spent() {
			again = append(again, urls...)
			e.links -= len(urls)
			delete(e.last, shape)
		}
	}
	return again, nil
}

// Sync writes what was learned since the last time.
func (b *Book) Sync(ctx context.Context) error {
	if b == nil {
		return nil
	}
	for name, value := range b.dirty() {
		if err := b.keeper.SetMeta(ctx, NameOf(name), value); err != nil {
			return fmt.Errorf("write what was learned of %s: %w", name, err)
		}
	}
	return nil
}

// Dirty says whether something was learned since the last Sync.
func (b *Book) Dirty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.hosts {
		if e.dirty {
			return true
		}
	}
	return false
}

// dirty returns what is to be written, by host, and forgets all hosts if they are too many.
func (b *Book) dirty() map[string][]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	values := map[string][]byte{}
	for name, e := range b.hosts {
		if e.dirty {
			values[name], _ = json.Marshal(e.site) // maps of numbers and strings: never an error
			e.dirty = false
		} else if b.Shared && !e.used {
			delete(b.hosts, name)
		}
		e.used = false
	}
	if len(b.hosts) > mostHosts {
		clear(b.hosts)
	}
	return values
}
