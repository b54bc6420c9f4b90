package learn

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// A Keeper remembers named values, as a store does.
type Keeper interface {
	// Meta returns a value, nil if it was never set.
	Meta(ctx context.Context, name string) ([]byte, error)
	// Swap sets a value that is still old. If it is another, Swap writes nothing and returns false.
	Swap(ctx context.Context, name string, old, value []byte) (bool, error)
}

// NameOf is the name under which a keeper has what was learned of a host.
func NameOf(host string) string { return "learned/" + host }

// A Book is what is known of all hosts of a crawl, read from its keeper when a host is first met,
// and written back by Sync. Its methods may be called from several goroutines.
//
// On a store that several workers share, only the holder of a host uses its book for the host. Leave
// writes the evidence before the host is given back, so the next holder knows it. A book
// never overwrites what another wrote after it had read: if a host was given to another worker
// because its holder seemed dead, or is to be forgotten, what was learned since is dropped, and the
// host is read again.
type Book struct {
	keeper Keeper
	Budget bool            // postpone what is not worth a fetch; set before use
	Exempt map[string]bool // hosts of which nothing is learned or taken off; set before use
	Mirror bool            // sample hosts that are mirrors of others; set before use

	Shared bool // other workers may hold a host when this one has left it; set before use

	Domain func(host string) string // registrable domain of a host, for link farms; nil: nobody looks for them; set before use

	writing sync.RWMutex // held by Sync, and for reading by Leave: so Sync writes nothing that is older than what Leave wrote

	mu    sync.Mutex
	hosts map[string]*entry // guarded by mu, with all they hold
	farms farms             // guarded by mu
}

// An entry is a host in the book.
type entry struct {
	site   *Host
	kept   []byte // what the keeper has of it, as far as is known
	left   bool   // another worker may have written since: it is read again before it is used
	dirty  bool
	domain string          // registrable; "": it was not asked for
	probed map[string]bool // URLs that cannot exist and were, or are being, asked for
}

// mostHosts is how many hosts are in memory.
const mostHosts = 4096

// NewBook opens what a keeper remembers.
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
	return parse(host, value)
}

func parse(host string, value []byte) (*Host, error) {
	h := NewHost()
	if err := json.Unmarshal(value, h); err != nil {
		return nil, fmt.Errorf("read what was learned of %s: %w", host, err)
	}
	return h, nil
}

// host is called with mu held.
func (b *Book) host(ctx context.Context, name string) (*entry, error) {
	e := b.hosts[name]
	if e != nil && !e.left {
		return e, nil
	}
	value, err := b.keeper.Meta(ctx, NameOf(name))
	if err != nil {
		return nil, err
	}
	if e != nil && (value == nil) == (e.kept == nil) && bytes.Equal(value, e.kept) {
		e.left = false
		return e, nil
	}
	site := NewHost()
	if len(value) > 0 { // else nothing is known, or it was forgotten
		if site, err = parse(name, value); err != nil {
			return nil, err
		}
	}
	if e == nil || len(value) == 0 {
		e = &entry{}
		b.hosts[name] = e
	}
	e.site, e.kept, e.left = site, value, false
	return e, nil
}

// Clean is [Clean], but for hosts that are exempt.
func (b *Book) Clean(url string) string {
	if len(b.Exempt) > 0 && b.Exempt[hostOf(url)] {
		return url
	}
	return Clean(url)
}

// Look says whether a URL is to be fetched now, as [Host.Look] does, with what else was
// asked for.
func (b *Book) Look(ctx context.Context, url string, now time.Time) (Advice, error) {
	host := hostOf(url)
	if !b.Budget || b.Exempt[host] {
		return Advice{}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, host)
	if err != nil {
		return Advice{}, err
	}
	a := e.site.Look(url, now)
	if a.Rule == "" && b.Domain != nil {
		if e.domain == "" {
			e.domain = b.Domain(host)
		}
		if b.farms.among(e.domain, host) {
			a = Advice{Rule: Farm, Pattern: "*." + e.domain}
		}
	}
	if a.Rule == "" && b.Mirror {
		a = e.site.mirrored(url)
	}
	return a, nil
}

// Sweep is [Host.Sweep] of a host. While it is used, nobody may tell the book of pages of the host.
func (b *Book) Sweep(ctx context.Context, host string) (*Sweep, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, host)
	if err != nil {
		return nil, err
	}
	return e.site.Sweep(), nil
}

// Queued takes in that a chunk of a host's postponed URLs was queued, see [Host.Queued].
func (b *Book) Queued(ctx context.Context, host string, a Advice, chunk int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, host)
	if err != nil {
		return err
	}
	e.site.Queued(a, chunk)
	e.dirty = true
	return nil
}

// lead counts a page for the host of its leader, if one mirrors the other. With mu held. It counts
// nothing for a host that another worker may hold.
func (b *Book) lead(url string, v *Verdict) {
	if b.Shared || !isMirrored(url, v.Leader) {
		return
	}
	if e := b.hosts[hostOf(v.Leader)]; e != nil {
		e.site.leadMirror(v.Leader, url)
		e.dirty = true
	}
}

// Dated takes in how many lastmods of a host's sitemaps proved right and wrong, and returns what is
// known with those before, which count half each time.
func (b *Book) Dated(ctx context.Context, host string, p Proofs) (Proofs, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, host)
	if err != nil {
		return p, err
	}
	if before := e.site.LastMod; before != nil {
		p.Right, p.Wrong = p.Right+before.Right/2, p.Wrong+before.Wrong/2
	}
	if p != (Proofs{}) {
		e.site.LastMod, e.dirty = &p, true
	}
	return p, nil
}

// Judged takes in what became of a page.
func (b *Book) Judged(ctx context.Context, url string, v Verdict) error {
	host := hostOf(url)
	if b.Exempt[host] {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, host)
	if err != nil {
		return err
	}
	e.dirty = true
	e.site.Judged(url, v)
	b.lead(url, &v)
	return nil
}

// Sync writes what was learned since the last time.
func (b *Book) Sync(ctx context.Context) error {
	if b == nil {
		return nil
	}
	b.writing.Lock()
	defer b.writing.Unlock()
	for name, n := range b.news() {
		if err := b.write(ctx, name, n); err != nil {
			return err
		}
	}
	return nil
}

// A news is what is to be written of an entry.
type news struct {
	of    *entry
	value []byte
}

// news returns what is to be written, by host, and forgets the other hosts if there are too many.
func (b *Book) news() map[string]news {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[string]news{}
	tooMany := len(b.hosts) > mostHosts
	for name, e := range b.hosts {
		if e.dirty {
			all[name] = news{e, e.text()}
		} else if tooMany {
			delete(b.hosts, name)
		}
	}
	return all
}

// text is what the keeper is to have of an entry, which is not dirty then. With mu held.
func (e *entry) text() []byte {
	e.dirty = false
	text, _ := json.Marshal(e.site) // maps of numbers and strings: never an error
	return text
}

// write writes what is new of a host, unless another wrote since it was read.
func (b *Book) write(ctx context.Context, host string, n news) error {
	swapped, err := b.keeper.Swap(ctx, NameOf(host), n.of.kept, n.value)
	if err != nil {
		return fmt.Errorf("write what was learned of %s: %w", host, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if swapped {
		n.of.kept = n.value
	} else {
		n.of.left = true // it was forgotten, or another holds it now
	}
	return nil
}

// Leave writes what was learned of a host, which is given back to whoever holds it next.
func (b *Book) Leave(ctx context.Context, host string) error {
	if !b.Shared {
		return nil
	}
	b.writing.RLock()
	defer b.writing.RUnlock()
	n := b.leaving(host)
	if n.value == nil {
		return nil
	}
	return b.write(ctx, host, n)
}

// leaving is what is to be written of a host that is given back; no value: nothing is.
func (b *Book) leaving(host string) (n news) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n.of = b.hosts[host]
	if n.of == nil {
		return n
	}
	n.of.left = true
	if n.of.dirty {
		n.value = n.of.text()
	}
	return n
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
