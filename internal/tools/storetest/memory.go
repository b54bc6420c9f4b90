package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// Memory is a store in memory, for tests: the other stores are compared with it. The code is kept simple: maps and sorted slices under a lock.
type Memory struct {
	*Frontier

	mu       sync.Mutex              // guards the fields below
	last     uint64                  // number of the latest commit; the first commit has number 1
	visits   map[uint64]memoryVisit  // last visit to each page, by commit number
	places   []uint64                // keys of visits, in ascending order
	ids      map[dedup.Hash]uint64   // commit number of a page's last visit, by page id
	hashes   map[dedup.Hash][]uint64 // commit numbers of pages, ascending, by text hash
	postings map[uint64][]uint64     // commit numbers of leaders, ascending, by index key
	meta     map[string][]byte
	kept     map[string][]byte
	tally    store.Tally
}

type memoryVisit struct {
	record store.Record
	text   []byte // main text, packed by Pack; nil means that no text is kept
	sketch *dedup.Sketch
	hash   dedup.Hash // key under which Memory.hashes lists the visit; zero means none
	keys   []uint64   // keys under which Memory.postings lists the visit
	out    []byte     // links of the page, packed by PackLinks; nil means that none are kept
}

var _ store.Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{
		Frontier: NewFrontier(),
		visits:   map[uint64]memoryVisit{},
		ids:      map[dedup.Hash]uint64{},
		hashes:   map[dedup.Hash][]uint64{},
		postings: map[uint64][]uint64{},
		meta:     map[string][]byte{},
		kept:     map[string][]byte{},
	}
}

// Lookup implements [store.Index]. It answers all asks under one lock, so their results are consistent.
func (m *Memory) Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]store.Found, len(asks))
	for i, ask := range asks {
		all[i] = m.lookup(ask)
	}
	return all, nil
}

func (m *Memory) lookup(ask store.Ask) store.Found {
	f := store.Found{Mark: store.MarkAt(m.last)}
	var copies []uint64
	for _, h := range ask.Hashes {
		copies = append(copies, m.hashes[h]...)
	}
	slices.Sort(copies)
	for _, place := range copies {
		if r := m.visits[place].record; r.ID != ask.ID {
			f.Copy = &r
			if place, ok := m.ids[r.Leader]; ok && r.Follows() {
				leader := m.visits[place].record
				f.Followed = &leader
			}
			break
		}
	}
	if f.Copy != nil {
		return f
	}
	met := map[uint64]int{}
	for _, key := range ask.Keys {
		list := m.postings[key]
		n := min(max(ask.Limit, 0), len(list))
		f.Full = append(f.Full, n < len(list))
		for _, place := range list[:n] {
			met[place]++
		}
	}
	for _, place := range dedup.Met(met, ask.Meet) {
		v := m.visits[place]
		if v.sketch != nil && v.record.ID != ask.ID {
			f.Leaders = append(f.Leaders, store.Leader{ID: v.record.ID, Hash: v.record.Hash, Sketch: *v.sketch, Shared: met[place]})
		}
	}
	return f
}

// Commit implements [store.Index].
func (m *Memory) Commit(ctx context.Context, entries []*store.Entry) ([]store.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := store.Valid(entries); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // a canceled call must not leave half an entry
	outcomes := make([]store.Outcome, len(entries))
	for i, e := range entries {
		outcome, err := m.commit(ctx, e)
		if err != nil {
			return nil, err
		}
		if outcomes[i] = outcome; outcome == store.Stale {
			break
		}
	}
	return outcomes, nil
}

// commit writes the whole entry e while it holds the lock. It first sets the final state of the URL
// in the frontier, because only the frontier knows whether the claim is still valid.
func (m *Memory) commit(ctx context.Context, e *store.Entry) (store.Outcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, known := m.ids[e.Record.ID]
	keeps := known && !e.Revisit && !e.Touch
	if !keeps && (m.replaced(e) || m.stale(e)) {
		return store.Stale, nil
	}
	err := m.Frontier.End(ctx, Ending{Claim: e.Claim, URL: e.Record.URL, State: e.State, Links: e.Links, Beyond: e.Beyond})
	switch {
	case errors.Is(err, frontier.ErrLost):
		return store.Lost, nil
	case err != nil:
		return store.Stale, err
	}
	for name, value := range e.Named {
		m.meta[name] = append([]byte{}, value...)
	}
	switch {
	case keeps:
		return store.Kept, nil
	case known && e.Touch:
		v := m.visits[before]
		m.tally.Remove(&v.record)
		v.record = e.Record
		m.tally.Add(&v.record)
		if e.Out != nil {
			v.out = bytes.Clone(e.Out)
		}
		m.visits[before] = v
		return store.Written, nil
	case known:
		m.forget(before)
	}
	m.put(m.last+1, e)
	return store.Written, nil
}

// put stores the page of e. Its commit number, place, must be higher than all others.
func (m *Memory) put(place uint64, e *store.Entry) {
	m.last = place
	v := memoryVisit{e.Record, bytes.Clone(e.Text), nil, e.Hash, slices.Clone(e.Keys), bytes.Clone(e.Out)}
	if e.Sketch != nil {
		sketch := *e.Sketch
		v.sketch = &sketch
	}
	for _, key := range v.keys {
		m.postings[key] = insert(m.postings[key], m.last)
	}
	if !v.hash.IsZero() {
		m.hashes[v.hash] = insert(m.hashes[v.hash], m.last)
	}
	m.places = append(m.places, m.last)
	m.visits[m.last], m.ids[v.record.ID] = v, m.last
	m.tally.Add(&v.record)
}

// stale reports whether the verdict of e may no longer hold because, since the lookup, a page that
// it would have found was committed or the leader was visited again.
func (m *Memory) stale(e *store.Entry) bool {
	mark := e.Basis.Mark.Place()
	for _, h := range e.Basis.Hashes {
		if list := m.hashes[h]; len(list) > 0 && list[len(list)-1] > mark {
			return true
		}
	}
	for _, key := range e.Basis.Keys {
		if list := m.postings[key]; len(list) > 0 && list[len(list)-1] > mark {
			return true
		}
	}
	if mark == 0 || !e.Record.Follows() {
		return false
	}
	return m.ids[e.Record.Leader] > mark
}

// replaced reports whether another visit has replaced the record that e.Replaces identifies. It
// returns false if e.Replaces is zero.
func (m *Memory) replaced(e *store.Entry) bool {
	if e.Replaces.IsZero() {
		return false
	}
	v, known := m.visits[m.ids[e.Record.ID]]
	return !known || !v.record.Updated().Equal(e.Replaces)
}

func (m *Memory) forget(place uint64) {
	v := m.visits[place]
	for _, key := range v.keys {
		m.postings[key] = remove(m.postings[key], place)
	}
	m.hashes[v.hash] = remove(m.hashes[v.hash], place)
	m.places = remove(m.places, place)
	delete(m.visits, place)
	m.tally.Remove(&v.record)
}

// insert adds n to an ascending list, unless the list already contains it.
func insert(list []uint64, n uint64) []uint64 {
	i, found := slices.BinarySearch(list, n)
	if found {
		return list
	}
	return slices.Insert(list, i, n)
}

func remove(list []uint64, n uint64) []uint64 {
	if i, found := slices.BinarySearch(list, n); found {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// Pages implements [store.Reader]. It returns copies, so that callers cannot change the stored values.
func (m *Memory) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	all := make([]*store.Content, len(ids))
	for i, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.mu.Lock()
		v, ok := m.visits[m.ids[id]]
		m.mu.Unlock()
		if !ok {
			continue
		}
		c, err := v.content(want)
		if err != nil {
			return nil, err
		}
		all[i] = &c
	}
	return all, nil
}

func (v memoryVisit) content(want store.Want) (store.Content, error) {
	c := store.Content{Record: v.record}
	if want&store.WantText != 0 && v.text != nil {
		text, markdown, headings, err := store.UnpackMarked(v.text)
		if err != nil {
			return c, fmt.Errorf("read the text of %s: %w", v.record.URL, err)
		}
		c.Text, c.Markdown, c.Headings, c.Kept = string(text), string(markdown), headings, true
	}
	if want&store.WantSketch != 0 && v.sketch != nil {
		sketch := *v.sketch
		c.Sketch = &sketch
	}
	if want&store.WantLinks != 0 && v.out != nil {
		links, err := store.UnpackLinks(v.record.URL, v.out)
		if err != nil {
			return c, fmt.Errorf("read the links of %s: %w", v.record.URL, err)
		}
		c.Links = links
	}
	return c, nil
}

// Changes implements [store.Reader]. It holds the lock only while it looks for the next visit, so the
// loop body may call other methods.
func (m *Memory) Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error] {
	return func(yield func(*store.Change, error) bool) {
		place, err := after.Place()
		if err != nil {
			yield(nil, err)
			return
		}
		for _, v := range m.visitsAfter(place) {
			c, err := v.content(want)
			if err = cmp.Or(ctx.Err(), err); err != nil {
				yield(nil, err)
				return
			}
			if !yield(&store.Change{Content: c, Kind: store.ChangeOf(&c.Record), Cursor: store.CursorAt(v.at)}, nil) {
				return
			}
		}
	}
}

type placedVisit struct {
	memoryVisit
	at uint64
}

// visitsAfter returns the visits with commit numbers above place, and those numbers.
func (m *Memory) visitsAfter(place uint64) []placedVisit {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, _ := slices.BinarySearch(m.places, place+1)
	all := make([]placedVisit, 0, len(m.places)-i)
	for _, at := range m.places[i:] {
		all = append(all, placedVisit{m.visits[at], at})
	}
	return all
}

func (m *Memory) End(ctx context.Context) (store.Cursor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return store.CursorAt(m.last), ctx.Err()
}

func (m *Memory) Clusters(ctx context.Context) iter.Seq2[store.Cluster, error] {
	return store.Listed(ctx, func() ([]store.Cluster, error) { return m.clusters(), nil })
}

func (m *Memory) clusters() []store.Cluster {
	m.mu.Lock()
	defer m.mu.Unlock()
	members, first := map[dedup.Hash]int{}, map[dedup.Hash]uint64{}
	for _, place := range m.places {
		if r := m.visits[place].record; r.Follows() {
			if members[r.Leader]++; members[r.Leader] == 1 {
				first[r.Leader] = place
			}
		}
	}
	var list []store.Cluster
	for leader, n := range members {
		list = append(list, store.Cluster{Leader: leader, Members: n})
	}
	slices.SortFunc(list, func(a, b store.Cluster) int {
		return cmp.Or(cmp.Compare(b.Members, a.Members), cmp.Compare(first[a.Leader], first[b.Leader]))
	})
	return list
}

func (m *Memory) Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		members := m.membersOf(leaders)
		for _, leader := range leaders {
			for _, r := range members[leader] {
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

func (m *Memory) membersOf(leaders []dedup.Hash) map[dedup.Hash][]*store.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	lists := map[dedup.Hash][]*store.Record{}
	for _, leader := range leaders {
		lists[leader] = nil
	}
	for _, place := range m.places {
		r := m.visits[place].record
		if list, asked := lists[r.Leader]; asked && r.Follows() {
			lists[r.Leader] = append(list, &r)
		}
	}
	for _, list := range lists {
		slices.SortStableFunc(list, func(a, b *store.Record) int { return cmp.Compare(b.Resemblance, a.Resemblance) })
	}
	return lists
}

func (m *Memory) Tally(ctx context.Context) (store.Tally, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tally.Clone(), ctx.Err()
}

func (m *Memory) Meta(ctx context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Clone(m.meta[name]), ctx.Err()
}

func (m *Memory) SetMeta(ctx context.Context, name string, value []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.meta[name] = append([]byte{}, value...) // not nil, which would mean that the value was never set
	return nil
}

func (m *Memory) SwapMeta(ctx context.Context, name string, old, value []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.meta[name]; !store.SameMeta(now, old) {
		return store.ErrChanged
	}
	m.meta[name] = append([]byte{}, value...)
	return nil
}

// Kept implements [store.Keeper].
func (m *Memory) Kept(ctx context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Clone(m.kept[name]), ctx.Err()
}

// Keep implements [store.Keeper].
func (m *Memory) Keep(ctx context.Context, name string, value []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[name] = append([]byte{}, value...) // not nil, which would mean that nothing is kept
	return nil
}

// Dump implements [store.Portable].
func (m *Memory) Dump(ctx context.Context) iter.Seq2[*store.Part, error] {
	return func(yield func(*store.Part, error) bool) {
		parts, err := m.dump()
		if err != nil {
			yield(nil, err)
			return
		}
		for _, p := range parts {
			if err := ctx.Err(); !yield(p, err) || err != nil {
				return
			}
		}
	}
}

func (m *Memory) dump() (parts []*store.Part, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	hosts, pending, states := m.Frontier.Contents()
	for _, name := range slices.Sorted(maps.Keys(m.meta)) {
		parts = append(parts, &store.Part{Value: &store.NamedValue{Name: name, Value: bytes.Clone(m.meta[name])}})
	}
	for _, h := range hosts {
		parts = append(parts, &store.Part{Host: &h})
	}
	for _, place := range m.places {
		v := m.visits[place]
		parts = append(parts, &store.Part{Page: &store.Placed{
			Packed: store.Packed{Record: v.record.AppendPacked(nil), Text: v.text, Kept: v.text != nil, Sketch: v.sketch, Links: v.out},
			Place:  place, Hash: v.hash, Keys: v.keys, State: states[v.record.URL],
		}})
		delete(states, v.record.URL)
	}
	if m.last > 0 {
		parts = append(parts, &store.Part{Last: m.last})
	}
	for outside := range m.Frontier.URLs(context.Background(), frontier.Outside) {
		if url, _ := frontier.Left(outside); states[url] == frontier.Outside {
			parts = append(parts, &store.Part{Outside: outside})
		}
	}
	for _, it := range pending {
		parts = append(parts, &store.Part{Item: &it})
	}
	return parts, nil
}

// Load implements [store.Portable].
func (m *Memory) Load(ctx context.Context, parts []*store.Part) error {
	for _, p := range parts {
		if err := m.load(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (m *Memory) load(ctx context.Context, p *store.Part) error {
	switch {
	case p.Value != nil:
		return m.SetMeta(ctx, p.Value.Name, p.Value.Value)
	case p.Host != nil:
		m.Frontier.SetRest(p.Host.Name, p.Host.Rest)
		return ctx.Err()
	case p.Last != 0:
		m.mu.Lock()
		defer m.mu.Unlock()
		m.last = max(m.last, p.Last)
		return nil
	case p.Outside != "":
		return m.Frontier.End(ctx, Ending{Beyond: []string{p.Outside}})
	case p.Item != nil:
		_, err := m.Frontier.Requeue(ctx, []frontier.Item{*p.Item})
		return err
	}
	e, err := p.Page.Entry()
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(p.Page.Place, e)
	end := Ending{URL: e.Record.URL, State: e.State}
	switch {
	case e.State == frontier.Outside:
		end.Beyond = []string{e.Record.URL}
	case e.State.Ends():
		end.Links = []frontier.Item{{URL: e.Record.URL, Depth: e.Record.Depth}}
	}
	return m.Frontier.End(ctx, end)
}

// Sync does nothing, because memory never survives a power failure.
func (m *Memory) Sync() error { return nil }

// Close does nothing. The memory is freed with the last reference to it.
func (m *Memory) Close() error { return nil }
