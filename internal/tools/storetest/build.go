package storetest

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

var ctx = context.Background()

// tester has the methods of *testing.T and *rapid.T that these tests need.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

func check(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must returns a function that returns v if err is nil, and otherwise ends the test.
func must[T any](v T, err error) func(t tester) T {
	return func(t tester) T {
		t.Helper()
		check(t, err)
		return v
	}
}

func equal(t tester, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func collect[T any](t tester, seq iter.Seq2[T, error]) []T {
	t.Helper()
	var list []T
	for v, err := range seq {
		check(t, err)
		list = append(list, v)
	}
	return list
}

func hashOf(s string) dedup.Hash { return dedup.HashOf([]byte(s)) }

// page returns an entry for a unique page, with as few fields set as possible.
func page(url string) *store.Entry {
	return &store.Entry{
		Record: store.Record{ID: hashOf(url), URL: url, Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}},
		State:  frontier.Fetched,
	}
}

// aTime is a time in the past that is not a whole second, and farOff is a time in the distant
// future.
var (
	aTime  = time.Date(2025, 3, 1, 12, 30, 0, 123456789, time.UTC)
	farOff = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// wholeItem returns an item with a value in every field.
func wholeItem(url string) frontier.Item {
	return frontier.Item{
		URL: url, Via: "https://example.com/via", From: "https://example.com/from", Depth: 70000, Hops: 3, Tries: 2,
		Kind: frontier.Sitemap, Priority: -3, Due: aTime, Validators: frontier.Validators{ETag: `W/"an etag"`, Modified: "Sat, 01 Mar 2025 12:30:00 GMT"},
	}
}

func urlOf(n int) string { return fmt.Sprintf("https://example.com/%d", n) }

// copyOf returns an entry for a near duplicate of the page at leader.
func copyOf(leader, url string, resemblance float64) *store.Entry {
	e := page(url)
	e.Record.Verdict = dedup.Near
	e.Record.Leader, e.Record.DuplicateOf = hashOf(leader), leader
	e.Record.Resemblance = resemblance
	return e
}

// full returns an entry with a value in every field.
func full(url, text string) *store.Entry {
	e := copyOf("https://example.com/leader", url, 0.9)
	e.Record.Hash = hashOf(text)
	e.Record.Words = 1 + len(text)
	e.Text = store.Pack([]byte(text))
	e.Sketch = sketchOf(text)
	e.Hash = hashOf(text)
	e.Keys = []uint64{keyOf(text), keyOf(text) + 1}
	e.Out = store.PackLinks(url, linksTo(text))
	return e
}

// linksTo returns links that differ for each text.
func linksTo(text string) []store.Link {
	return []store.Link{
		{URL: "https://example.com/about/" + text, Text: "about " + text, Kind: store.LinkAnchor, NoFollow: true},
		{URL: "https://cdn.example/" + text + ".png", Kind: store.LinkImage},
	}
}

func wantLinks(t tester, s store.Reader, url string, want []store.Link) {
	t.Helper()
	if c := known(t, s, url, store.WantLinks); c == nil {
		t.Errorf("%s has no record", url)
	} else if !slices.Equal(c.Links, want) {
		t.Errorf("%s has %d links, want %d: %v", url, len(c.Links), len(want), want[:min(3, len(want))])
	}
}

func sketchOf(text string) *dedup.Sketch {
	return &dedup.Sketch{0: uint32(keyOf(text)), dedup.Minima - 1: uint32(keyOf(text) >> 32)}
}

// keyOf returns an index key that differs for each text.
func keyOf(text string) uint64 {
	h := hashOf(text)
	return binary.BigEndian.Uint64(h[:])
}

// fullRecord returns a record with a value in every field.
func fullRecord(url string) store.Record {
	return store.Record{
		ID: hashOf(url), URL: url, Via: "https://example.com/via?a=1&b=<2>",
		Kind: store.Page, Status: 200, Location: "https://example.com/location", ContentType: "text/html; charset=utf-8", Checked: true,
		Canonicals: []string{"https://example.com/canonical", "https://example.com/other"}, H1: []string{"one", "two"},
		Alternates:   []store.Alternate{{Lang: "de-AT", URL: "https://example.com/de?a=1&b=2"}, {Lang: "x-default", URL: "https://example.com/"}},
		CanonicalURL: "https://example.com/canonical", Lang: "ru", Title: "Сцинк — <ящерица> & \"змея\"",
		Description: "line one\nline two\u2028", Root: "main", NoIndex: true, Signals: "ai-train=no",
		Fetch: store.Fetch{
			Problem: "timeout", Detail: "no answer in 10 s", FetchedAt: aTime, Depth: 3, Hops: 2, Size: 123456, Took: 321,
			Words: 321, Hash: hashOf("its text"), LeftWords: 45, LeftHash: hashOf("what was left out"),
			Validators: frontier.Validators{ETag: `W/"an etag"`, Modified: "Sat, 01 Mar 2025 12:30:00 GMT"},
		},
		Judged: store.Judged{
			Verdict: dedup.Near, Leader: hashOf("https://example.com/leader"), DuplicateOf: "https://example.com/leader",
			Resemblance: 0.8765432109876543, Found: dedup.ByBands, Capped: true, NoText: true,
		},
		History: store.History{
			Visit: store.Failed, VisitedAt: aTime.Add(time.Hour), JudgedAt: aTime.Add(time.Minute), First: aTime.Add(-time.Hour), Missed: 2, Added: "more", Removed: "less",
			Earlier: []store.Visit{{At: time.Date(2025, 2, 1, 0, 0, 0, 0, time.UTC), Words: 3, Hash: hashOf("before"), Sketch: []byte{1, 2}, Resemblance: 0.5, Verdict: dedup.Thin, NoIndex: true}},
		},
	}
}

// commit writes entries and expects all of them to be written.
func commit(t tester, s store.Store, entries ...*store.Entry) {
	t.Helper()
	for i, got := range must(s.Commit(ctx, entries))(t) {
		if got != store.Written {
			t.Errorf("outcome of %s is %d, want %d", entries[i].Record.URL, got, store.Written)
		}
	}
}

func wantOutcomes(t tester, s store.Store, entries []*store.Entry, want ...store.Outcome) {
	t.Helper()
	equal(t, "outcomes", must(s.Commit(ctx, entries))(t), want)
}

func items(depth int, urls ...string) []frontier.Item {
	var list []frontier.Item
	for _, u := range urls {
		list = append(list, frontier.Item{URL: u, Depth: depth})
	}
	return list
}

func numbered(host string, n int) []frontier.Item {
	var list []frontier.Item
	for i := range n {
		list = append(list, frontier.Item{URL: fmt.Sprintf("https://%s/%d", host, i)})
	}
	return list
}

// noise returns n bytes that do not compress, always the same for a given seed.
func noise(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// discover queues URLs and expects exactly want of them to be new.
func discover(t tester, s store.Store, want int, list []frontier.Item) {
	t.Helper()
	if got := must(s.Discover(ctx, list))(t); got != want {
		t.Errorf("Discover found %d new URLs, want %d", got, want)
	}
}

func wantState(t tester, s store.Store, url string, want frontier.State) {
	t.Helper()
	if got := must(s.State(ctx, url))(t); got != want {
		t.Errorf("state of %s is %d, want %d", url, got, want)
	}
}

func known(t tester, s store.Reader, url string, want store.Want) *store.Content {
	t.Helper()
	return must(s.Pages(ctx, []dedup.Hash{hashOf(url)}, want))(t)[0]
}

func wantRecord(t tester, s store.Reader, want store.Record) {
	t.Helper()
	c := known(t, s, want.URL, store.WantRecord)
	if c == nil {
		t.Errorf("%s has no record", want.URL)
		return
	}
	equal(t, "record of "+want.URL, c.Record, want)
}

func wantText(t tester, s store.Reader, url, want string) {
	t.Helper()
	switch c := known(t, s, url, store.WantText); {
	case c == nil:
		t.Errorf("%s has no record", url)
	case !c.Kept || c.Text != want:
		t.Errorf("text of %s is %d bytes, kept: %v; want %d bytes", url, len(c.Text), c.Kept, len(want))
	}
}

func lookup(t tester, s store.Store, ask store.Ask) store.Found {
	t.Helper()
	return must(s.Lookup(ctx, []store.Ask{ask}))(t)[0]
}

// askKeys returns an ask for all leaders that have any of the keys.
func askKeys(keys ...uint64) store.Ask { return store.Ask{Keys: keys, Limit: 1 << 20} }

// leaders returns the text hashes of the leaders that have a key, in commit order.
func leaders(t tester, s store.Store, key uint64) []dedup.Hash {
	t.Helper()
	found := lookup(t, s, askKeys(key))
	if found.Capped() {
		t.Errorf("Lookup(%d) says there are more than a million", key)
	}
	return idsOf(found.Leaders)
}

func idsOf(list []store.Leader) []dedup.Hash {
	var ids []dedup.Hash
	for _, l := range list {
		ids = append(ids, l.ID)
	}
	return ids
}

func hashesOf(urls ...string) []dedup.Hash {
	var ids []dedup.Hash
	for _, u := range urls {
		ids = append(ids, hashOf(u))
	}
	return ids
}

// wantCopy fails the test unless want is the URL of the earliest page with the given text. If want
// is "", there must be none.
func wantCopy(t tester, s store.Store, text dedup.Hash, want string) {
	t.Helper()
	found := lookup(t, s, store.Ask{Hashes: []dedup.Hash{text}})
	got := ""
	if found.Copy != nil {
		got = found.Copy.URL
	}
	if got != want {
		t.Errorf("the earliest page of that text is %q, want %q", got, want)
	}
}

func changes(t tester, s store.Reader, after store.Cursor) []*store.Change {
	t.Helper()
	return collect(t, s.Changes(ctx, after, store.WantRecord))
}

func wantChanges(t tester, s store.Reader, after store.Cursor, want ...string) {
	t.Helper()
	var got []string
	for _, c := range changes(t, s, after) {
		got = append(got, c.Record.URL)
	}
	equal(t, "changes", got, want)
}

func urlsOf(list []*store.Record) []string {
	var urls []string
	for _, r := range list {
		urls = append(urls, r.URL)
	}
	return urls
}

func members(t tester, s store.Reader, leaders ...dedup.Hash) []*store.Record {
	t.Helper()
	return collect(t, s.Members(ctx, leaders))
}
