package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"skink/dedup"
	"skink/frontier"
)

// A Portable store can be copied to another store, even one of a different kind.
type Portable interface {
	Dumper

	// Load writes parts of a dump, which must come in the order of the dump. The store must be
	// empty before the first call, and nothing else may use it. After the last call, the store has
	// the same contents as the dumped one, and accepts cursors of the dumped store.
	Load(ctx context.Context, parts []*Part) error
}

// A Dumper reads the contents of a store to copy them.
type Dumper interface {
	// Dump yields a snapshot of the store: first named values and hosts, then pages in the order of
	// their places, then the last place, then URLs outside the crawl, and finally pending URLs. The pending URLs of a
	// host are in queue order. Claims and the values of a [Keeper] are left out.
	Dump(ctx context.Context) iter.Seq2[*Part, error]
}

// A Part is one piece of a dump. Exactly one of its fields is set.
type Part struct {
	Value   *NamedValue
	Host    *frontier.Host // a host, with only the fields of Rest that outlive a run
	Page    *Placed
	Last    uint64         // place of the last commit, which may be after that of the last page
	Outside string         // a URL outside the crawl, see [frontier.Leave]; it has no record
	Item    *frontier.Item // a pending URL
}

// A NamedValue is a value of [Meta].
type NamedValue struct {
	Name  string
	Value []byte
}

// A Placed is a page with all of its data, and its place in the order of commits.
type Placed struct {
	Packed
	Place uint64
	Hash  dedup.Hash     // text hash under which lookups find the page; see [Entry]
	Keys  []uint64       // index keys under which lookups find the page
	State frontier.State // state of the page's URL; Unknown means pending, or never in the frontier
}

// Entry converts the page to an entry and decodes its record.
func (p *Placed) Entry() (*Entry, error) {
	r, err := UnpackRecord(p.Record)
	if err != nil {
		return nil, err
	}
	e := &Entry{Record: *r, State: p.State, Sketch: p.Sketch, Hash: p.Hash, Keys: p.Keys}
	if e.Text = p.Text; p.Kept && e.Text == nil { // nil would mean that no text is kept
		e.Text = []byte{}
	}
	if len(p.Links) > 0 {
		e.Out = p.Links
	}
	return e, nil
}

// These constants limit the data that Copy passes to one call to Load.
const (
	maxLoaded      = 256
	maxLoadedBytes = 4 << 20
)

// Copy copies the contents of one store to another, which must be empty. Finally, it compares the
// numbers of pages and URLs in both stores. After each batch, it calls progress with the number of
// records copied so far.
func Copy(ctx context.Context, to Store, from Dumper, progress func(pages int64)) error {
	if err := isEmpty(ctx, to); err != nil {
		return err
	}
	c := copying{to: to, progress: progress}
	for part, err := range from.Dump(ctx) {
		if err == nil {
			err = c.add(ctx, part)
		}
		if err != nil {
			return err
		}
	}
	if err := c.flush(ctx); err != nil {
		return err
	}
	if err := c.compare(ctx); err != nil {
		return err
	}
	return to.Sync()
}

func isEmpty(ctx context.Context, s Store) error {
	counts, err := s.Counts(ctx)
	if err != nil {
		return err
	}
	tally, err := s.Tally(ctx)
	if err == nil && (counts != frontier.Counts{} || !reflect.DeepEqual(tally, Tally{})) {
		err = errors.New("the destination store is not empty")
	}
	return err
}

type copying struct {
	to       Store
	progress func(pages int64)
	parts    []*Part
	bytes    int
	pages    int64
	tally    Tally
	counts   frontier.PerState
}

func (c *copying) add(ctx context.Context, p *Part) error {
	switch {
	case p.Value != nil:
		c.bytes += len(p.Value.Value)
	case p.Page != nil:
		r, err := UnpackRecord(p.Page.Record)
		if err != nil {
			return err
		}
		c.pages++
		c.tally.Add(r)
		if p.Page.State != frontier.Unknown {
			c.counts[p.Page.State]++
		}
		c.bytes += len(p.Page.Record) + len(p.Page.Text) + len(p.Page.Links)
	case p.Outside != "":
		c.counts[frontier.Outside]++
	case p.Item != nil:
		c.counts[frontier.Pending]++
	}
	if c.parts = append(c.parts, p); len(c.parts) < maxLoaded && c.bytes < maxLoadedBytes {
		return nil
	}
	return c.flush(ctx)
}

func (c *copying) flush(ctx context.Context) error {
	if err := c.to.Load(ctx, c.parts); err != nil {
		return err
	}
	c.parts, c.bytes = nil, 0
	c.progress(c.pages)
	return nil
}

// compare returns an error if the new store does not contain as many pages and URLs as were read.
func (c *copying) compare(ctx context.Context) error {
	counts, err := c.to.Counts(ctx)
	if err != nil {
		return err
	}
	tally, err := c.to.Tally(ctx)
	if err == nil && (counts != c.counts.Counts() || !reflect.DeepEqual(tally, c.tally)) {
		err = fmt.Errorf("the counts of the copy differ from those of the original store: got %+v and %+v, want %+v and %+v", counts, tally, c.counts.Counts(), c.tally)
	}
	return err
}
