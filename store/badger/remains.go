package badger

import (
	"context"
	"errors"
	"iter"
	"path/filepath"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # Reading a damaged store
//
// If blocks of tables were lost, keys are missing. Other keys may have an old value, or have
// reappeared, because the writes that replaced or deleted them are lost. Nothing repairs that in
// place. A reader gets a new store in its view, with what is readable: the dump of the remains,
// which trusts the records. A page is lost in four cases: the record of its last visit cannot be
// read, its text, links or sketch are missing, it may lead other pages but has no index keys, or its
// leader is lost. The URL of a lost page, which is also in a u key (see keys.go), becomes pending.
//
// A lost block may have contained a named value, the politeness state of a host (an f key), or a URL
// outside the crawl. That cannot be known. Named values are stored twice; [Loss] reports whether
// both copies of one may be lost.
type remains struct {
	reader
	highest  uint64                       // number of the latest visit in any key
	last     map[dedup.Hash]remaining     // last visits of the readable pages, by page id
	lost     map[dedup.Hash]frontier.Item // URLs of records that are readable but do not count, by page id
	replaced map[uint64]bool              // visits that later visits replaced
	queued   map[dedup.Hash]bool          // pending URLs to copy, by page id
	again    []frontier.Item              // URLs that become pending
	had      int64                        // number of records before the damage; 0 means unknown
	missing  int64                        // number of readable records that do not count
}

// A remaining is the last visit of a page. leader is zero if the page follows none.
type remaining struct {
	num    uint64
	leader dedup.Hash
}

// readRemains finds out which pages of a damaged store are readable.
func readRemains(ctx context.Context, r reader) (*remains, error) {
	m := &remains{
		reader: r, last: map[dedup.Hash]remaining{}, lost: map[dedup.Hash]frontier.Item{}, replaced: map[uint64]bool{},
		queued: map[dedup.Hash]bool{},
	}
	if c, err := r.counters(ctx); err == nil {
		m.highest, m.had = c.Numbers, c.Records
	}
	for _, step := range []func(context.Context) error{m.readReplaced, m.readRecords, m.readURLs, m.readQueue, m.findLost} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *remains) readReplaced(ctx context.Context) (err error) {
	for _, letter := range []byte{keyGone, keyObsolete} {
		err = errors.Join(err, scan(ctx, m.txn, []byte{letter}, func(item *badgerdb.Item) error {
			num := lastNum(item.Key())
			m.highest = max(m.highest, num)
			m.replaced[num] = true
			return nil
		}))
	}
	return err
}

func (m *remains) readRecords(ctx context.Context) error {
	return m.scanRecords(ctx, 1, func(v visitValue) error {
		m.highest = max(m.highest, v.num)
		if r, err := decodeRecord(v.value); err == nil {
			m.visited(v, r)
		}
		return nil
	})
}

// visited notes the record r of a visit, which is later than all visits noted before.
func (m *remains) visited(of visitValue, r *store.Record) {
	if !of.alone {
		m.lost[r.ID] = frontier.Item{URL: r.URL, Depth: r.Depth, Hops: r.Hops}
	}
	if m.replaced[of.num] {
		return
	}
	if !m.whole(of.num, r) {
		m.missing++
		delete(m.last, r.ID)
		return
	}
	v := remaining{num: of.num}
	if r.Follows() {
		v.leader = r.Leader
	}
	m.last[r.ID] = v
}

// whole reports whether all data of visit num is readable.
func (m *remains) whole(num uint64, r *store.Record) bool {
	var p store.Packed
	keys, err := m.fill(&p, num, store.WantText|store.WantSketch|store.WantLinks)
	if err != nil {
		return false
	}
	if _, err := store.Unpack(p.Text); p.Kept && err != nil {
		return false
	}
	if _, err := store.UnpackLinks(r.URL, p.Links); len(p.Links) > 0 && err != nil {
		return false
	}
	if r.Kind != store.Page || r.Words == 0 {
		return true
	}
	return p.Sketch != nil && (p.Kept || r.NoText) && (len(keys) > 0 || r.Verdict != dedup.Unique)
}

// readURLs drops the pages whose last record is lost, and then the pages whose leader is lost.
func (m *remains) readURLs(ctx context.Context) error {
	err := m.scanURLs(ctx, func(id dedup.Hash, u known) {
		m.highest = max(m.highest, u.num)
		if u.num > m.last[id].num {
			delete(m.last, id)
		}
	})
	var alone []dedup.Hash
	for id, v := range m.last {
		if !v.leader.IsZero() && m.last[v.leader].num == 0 {
			alone = append(alone, id)
		}
	}
	for _, id := range alone {
		delete(m.last, id)
		m.missing++
	}
	return err
}

func (m *remains) scanURLs(ctx context.Context, fn func(id dedup.Hash, u known)) error {
	return scanValues(ctx, m.txn, keyURL, func(key, value []byte) error {
		var u known
		err := u.decode(value)
		url, _ := frontier.Left(u.url)
		if id := dedup.Hash(frontier.ID(url)); err == nil && string(key[1:]) == string(id[:]) {
			fn(id, u)
		}
		return nil
	})
}

// stateOf returns the state in the u key of a page. ok is false if the key is lost or older than
// the page's record.
func (m *remains) stateOf(id dedup.Hash) (state frontier.State, ok bool) {
	var u known
	found, err := get(m.txn, key1(keyURL, id[:]), u.decode)
	return u.state, found && err == nil && u.num == m.last[id].num
}

// readQueue notes the pending URLs. A finished URL does not count: the write that removed it from
// the queue is lost.
func (m *remains) readQueue(ctx context.Context) error {
	err := m.revisits(ctx, []byte{keyQueue}, func(_ uint64, it frontier.Item) error {
		m.queued[dedup.Hash(frontier.ID(it.URL))] = true
		return nil
	})
	if err != nil {
		return err
	}
	return m.dumpQueue(ctx, func(p *store.Part) error {
		id := dedup.Hash(frontier.ID(p.Item.URL))
		if state, ok := m.stateOf(id); !ok || state == frontier.Pending {
			m.queued[id] = true
		}
		return nil
	})
}

// findLost lists the URLs that become pending: those that have no readable page, and are neither
// queued nor outside the crawl.
func (m *remains) findLost(ctx context.Context) error {
	found := map[dedup.Hash]bool{}
	err := m.scanURLs(ctx, func(id dedup.Hash, u known) {
		found[id] = true
		outside := u.num == 0 && u.state == frontier.Outside
		if m.last[id].num == 0 && !m.queued[id] && !outside {
			m.again = append(m.again, frontier.Item{URL: u.url, Depth: u.place.level.depth()})
		}
	})
	for id, it := range m.lost {
		if m.last[id].num == 0 && !m.queued[id] && !found[id] {
			m.again = append(m.again, it)
		}
	}
	return err
}

// Dump implements [store.Dumper]. It can be called only once.
func (m *remains) Dump(ctx context.Context) iter.Seq2[*store.Part, error] {
	return each(ctx, m.reader, func(_ reader, yield func(*store.Part) error) error {
		return dump(ctx, yield, m.dumpNames, m.dumpHosts, m.dumpPages, m.dumpOutside, m.dumpQueued)
	})
}

func (m *remains) dumpNames(ctx context.Context, yield func(*store.Part) error) error {
	names := map[string]bool{}
	for _, letter := range []byte{keyMeta, keyMetaCopy} {
		err := scan(ctx, m.txn, []byte{letter}, func(item *badgerdb.Item) error {
			names[string(item.Key()[1:])] = true
			return nil
		})
		if err != nil {
			return err
		}
	}
	for name := range names {
		value, err := meta(m.txn, name)
		if isPiece(name) || errors.Is(err, store.ErrCorrupt) {
			continue
		}
		if err := errors.Join(err, yield(&store.Part{Value: &store.NamedValue{Name: name, Value: value}})); err != nil {
			return err
		}
	}
	return nil
}

func (m *remains) dumpPages(ctx context.Context, yield func(*store.Part) error) error {
	_, err := m.eachPage(ctx, func(r *store.Record, p *store.Placed, alone bool) error {
		if m.last[r.ID].num != p.Place {
			return nil
		}
		switch state, ok := m.stateOf(r.ID); {
		case m.queued[r.ID], alone:
		case ok && state != frontier.Pending:
			p.State = state
		default:
			p.State = r.End()
		}
		return yield(&store.Part{Page: p})
	})
	if err == nil && m.highest > 0 {
		err = yield(&store.Part{Last: m.highest})
	}
	return err
}

func (m *remains) dumpQueued(ctx context.Context, yield func(*store.Part) error) error {
	err := m.dumpQueue(ctx, func(p *store.Part) error {
		id := dedup.Hash(frontier.ID(p.Item.URL))
		if !m.queued[id] {
			return nil
		}
		m.queued[id] = false // the URL may have two keys
		return yield(p)
	})
	for i := 0; i < len(m.again) && err == nil; i++ {
		err = yield(&store.Part{Item: &m.again[i]})
	}
	return err
}

// salvage creates a store in the view that contains what is readable of the damaged store dir.
func (v *view) salvage(dir string, loss Loss, opt Options) (s *Store, err error) {
	from := newStore(v.dir, opt)
	how := dbOptions(v.dir, opt, from.full)
	how.ReadOnly, how.BypassLockGuard = true, true
	if from.db, err = openDB(how); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.db.Close()) }()
	opt.ReadOnly, opt.Create, opt.Reserve = false, true, -1
	if s, err = open(filepath.Join(v.dir, "readable"), opt); err != nil {
		return nil, err
	}
	err = from.in(context.Background(), func(r reader) error {
		left, err := readRemains(context.Background(), r)
		if err != nil {
			return err
		}
		s.loss = loss
		s.loss.Missing, s.loss.Pending = max(left.had-int64(len(left.last)), left.missing), int64(len(left.again))
		return store.Copy(context.Background(), s, left, func(int64) {})
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if c := loss.counters; c != nil {
		s.loss.Records = c.Records - s.counters.Records
	}
	s.reading, s.broken, s.name = v, errReadOnly, dir
	return s, nil
}
