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

// testAsMemory performs the same random operations on a store and on [Memory], and compares
// the results. It uses few names, so that many operations affect the same pages.
func testAsMemory(t *testing.T, open func(t *testing.T, dir string) store.Store) {
	// By default, rapid runs a hundred cases. That takes too long, because each case opens several
	// stores, which call fsync.
	if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() == f.DefValue {
		check(t, f.Value.Set("15"))
		defer func() { check(t, f.Value.Set(f.DefValue)) }()
	}
	rapid.Check(t, func(r *rapid.T) {
		dir := t.TempDir()
		m := &model{
			open:   func() store.Store { return open(t, dir) },
			other:  func() store.Store { return open(t, t.TempDir()) },
			memory: NewMemory(),
			held:   map[string]heldPair{}, rested: map[string]bool{},
		}
		m.store = m.open()
		defer func() { check(t, m.store.Close()) }()
		r.Repeat(rapid.StateMachineActions(m))
		m.compareAll(r)
		m.compareCopies(r)
	})
}

// A model contains the store under test and a memory store, which must behave alike. Its methods
// that take a *rapid.T are the operations. Check runs after each of them.
type model struct {
	open   func() store.Store
	other  func() store.Store
	store  store.Store
	memory *Memory
	held   map[string]heldPair // valid claims in the two stores, by host name
	rested map[string]bool     // hosts, with or without pending URLs, whose delay is forgotten when a store is reopened
	visits int                 // number of times that now has returned
	bases  []basisPair         // results of lookups that later commits are based on
}

func (m *model) both() [2]store.Store { return [2]store.Store{m.store, m.memory} }

// same calls ask with each of the two stores and compares the results.
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
		From:  rapid.SampledFrom([]string{"", "https://from.example/page"}).Draw(r, "from"),
		Depth: rapid.IntRange(0, 3).Draw(r, "depth"),
		Hops:  rapid.IntRange(0, 2).Draw(r, "hops"),
		Tries: rapid.IntRange(0, 2).Draw(r, "tries"),

		Kind:     rapid.SampledFrom([]frontier.ItemKind{frontier.Page, frontier.Sitemap}).Draw(r, "kind"),
		Priority: rapid.IntRange(-1, 1).Draw(r, "priority"),
		Due:      rapid.SampledFrom([]time.Time{{}, {}, aTime, farOff, farOff.Add(time.Hour)}).Draw(r, "due"),
		Validators: frontier.Validators{
			ETag:     rapid.SampledFrom([]string{"", `"e"`}).Draw(r, "etag"),
			Modified: rapid.SampledFrom([]string{"", "Sat, 01 Mar 2025 12:30:00 GMT"}).Draw(r, "modified"),
			Same:     rapid.SampledFrom([]uint64{0, 1 << 60}).Draw(r, "same"),
		},
	}
}

var drawItems = rapid.SliceOfN(rapid.Custom(drawItem), 0, 8)

func drawEntry(r *rapid.T) *store.Entry {
	e := page(drawURL(r))
	e.Revisit = rapid.Bool().Draw(r, "revisit")
	e.Record.FetchedAt = aTime.Add(time.Duration(rapid.IntRange(0, 1).Draw(r, "fetched")))
	if rapid.Bool().Draw(r, "replaces") {
		e.Replaces = aTime.Add(time.Duration(rapid.IntRange(0, 1).Draw(r, "replaced")))
	}
	e.State = rapid.SampledFrom([]frontier.State{frontier.Unknown, frontier.Fetched, frontier.Failed}).Draw(r, "state")
	if rapid.Bool().Draw(r, "follows") {
		e.Record.Leader = hashOf(drawURL(r))
	}
	e.Record.Resemblance = rapid.SampledFrom([]float64{0.8, 0.9, 1}).Draw(r, "resemblance")
	e.Record.Verdict = rapid.SampledFrom([]dedup.VerdictKind{dedup.Unique, dedup.Exact, dedup.Near, dedup.Thin}).Draw(r, "verdict")
	e.Hash = rapid.SampledFrom([]dedup.Hash{{}, {1}, {2}, {3}}).Draw(r, "hash")
	e.Keys = rapid.SliceOfN(rapid.Uint64Range(0, 3), 0, 3).Draw(r, "keys")
	e.Links = drawItems.Draw(r, "links")
	e.Text = store.Pack(noise(1, rapid.SampledFrom([]int{0, 10}).Draw(r, "text")))
	if rapid.Bool().Draw(r, "out") {
		e.Out = store.PackLinks(e.Record.URL, linksTo(rapid.SampledFrom([]string{"one", "two"}).Draw(r, "linked")))
	}
	if rapid.Bool().Draw(r, "sketch") {
		e.Sketch = sketchOf(e.Record.URL)
	}
	return e
}

func drawAsk(r *rapid.T) store.Ask {
	ask := store.Ask{
		Hashes: rapid.SliceOfN(rapid.SampledFrom([]dedup.Hash{{1}, {2}, {3}}), 0, 2).Draw(r, "hashes asked"),
		Keys:   rapid.SliceOfN(rapid.Uint64Range(0, 3), 0, 3).Draw(r, "keys asked"),
		Meet:   rapid.IntRange(0, 2).Draw(r, "meet"),
		Limit:  rapid.IntRange(0, 3).Draw(r, "limit"),
	}
	if rapid.Bool().Draw(r, "itself") {
		ask.ID = hashOf(drawURL(r))
	}
	return ask
}

// Lookup performs a lookup in both stores, and keeps the basis of a verdict for a later commit.
func (m *model) Lookup(r *rapid.T) {
	ask := drawAsk(r)
	m.bases = append(m.bases, m.look(r, ask))
}

// A basisPair contains the basis of a verdict in each of the two stores. Their marks differ.
type basisPair [2]store.Basis

// look performs one lookup in both stores and compares the results, except for the marks.
func (m *model) look(r *rapid.T, ask store.Ask) (bases basisPair) {
	var answers [2]store.Found
	for i, s := range m.both() {
		answers[i] = lookup(r, s, ask)
		bases[i] = answers[i].Basis(ask)
		answers[i].Mark = ""
		answers[i].Leaders = append([]store.Leader{}, answers[i].Leaders...)
		answers[i].Full = append([]bool{}, answers[i].Full...)
	}
	equal(r, "found", answers[0], answers[1])
	return bases
}

func (m *model) Requeue(r *rapid.T) {
	list := drawItems.Draw(r, "items")
	same(r, m, "requeued", func(s store.Store) (int, error) { return s.Requeue(ctx, list) })
}

// Revisit queues pages as a recrawl does: with items made from their records, which have places. Every
// stored page is chosen or not.
func (m *model) Revisit(r *rapid.T) {
	due, chosen := m.now(), map[string]bool{}
	conditional := rapid.Bool().Draw(r, "conditional")
	for _, c := range collect(r, m.memory.Changes(ctx, "", store.WantRecord)) {
		chosen[c.Record.URL] = rapid.IntRange(0, 3).Draw(r, "chosen") > 0
	}
	same(r, m, "revisited", func(s store.Store) (int, error) {
		var list []frontier.Item
		for _, c := range collect(r, s.Changes(ctx, "", store.WantRecord)) {
			if chosen[c.Record.URL] {
				it := store.Revisit(&c.Record, due, conditional)
				it.Place = must(c.Cursor.Place())(r)
				list = append(list, it)
			}
		}
		return s.Requeue(ctx, list)
	})
}

// now returns a time after those of all earlier visits and before those of all later ones.
func (m *model) now() time.Time {
	m.visits++
	return aTime.Add(time.Duration(m.visits) * time.Minute)
}

func (m *model) Discover(r *rapid.T) {
	list := drawItems.Draw(r, "items")
	same(r, m, "found", func(s store.Store) (int, error) { return s.Discover(ctx, list) })
}

// A heldPair contains the claims on a host in the store under test and in the memory store. Each
// store accepts only its own claims.
type heldPair [2]frontier.Claim

// Claim claims a host in both stores, if they grant one.
func (m *model) Claim(r *rapid.T) {
	var given [2][]frontier.Host
	var claims [2]map[string]frontier.Claim
	var waiting [2]int
	n := rapid.IntRange(0, 2).Draw(r, "n")
	for i, s := range m.both() {
		claims[i] = map[string]frontier.Claim{}
		grant := must(s.Claim(ctx, me, n, time.Hour))(r)
		waiting[i] = grant.Waiting
		for _, h := range grant.Hosts {
			given[i] = append(given[i], h.Host)
			claims[i][h.Host.Name] = h.Claim
		}
	}
	equal(r, "given", given[0], given[1])
	// A store waits for its replicas before it reports that no URLs are left.
	for tries := 0; tries < 200 && len(given[0]) == 0 && waiting[0] != waiting[1]; tries++ {
		time.Sleep(50 * time.Millisecond)
		for i, s := range m.both() {
			waiting[i] = must(s.Claim(ctx, me, 0, time.Hour))(r).Waiting
		}
	}
	equal(r, "waiting", waiting[0], waiting[1])
	for name, c := range claims[0] {
		m.held[name] = heldPair{c, claims[1][name]}
	}
}

func (m *model) hold(r *rapid.T) string {
	if len(m.held) == 0 {
		return ""
	}
	return rapid.SampledFrom(sortedKeys(m.held)).Draw(r, "held")
}

func (m *model) Take(r *rapid.T) {
	host := m.hold(r)
	if host == "" {
		return
	}
	n := rapid.IntRange(0, 4).Draw(r, "n")
	var taken [2][]frontier.Item
	for i, s := range m.both() {
		taken[i] = must(s.Take(ctx, m.held[host][i], n))(r)
	}
	equal(r, "taken", taken[0], taken[1])
}

func (m *model) Release(r *rapid.T) {
	it := drawItem(r)
	pair, held := m.held[frontier.HostOf(it.URL)]
	if !held {
		return
	}
	for i, s := range m.both() {
		check(r, s.Release(ctx, pair[i], it))
	}
}

func (m *model) Return(r *rapid.T) {
	host := m.hold(r)
	if host == "" {
		return
	}
	rest := frontier.Rest{
		Idle:    rapid.Bool().Draw(r, "idle"),
		Delay:   time.Duration(rapid.IntRange(0, 3).Draw(r, "delay")),
		Blocked: time.Unix(rapid.Int64Range(1, 1e9).Draw(r, "blocked"), 0).UTC(),
	}
	if rapid.Bool().Draw(r, "later") {
		rest.Next = farOff
	}
	for i, s := range m.both() {
		check(r, s.Return(ctx, m.held[host][i], rest))
	}
	delete(m.held, host)
	m.rested[host] = rest.Idle || !rest.Next.IsZero()
}

// Touch commits the record of a page that a visit found unchanged. The entry may be stale.
func (m *model) Touch(r *rapid.T) {
	url := drawURL(r)
	e := page(url)
	if c := known(r, m.memory, url, store.WantRecord); c != nil {
		e.Record = c.Record
	}
	e.Touch, e.State = true, rapid.SampledFrom([]frontier.State{frontier.Unknown, frontier.Fetched, frontier.Failed}).Draw(r, "state")
	e.Replaces = e.Record.Updated()
	if rapid.Bool().Draw(r, "at a new time") {
		e.Record.VisitedAt = m.now()
	}
	if rapid.IntRange(0, 4).Draw(r, "late") == 0 {
		e.Replaces = aTime.Add(time.Minute)
	}
	e.Record.Visit, e.Record.Size = store.NotModified, rapid.Int64Range(0, 2).Draw(r, "size")
	e.Links = drawItems.Draw(r, "links")
	if rapid.Bool().Draw(r, "out") {
		e.Out = store.PackLinks(url, linksTo("three"))
	}
	same(r, m, "outcome of a touch", func(s store.Store) ([]store.Outcome, error) { return s.Commit(ctx, []*store.Entry{e}) })
}

func (m *model) Commit(r *rapid.T) {
	entries := rapid.SliceOfN(rapid.Custom(drawEntry), 0, 4).Draw(r, "entries")
	same(r, m, "outcomes", func(s store.Store) ([]store.Outcome, error) { return s.Commit(ctx, entries) })
}

// CommitJudged commits a page whose verdict is based on an earlier lookup. A store may refuse more
// entries than it must. A page that was refused is committed again without a basis.
func (m *model) CommitJudged(r *rapid.T) {
	if len(m.bases) == 0 {
		return
	}
	e := drawEntry(r)
	basis := rapid.SampledFrom(m.bases).Draw(r, "basis")
	one := func(s store.Store, basis store.Basis) store.Outcome {
		e.Basis = basis
		return must(s.Commit(ctx, []*store.Entry{e}))(r)[0]
	}
	got := one(m.store, basis[0])
	if got == store.Stale {
		got, basis = one(m.store, store.Basis{}), basisPair{}
	}
	equal(r, "outcome", one(m.memory, basis[1]), got)
}

// Reopen first gives back all claimed hosts, with delays that a store keeps. A reopened store has
// lost the claims and the delays that skink itself chose. The memory store would keep them.
func (m *model) Reopen(r *rapid.T) {
	if rapid.IntRange(0, 2).Draw(r, "seldom") > 0 || len(must(m.store.Claim(ctx, me, 0, time.Hour))(r).Hosts) > 0 {
		return // opening takes longer than everything else, so it is done rarely
	}
	for host, rested := range m.rested {
		if _, held := m.held[host]; !held && rested {
			return
		}
	}
	for _, host := range sortedKeys(m.held) {
		for i, s := range m.both() {
			check(r, s.Return(ctx, m.held[host][i], frontier.Rest{}))
		}
	}
	clear(m.held)
	clear(m.rested)
	check(r, m.store.Close())
	m.store, m.bases = m.open(), nil
}

func (m *model) compareCopies(r *rapid.T) {
	of := &model{store: m.other(), memory: NewMemory()}
	defer func() { check(r, of.store.Close()) }()
	copyTo(r, of.store, m.memory)
	copyTo(r, of.memory, m.store)
	same(r, of, "counts", func(s store.Store) (frontier.Counts, error) { return s.Counts(ctx) })
	of.compareAll(r)
	of.held = map[string]heldPair{}
	var given [2][]frontier.Host
	for i, s := range of.both() {
		for _, h := range must(s.Claim(ctx, me, 100, time.Hour))(r).Hosts {
			given[i] = append(given[i], h.Host)
			pair := of.held[h.Host.Name]
			pair[i] = h.Claim
			of.held[h.Host.Name] = pair
		}
	}
	equal(r, "given", given[0], given[1])
	for host, pair := range of.held {
		equal(r, "queue of "+host, must(of.store.Take(ctx, pair[0], 100))(r), must(of.memory.Take(ctx, pair[1], 100))(r))
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

// Check runs after each step and compares the results that are cheap to get.
func (m *model) Check(r *rapid.T) {
	same(r, m, "counts", func(s store.Store) (frontier.Counts, error) { return s.Counts(ctx) })
	same(r, m, "tally", func(s store.Store) (store.Tally, error) { return s.Tally(ctx) })
	same(r, m, "hosts", func(s store.Store) ([]frontier.Host, error) {
		list := collect(r, s.Hosts(ctx))
		slices.SortFunc(list, func(a, b frontier.Host) int { return strings.Compare(a.Name, b.Name) })
		return slices.Clip(append([]frontier.Host{}, list...)), nil
	})
}

func (m *model) compareAll(r *rapid.T) {
	same(r, m, "clusters", func(s store.Store) ([]store.Cluster, error) { return collect(r, s.Clusters(ctx)), nil })
	all := same(r, m, "changes", func(s store.Store) ([]*store.Content, error) {
		var list []*store.Content
		for _, c := range collect(r, s.Changes(ctx, "", store.WantText|store.WantSketch|store.WantLinks)) {
			list = append(list, &c.Content)
		}
		return list, nil
	})
	for _, c := range all {
		same(r, m, "page", func(s store.Store) (*store.Content, error) {
			return known(r, s, c.Record.URL, store.WantText|store.WantSketch|store.WantLinks), nil
		})
	}
	for n := range uint64(4) {
		m.look(r, store.Ask{Keys: []uint64{n}, Limit: 1 << 20})
		m.look(r, store.Ask{Hashes: []dedup.Hash{{byte(n)}}})
	}
	for _, host := range []string{"a.example", "a.example:81", "b.example"} {
		for i := range 10 {
			url := fmt.Sprintf("https://%s/%d", host, i)
			same(r, m, "state of "+url, func(s store.Store) (frontier.State, error) { return s.State(ctx, url) })
			same(r, m, "members of "+url, func(s store.Store) ([]*store.Record, error) { return members(r, s, hashOf(url)), nil })
		}
		if pair, held := m.held[host]; held {
			equal(r, "left at "+host, must(m.store.Take(ctx, pair[0], 100))(r), must(m.memory.Take(ctx, pair[1], 100))(r))
		}
	}
}
