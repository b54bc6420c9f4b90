package badger

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// Dump implements [store.Portable]. It reads in a single transaction, so other goroutines can write
// at the same time.
func (r reader) Dump(ctx context.Context) iter.Seq2[*store.Part, error] {
	return each(ctx, r, func(r reader, yield func(*store.Part) error) error {
		return dump(ctx, yield, r.dumpNames, r.dumpHosts, r.dumpPages, r.dumpOutside, r.dumpQueue)
	})
}

// dump calls the steps one after another.
func dump(ctx context.Context, yield func(*store.Part) error, steps ...func(context.Context, func(*store.Part) error) error) error {
	for _, step := range steps {
		if err := step(ctx, yield); err != nil {
			return err
		}
	}
	return nil
}

// dump calls read with the key and value of each item whose key has the given letter, and yields
// the returned part unless it is nil.
func (r reader) dump(ctx context.Context, letter byte, yield func(*store.Part) error, read func(key, value []byte) (*store.Part, error)) error {
	return scanValues(ctx, r.txn, letter, func(key, value []byte) error {
		part, err := read(key, value)
		if err != nil || part == nil {
			return err
		}
		return yield(part)
	})
}

func (r reader) dumpNames(ctx context.Context, yield func(*store.Part) error) error {
	return r.dump(ctx, keyMeta, yield, func(key, _ []byte) (*store.Part, error) {
		name := string(key[1:])
		if isPiece(name) {
			return nil, nil
		}
		value, err := meta(r.txn, name)
		return &store.Part{Value: &store.NamedValue{Name: name, Value: value}}, err
	})
}

func (r reader) dumpHosts(ctx context.Context, yield func(*store.Part) error) error {
	return r.dump(ctx, keyHost, yield, func(key, value []byte) (*store.Part, error) {
		var rest frontier.Rest
		err := decodeRest(&rest)(value)
		if rest = rest.Lasting(); rest != (frontier.Rest{}) {
			return &store.Part{Host: &frontier.Host{Name: string(key[1:]), Rest: rest}}, err
		}
		return nil, err
	})
}

func (r reader) dumpPages(ctx context.Context, yield func(*store.Part) error) error {
	var again bitSet
	err := r.revisits(ctx, []byte{keyQueue}, func(num uint64, _ frontier.Item) error {
		again.add(num)
		return nil
	})
	if err != nil {
		return err
	}
	got, err := r.eachPage(ctx, func(record *store.Record, p *store.Placed, _ bool) error {
		u, err := r.s.known(r.txn, record.ID)
		if err != nil {
			return err
		}
		if u.state != frontier.Pending && !again.has(p.Place) {
			p.State = u.state
		}
		return yield(&store.Part{Page: p})
	})
	if err != nil {
		return err
	}
	c, err := r.counters(ctx)
	if err != nil {
		return err
	}
	if c.Numbers > 0 {
		err = yield(&store.Part{Last: c.Numbers})
	}
	return cmp.Or(err, r.countedAll(ctx, got))
}

// eachPage calls fn with each page, without its state, and returns the number of pages. alone says that
// the URL was never discovered.
func (r reader) eachPage(ctx context.Context, fn func(record *store.Record, p *store.Placed, alone bool) error) (got int64, err error) {
	err = r.scanRecords(ctx, 1, func(v visitValue) error {
		p := &store.Placed{Place: v.num}
		record, err := r.placed(p, v)
		if err != nil {
			return fmt.Errorf("read record %d: %w", v.num, err)
		}
		got++
		return fn(record, p, v.alone)
	})
	return got, err
}

func (r reader) placed(p *store.Placed, v visitValue) (*store.Record, error) {
	packed, err := packedRecord(v.value)
	if err != nil {
		return nil, err
	}
	p.Record = store.Updated(packed, v.update)
	p.Hash = dedup.Hash(v.value[:hashSize])
	if p.Keys, err = r.fill(&p.Packed, p.Place, store.WantText|store.WantSketch|store.WantLinks); err != nil {
		return nil, err
	}
	return store.UnpackRecord(p.Record)
}

func (r reader) dumpOutside(ctx context.Context, yield func(*store.Part) error) error {
	return r.outside(ctx, func(u known) error {
		if u.num != 0 {
			return nil
		}
		return yield(&store.Part{Outside: u.url})
	})
}

func (r reader) dumpQueue(ctx context.Context, yield func(*store.Part) error) error {
	for _, letter := range []byte{keyQueue, keyLater} {
		err := scan(ctx, r.txn, []byte{letter}, func(item *badgerdb.Item) error {
			if item.UserMeta() == runMeta {
				return r.revisits(ctx, item.KeyCopy(nil), func(_ uint64, it frontier.Item) error { return yield(&store.Part{Item: &it}) })
			}
			_, p, ok := splitQueueKey(item.Key())
			if !ok {
				return fmt.Errorf("%w: invalid key %q", store.ErrCorrupt, item.Key())
			}
			return item.Value(func(value []byte) error {
				it, _, err := decodeQueued(value, p)
				if err != nil {
					return err
				}
				return yield(&store.Part{Item: &it})
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Load implements [store.Portable].
func (s *Store) Load(ctx context.Context, parts []*store.Part) error {
	if err := s.mayGrow(); err != nil {
		return err
	}
	return s.write(ctx, func(b *batch) {
		for _, p := range parts {
			b.load(p)
		}
	})
}

func (b *batch) load(p *store.Part) {
	switch {
	case p.Value != nil:
		b.room(2, 2*(len(p.Value.Name)+len(p.Value.Value)))
		b.setMeta(p.Value.Name, p.Value.Value)
	case p.Host != nil:
		b.keepRest(p.Host.Name, p.Host.Rest)
	case p.Page != nil:
		b.loadPage(p.Page)
	case p.Last != 0:
		b.s.last = max(b.s.last, p.Last)
		b.counters().Numbers = b.s.last
	case p.Outside != "":
		b.exclude([]string{p.Outside})
	default:
		b.requeueAll([]frontier.Item{*p.Item})
	}
}

func (b *batch) loadPage(p *store.Placed) {
	e, err := p.Entry()
	if err == nil && p.Place <= b.s.last {
		err = fmt.Errorf("record %d follows record %d, but record numbers must increase", p.Place, b.s.last)
	}
	if err != nil {
		b.fail(err)
		return
	}
	b.s.last = p.Place
	b.counters().Numbers = p.Place
	b.content(p.Place, e)
	value := b.s.encodeRecord(e.Hash, &e.Record)
	b.room(6, len(value)+len(e.Record.URL)+256)
	b.counters().Numbers = p.Place
	b.record(p.Place, e, value, e.State == frontier.Unknown)
	u := known{num: p.Place}
	if e.State != frontier.Unknown {
		u.state, u.url, u.place.level = e.State, e.Record.URL, levelOf(&frontier.Item{Depth: e.Record.Depth})
		b.move(frontier.Unknown, e.State)
	}
	b.setKnown(e.Record.ID, u)
}
