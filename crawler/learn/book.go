package learn

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
)

// A Keeper stores named values for a [Book]. A crawl's store implements it.
type Keeper interface {
	// Meta returns a value, or nil if it was never set.
	Meta(ctx context.Context, name string) ([]byte, error)
	// Swap replaces the stored value if it equals old, and reports whether it did so.
	Swap(ctx context.Context, name string, old, value []byte) (bool, error)
}

// NameOf returns the name under which a Keeper stores the evidence about a host.
func NameOf(host string) string { return "learned/" + host }

// cursorOf returns the name under which a Keeper stores the cursor of a claimed host; see [Book.Enter].
func markOf(host string) string { return "learned/since/" + host }

// A Book holds the evidence about all hosts of a crawl. It reads the evidence about a host from its
// keeper on first use, and Sync writes the changes back. Its methods are safe for concurrent use.
//
// If several workers share a store, only the worker that has claimed a host uses its book for that
// host. HandOver writes the evidence before the worker releases the host, so the next worker can
// read it. If a worker is killed, the next worker adds the records that the stored evidence lacks;
// see Enter. A book never overwrites a value that changed in the keeper after the book's last
// read. A value changes if the host was given to another worker because this one seemed dead, or if
// the evidence was deleted. The book then drops its unwritten evidence about the host, and reads
// the value again.
type Book struct {
	keeper Keeper
	Budget bool            // whether to postpone URLs that are not worth fetching; set before use
	Audit  bool            // whether to probe each folder; set before use
	Exempt map[string]bool // hosts that the book learns nothing about and whose URLs it does not clean; set before use

	Shared bool // whether other workers may claim a host after this one has released it; set before use

	name string // distinguishes the cursors of this book from those of others

	writing sync.RWMutex // locked by Sync, and for reading by HandOver, so that Sync never overwrites newer evidence

	entering sync.Mutex // locked by Enter

	mu    sync.Mutex
	hosts map[string]*entry // guarded by mu, as are the entries
	last  string            // guarded by writing: the cursor that the last Sync got
}

type entry struct {
	site     *Host
	kept     []byte          // the value in the keeper when it was last read or written
	open     bool            // whether Enter has returned since the evidence was read
	mark     []byte          // the mark in the keeper when it was last read or written
	left     bool            // whether another worker may have changed the value, so it must be read again before use
	due      bool            // whether something has changed since the last write that the records do not tell, so it must be written soon
	verdicts int             // number of calls of Judged since the last write
	waited   int             // number of calls of Sync that have left out these verdicts
	since    string          // cursor before the first of these verdicts, if waited is not 0
	probed   map[string]bool // URLs that cannot exist and have been requested
}

// The evidence about a large host takes 165 KB, and it changes with each page. The records tell it,
// so the last verdicts may be missing from the stored evidence; see [Book.Sync]. The evidence about
// a host is written when a verdict costs at most bytesAVerdict, or when maxWaited calls of Sync have
// left it out.
const (
	bytesAVerdict = 1 << 10
	maxWaited     = 12
)

func (e *entry) dirty() bool { return e.due || e.verdicts > 0 }

// waits reports whether Sync leaves out the changes of e.
func (e *entry) waits() bool {
	return !e.due && e.waited < maxWaited && e.verdicts*bytesAVerdict < len(e.kept)
}

// maxHeld limits the memory for evidence, in bytes. Above the limit, Sync removes the hosts that
// have not changed since the last Sync. The evidence about a host takes up to half a megabyte, half
// of it for the value in the keeper.
const maxHeld = 64 << 20

const entrySize = 1 << 10 // memory used by an entry without its evidence, in bytes

// NewBook returns a book that uses keeper.
func NewBook(keeper Keeper) *Book {
	return &Book{keeper: keeper, Budget: true, name: rand.Text(), hosts: map[string]*entry{}}
}

// Read returns the evidence about a host from a keeper, or nil if there is none.
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
	h := new(Host)
	if err := json.Unmarshal(value, h); err != nil && len(value) > 0 { // otherwise there is no evidence, or it was deleted
		return nil, fmt.Errorf("read the patterns learned about %s: %w", host, err)
	}
	return h, nil
}

// host returns the entry of a host, and reads it from the keeper if necessary. The caller holds mu.
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
	site, err := parse(name, value)
	if err != nil {
		return nil, err
	}
	if e == nil || len(value) == 0 {
		e = &entry{}
		b.hosts[name] = e
	}
	e.site, e.kept, e.left, e.open = site, value, false, false
	return e, nil
}

// use calls do with the entry of a host.
func (b *Book) use(ctx context.Context, host string, do func(*entry)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.host(ctx, host)
	if err == nil {
		do(e)
	}
	return err
}

// change calls do with the evidence about a host, which do may change. It does nothing if the host
// is exempt.
func (b *Book) change(ctx context.Context, host string, do func(*Host)) error {
	if b.Exempt[host] {
		return nil
	}
	return b.use(ctx, host, func(e *entry) {
		do(e.site)
		e.due = true
	})
}

// Enter must be called before a page of a claimed host is judged, if the book is Shared. At the
// first call after a claim, it stores the cursor that end returns, so that the evidence of a worker
// that is killed can be completed. If the last worker was killed, Enter instead calls missed with
// the cursor which that worker stored. Then missed must pass the records after it to Judged.
//
// The cursor is in a value of its own, the mark, because it is written at each claim, and the evidence
// may be large. The evidence is written before the cursor, so it lacks no record before the cursor.
func (b *Book) Enter(ctx context.Context, host string, end func() (string, error), missed func(since string) error) error {
	if !b.Shared || b.Exempt[host] {
		return nil
	}
	b.entering.Lock()
	defer b.entering.Unlock()
	b.mu.Lock()
	e, err := b.host(ctx, host)
	if err != nil || e.open {
		b.mu.Unlock()
		return err
	}
	forgotten := e.kept != nil && len(e.kept) == 0
	b.mu.Unlock()
	mark, err := b.keeper.Meta(ctx, markOf(host))
	if err != nil {
		return err
	}
	_, since, claimed := strings.Cut(string(mark), " ")
	if claimed && !forgotten {
		err = missed(since)
	} else {
		since, err = end()
	}
	if err != nil {
		return err
	}
	b.writing.RLock()
	defer b.writing.RUnlock()
	b.mu.Lock()
	e.mark = mark
	n := news{e, nil, true}
	if forgotten { // otherwise the next worker would ignore the cursor, too
		n.value = e.text()
	}
	b.mu.Unlock()
	return b.save(ctx, host, n, " "+since)
}

// Clean returns a URL without tracking parameters and session ids; see the function [Clean]. It
// returns the URLs of exempt hosts unchanged.
func (b *Book) Clean(url string) string {
	if len(b.Exempt) > 0 && b.Exempt[hostOf(url)] {
		return url
	}
	return Clean(url)
}

// Look returns the advice of [Host.Look].
func (b *Book) Look(ctx context.Context, url string, now time.Time) (a Advice, err error) {
	host := hostOf(url)
	if !b.Budget || b.Exempt[host] {
		return a, nil
	}
	err = b.use(ctx, host, func(e *entry) { a = e.site.Look(url, now) })
	return a, err
}

// Sweep returns a Sweep for the postponed URLs of a host; see [Host.Sweep]. The caller must not
// call Judged for the host while it uses the Sweep.
func (b *Book) Sweep(ctx context.Context, host string) (s *Sweep, err error) {
	err = b.use(ctx, host, func(e *entry) { s = e.site.Sweep() })
	return s, err
}

// Queued records that a chunk of a host's postponed URLs was queued; see [Host.Queued].
func (b *Book) Queued(ctx context.Context, host string, a Advice, chunk int) error {
	return b.change(ctx, host, func(h *Host) { h.Queued(a, chunk) })
}

// Judged adds the verdict on a page to the evidence about the page's host.
func (b *Book) Judged(ctx context.Context, url string, v Verdict) error {
	host := hostOf(url)
	if b.Exempt[host] {
		return nil
	}
	return b.use(ctx, host, func(e *entry) {
		v.Audit = b.Audit
		e.site.Judged(url, v)
		e.verdicts++
	})
}

// Sync writes changed evidence to the keeper. The evidence in the book must include all records
// before a cursor. Sync may leave out the last verdicts on a large host, unless all is set. It
// returns the cursor before which the keeper's evidence includes all records.
func (b *Book) Sync(ctx context.Context, before string, all bool) (since string, err error) {
	b.writing.Lock()
	defer b.writing.Unlock()
	news, since := b.news(before, all || b.last == "")
	for name, n := range news {
		if err := b.save(ctx, name, n, " "+before); err != nil {
			return "", err
		}
	}
	b.last = before
	return since, nil
}

type news struct {
	of      *entry
	value   []byte
	claimed bool // whether Enter has returned for the host
}

// news returns the values that must be written to the keeper, by host, and the cursor before which
// the keeper's evidence will then include all records. If the evidence uses too much memory, news
// removes the hosts that have not changed.
func (b *Book) news(before string, whole bool) (all map[string]news, since string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all, since = map[string]news{}, before
	held, longest := 0, 0
	for _, e := range b.hosts {
		held += 2*len(e.kept) + entrySize
	}
	for name, e := range b.hosts {
		switch {
		case e.dirty() && !whole && e.waits():
			if e.waited++; e.waited == 1 {
				e.since = b.last
			}
			if e.waited > longest {
				since, longest = e.since, e.waited
			}
		case e.dirty():
			all[name] = news{e, e.text(), e.open}
		case held > maxHeld && !e.open:
			delete(b.hosts, name)
		}
	}
	return all, since
}

// text encodes an entry for the keeper, and marks it as clean. The caller holds mu.
func (e *entry) text() []byte {
	e.due, e.verdicts, e.waited = false, 0, 0
	return e.site.encode()
}

// save replaces the value of a host, if there is a new one, and then its mark, if the book's worker has
// claimed the host. It stops at the first of them that another process has changed since the last read.
// The mark is the name of the book and cursor, which is a space and the cursor before which the evidence
// includes all records, or "" once the worker releases the host.
func (b *Book) save(ctx context.Context, host string, n news, cursor string) error {
	e := n.of
	swap := func(name string, stored *[]byte, value []byte) (bool, error) {
		b.mu.Lock()
		old := *stored
		b.mu.Unlock()
		swapped, err := b.keeper.Swap(ctx, name, old, value)
		if err != nil {
			return false, fmt.Errorf("store the patterns learned about %s: %w", host, err)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if swapped {
			*stored = value
		} else {
			e.left = true // the value was deleted, or another worker has changed it
		}
		return swapped, nil
	}
	if n.value != nil {
		if swapped, err := swap(NameOf(host), &e.kept, n.value); err != nil || !swapped {
			return err
		}
	}
	if !n.claimed {
		return nil
	}
	swapped, err := swap(markOf(host), &e.mark, []byte(b.name+cursor))
	b.mu.Lock()
	defer b.mu.Unlock()
	e.open = swapped && cursor != ""
	return err
}

// HandOver writes the evidence about a host for the next worker that claims the host. Call it
// before the host is released. It does nothing unless the book is Shared.
func (b *Book) HandOver(ctx context.Context, host string) error {
	if !b.Shared {
		return nil
	}
	b.writing.RLock()
	defer b.writing.RUnlock()
	return b.save(ctx, host, b.handingOver(host), "")
}

// handingOver returns the evidence that must be written before a host is released. Its value is nil
// if there is nothing to write.
func (b *Book) handingOver(host string) (n news) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n.of = b.hosts[host]
	if n.of == nil {
		return n
	}
	n.claimed, n.of.open, n.of.left = n.of.open, false, true
	if n.of.dirty() {
		n.value = n.of.text()
	}
	return n
}
