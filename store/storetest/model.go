package storetest

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// testAsMemory does the same random things to a store and to [store.Memory] and
// compares what they say. Names are few, so that things meet.
func testAsMemory(t *testing.T, open func(t *testing.T, dir string) store.Store) {
	// Rapid's hundred cases would be some hundred openings, with their fsyncs.
	if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() == f.DefValue {
		check(t, f.Value.Set("25"))
		defer func() { check(t, f.Value.Set(f.DefValue)) }()
	}
	rapid.Check(t, func(r *rapid.T) {
		dir := t.TempDir()
		m := &model{
			open:   func() store.Store { return open(t, dir) },
			memory: store.NewMemory(),
			leased: map[string]frontier.Item{},
		}
		m.store = m.open()
		defer func() { check(t, m.store.Close()) }()
		r.Repeat(rapid.StateMachineActions(m))
		m.compareAll(r)
	})
}

// A model is a store under test beside the one it must be like. Its methods
// that take a *rapid.T are what can be done; Check runs after each of them.
type model struct {
	open   func() store.Store
	store  store.Store
	memory *store.Memory
	leased map[string]frontier.Item
	num    uint64
}

// both are the stores, in the order in which they are compared.
func (m *model) both() [2]store.Store { return [2]store.Store{m.store, m.memory} }

// same asks both stores and compares their answers.
func same[T any](r *rapid.T, m *model, what string, ask func(store.Store) (T, error)) T {
	got := must(ask(m.store))(r)
	want := must(ask(m.memory))(r)
	equal(r, what, got, want)
	return want
}

func drawURL(r *rapid.T) string {
	host := rapid.SampledFrom([]string{"a.example", "a.example:81", "b.example"}).Draw(r, "host")
	return fmt.Sprintf("https://%s/%d", host, rapid.IntRange(0, 9).Draw(r, "path"))
}

func drawItem(r *rapid.T) frontier.Item {
	return frontier.Item{
		URL:   drawURL(r),
		Via:   rapid.SampledFrom([]string{"", "https://via.example/"}).Draw(r, "via"),
		Depth: rapid.IntRange(0, 3).Draw(r, "depth"),
		Hops:  rapid.IntRange(0, 2).Draw(r, "hops"),
		Tries: rapid.IntRange(0, 2).Draw(r, "tries"),
	}
}

var drawItems = rapid.SliceOfN(rapid.Custom(drawItem), 0, 8)

func (m *model) drawEntry(r *rapid.T) *store.Entry {
	m.num++
	num := m.num
	if rapid.Bool().Draw(r, "far number") {
		num += 1000 // what is committed later may have a lower number
		m.num += rapid.Uint64Range(0, 1).Draw(r, "gap")
		num += 7 * m.num
	}
	e := page(num, drawURL(r))
	e.State = rapid.SampledFrom([]frontier.State{frontier.Unknown, frontier.Fetched, frontier.Failed}).Draw(r, "state")
	e.Record.Leader = rapid.Uint64Range(0, 3).Draw(r, "leader")
	e.Record.Resemblance = rapid.SampledFrom([]float64{0.8, 0.9, 1}).Draw(r, "resemblance")
	e.Record.Verdict = rapid.SampledFrom([]dedup.Kind{dedup.Unique, dedup.Exact, dedup.Near, dedup.Thin}).Draw(r, "verdict")
	e.Hash = rapid.SampledFrom([]dedup.Hash{{}, {1}, {2}, {3}}).Draw(r, "hash")
	e.Keys = rapid.SliceOfN(rapid.Uint64Range(0, 3), 0, 3).Draw(r, "keys")
	e.Links = drawItems.Draw(r, "links")
	e.Text = store.Pack(noise(num, rapid.SampledFrom([]int{0, 10}).Draw(r, "text")))
	return e
}

func (m *model) Discover(r *rapid.T) {
	list := drawItems.Draw(r, "items")
	same(r, m, "found", func(s store.Store) (int, error) { return s.Discover(ctx, list) })
}

func (m *model) Lease(r *rapid.T) {
	host := frontier.HostOf(drawURL(r))
	n := rapid.IntRange(0, 4).Draw(r, "n")
	for _, it := range same(r, m, "leased", func(s store.Store) ([]frontier.Item, error) { return s.Lease(ctx, host, n, time.Hour) }) {
		m.leased[it.URL] = it
	}
}

func (m *model) Release(r *rapid.T) {
	it := drawItem(r)
	for _, s := range m.both() {
		check(r, s.Release(ctx, it))
	}
	delete(m.leased, it.URL)
}

func (m *model) Done(r *rapid.T) {
	url := drawURL(r)
	state := frontier.State(rapid.IntRange(2, 5).Draw(r, "state"))
	for _, s := range m.both() {
		check(r, s.Done(ctx, url, state))
	}
	delete(m.leased, url)
}

func (m *model) Commit(r *rapid.T) {
	entries := rapid.SliceOfN(rapid.Custom(m.drawEntry), 0, 4).Draw(r, "entries")
	for _, s := range m.both() {
		check(r, s.Commit(ctx, entries))
	}
}

func (m *model) Politeness(r *rapid.T) {
	host := frontier.HostOf(drawURL(r))
	delay := time.Duration(rapid.IntRange(0, 3).Draw(r, "delay"))
	until := time.Unix(rapid.Int64Range(1, 1e9).Draw(r, "until"), 0).UTC()
	for _, s := range m.both() {
		check(r, s.SetDelay(ctx, host, delay))
		check(r, s.Block(ctx, host, until))
	}
}

// Reopen gives back what is leased first: a lease ends with the opening, which
// memory cannot do.
func (m *model) Reopen(r *rapid.T) {
	if rapid.IntRange(0, 2).Draw(r, "seldom") > 0 {
		return // opening takes longer than all the rest
	}
	for it := range m.unleased() {
		for _, s := range m.both() {
			check(r, s.Release(ctx, it))
		}
	}
	check(r, m.store.Close())
	m.store = m.open()
}

// unleased empties leased, in order of URL.
func (m *model) unleased() func(yield func(frontier.Item) bool) {
	return func(yield func(frontier.Item) bool) {
		for _, url := range sortedKeys(m.leased) {
			it := m.leased[url]
			delete(m.leased, url)
			if !yield(it) {
				return
			}
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Check compares what is cheap to ask after each step.
func (m *model) Check(r *rapid.T) {
	same(r, m, "counts", func(s store.Store) (frontier.Counts, error) { return s.Counts(ctx) })
	same(r, m, "tally", func(s store.Store) (store.Tally, error) { return s.Tally(ctx) })
	same(r, m, "hosts", func(s store.Store) ([]frontier.Host, error) {
		list := collect(r, s.Hosts(ctx))
		slices.SortFunc(list, func(a, b frontier.Host) int { return strings.Compare(a.Name, b.Name) })
		return slices.Clip(append([]frontier.Host{}, list...)), nil
	})
}

// compareAll compares everything else, at the end.
func (m *model) compareAll(r *rapid.T) {
	same(r, m, "clusters", func(s store.Store) ([]store.Cluster, error) { return collect(r, s.Clusters(ctx)), nil })
	records := same(r, m, "records", func(s store.Store) ([]*store.Record, error) { return collect(r, s.Records(ctx, 0)), nil })
	for _, rec := range records {
		same(r, m, "record", func(s store.Store) (*store.Record, error) { return s.Record(ctx, rec.ID) })
		same(r, m, "text", func(s store.Store) (string, error) {
			text, found, err := s.Text(ctx, rec.Num)
			return fmt.Sprint(found, text), err
		})
	}
	for n := range uint64(4) {
		same(r, m, "leaders", func(s store.Store) ([]uint64, error) { return leaders(r, s, n), nil })
		same(r, m, "members", func(s store.Store) ([]*store.Record, error) { return collect(r, s.Members(ctx, n)), nil })
		same(r, m, "by hash", func(s store.Store) (uint64, error) {
			num, _, err := s.ByHash(ctx, dedup.Hash{byte(n)})
			return num, err
		})
	}
	for _, host := range []string{"a.example", "a.example:81", "b.example"} {
		for i := range 10 {
			url := fmt.Sprintf("https://%s/%d", host, i)
			same(r, m, "state of "+url, func(s store.Store) (frontier.State, error) { return s.State(ctx, url) })
		}
		same(r, m, "left at "+host, func(s store.Store) ([]frontier.Item, error) { return s.Lease(ctx, host, 100, time.Hour) })
	}
}
