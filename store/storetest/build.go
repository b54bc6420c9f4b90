package storetest

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// ctx is never cancelled: those tests that cancel make their own.
var ctx = context.Background()

// tester is what *testing.T and *rapid.T have in common, as far as it is needed.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// check ends the test if err is not nil.
func check(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must returns v if err is nil.
func must[T any](v T, err error) func(t tester) T {
	return func(t tester) T {
		t.Helper()
		check(t, err)
		return v
	}
}

// equal compares what a store said with what it should have said.
func equal(t tester, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// collect reads an iterator to its end.
func collect[T any](t tester, seq iter.Seq2[T, error]) []T {
	t.Helper()
	var list []T
	for v, err := range seq {
		check(t, err)
		list = append(list, v)
	}
	return list
}

// hashOf is the identity of a URL or a text.
func hashOf(s string) dedup.Hash { return dedup.HashOf([]byte(s)) }

// page is a committed page as plain as can be.
func page(num uint64, url string) *store.Entry {
	return &store.Entry{
		Record: store.Record{Num: num, ID: hashOf(url), URL: url, Kind: store.Page, Verdict: dedup.Unique},
		State:  frontier.Fetched,
	}
}

// copyOf is a page that follows a leader.
func copyOf(leader, num uint64, resemblance float64) *store.Entry {
	e := page(num, fmt.Sprintf("https://example.com/copy/%d", num))
	e.Record.Verdict = dedup.Near
	e.Record.Leader = leader
	e.Record.Resemblance = resemblance
	return e
}

// fullRecord has a value in every field.
func fullRecord(num uint64, url string) store.Record {
	return store.Record{
		Num: num, ID: hashOf(url), URL: url, Via: "https://example.com/via?a=1&b=<2>",
		Kind: store.Page, Problem: "timeout", Detail: "no answer in 10 s", FetchedAt: time.Date(2025, 3, 1, 12, 30, 0, 123456789, time.UTC),
		Status: 200, Location: "https://example.com/location", ContentType: "text/html; charset=utf-8",
		Depth: 3, Hops: 2, Size: 123456,
		CanonicalURL: "https://example.com/canonical", Lang: "ru", Title: "Сцинк — <ящерица> & \"змея\"",
		Description: "line one\nline two\u2028", Root: "main", NoIndex: true,
		Words: 321, Hash: hashOf("its text"), Verdict: dedup.Near, Leader: 1, DuplicateOf: "https://example.com/leader",
		Resemblance: 0.8765432109876543, Found: dedup.ByBands, Capped: true, NoText: true,
	}
}

// items are URLs at a depth.
func items(depth int, urls ...string) []frontier.Item {
	var list []frontier.Item
	for _, u := range urls {
		list = append(list, frontier.Item{URL: u, Depth: depth})
	}
	return list
}

// numbered are n URLs of a host.
func numbered(host string, n int) []frontier.Item {
	var list []frontier.Item
	for i := range n {
		list = append(list, frontier.Item{URL: fmt.Sprintf("https://%s/%d", host, i)})
	}
	return list
}

// noise is text that does not compress, the same for one seed.
func noise(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// lease takes URLs and returns them without the rest of their items.
func lease(t tester, s store.Store, host string, n int) []string {
	t.Helper()
	var urls []string
	for _, it := range must(s.Lease(ctx, host, n, time.Hour))(t) {
		urls = append(urls, it.URL)
	}
	return urls
}

// discover queues URLs and expects that many to be new.
func discover(t tester, s store.Store, want int, list []frontier.Item) {
	t.Helper()
	if got := must(s.Discover(ctx, list))(t); got != want {
		t.Errorf("Discover found %d new URLs, want %d", got, want)
	}
}

// wantState compares how far a URL has come.
func wantState(t tester, s store.Store, url string, want frontier.State) {
	t.Helper()
	if got := must(s.State(ctx, url))(t); got != want {
		t.Errorf("state of %s is %d, want %d", url, got, want)
	}
}

// leaders returns what is posted under key.
func leaders(t tester, s store.Store, key uint64) []uint64 {
	t.Helper()
	nums, more, err := s.Leaders(ctx, key, 1<<20, nil)
	check(t, err)
	if more {
		t.Errorf("Leaders(%d) says there are more than a million", key)
	}
	return nums
}

// wantText compares a page's text.
func wantText(t tester, s store.Store, num uint64, want string, wantFound bool) {
	t.Helper()
	text, found, err := s.Text(ctx, num)
	check(t, err)
	if text != want || found != wantFound {
		t.Errorf("Text(%d) = %d bytes, %v; want %d bytes, %v", num, len(text), found, len(want), wantFound)
	}
}

// wantByHash compares the page of a text; 0 is none.
func wantByHash(t tester, s store.Store, h dedup.Hash, want uint64) {
	t.Helper()
	num, found, err := s.ByHash(ctx, h)
	check(t, err)
	if num != want || found != (want != 0) {
		t.Errorf("ByHash = %d, %v; want %d", num, found, want)
	}
}

// nums are the numbers of records.
func nums(list []*store.Record) []uint64 {
	var n []uint64
	for _, r := range list {
		n = append(n, r.Num)
	}
	return n
}
