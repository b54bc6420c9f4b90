package view

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"skink/dedup"
	"skink/store"
)

var ctx = context.Background()

// lent is a [Source] for tests. It lends the same store to all callers at any time.
type lent struct{ store.Reader }

func (l lent) Read(_ context.Context, do func(store.Reader) error) error { return do(l.Reader) }

// rule returns the rule with the default settings.
func rule(t testing.TB) dedup.Rule {
	t.Helper()
	r, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", dedup.DefaultMinWords)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A testPage is a page of a store for tests.
type testPage struct {
	url, title, text string
	leader           string // URL of the leader, if the page is a duplicate
}

// keep commits pages to a store. A page with a leader is committed as a near-duplicate of that
// leader.
func keep(t testing.TB, s store.Store, pages ...testPage) {
	t.Helper()
	for i, p := range pages {
		commit(t, s, entryOf(t, p, i))
	}
}

func commit(t testing.TB, s store.Store, entries ...*store.Entry) {
	t.Helper()
	if _, err := s.Commit(ctx, entries); err != nil {
		t.Fatal(err)
	}
}

func idOf(url string) dedup.Hash { return dedup.HashOf([]byte(url)) }

func entryOf(t testing.TB, p testPage, i int) *store.Entry {
	t.Helper()
	var text dedup.Text
	text.ReadString(p.text)
	r := store.Record{
		ID: idOf(p.url), URL: p.url, Title: p.title, Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}, Status: 200, Lang: "en",
		Fetch: store.Fetch{Words: text.Len(), Size: int64(len(p.text)), Depth: i % 7, Hash: text.Hash(), FetchedAt: time.Date(2026, 3, 1, 12, 0, i, 0, time.UTC)},
	}
	if p.leader != "" {
		r.Verdict, r.Leader, r.DuplicateOf, r.Resemblance = dedup.Near, idOf(p.leader), p.leader, 0.9
	}
	sketch := dedup.NewSketch(rule(t).Shingles(&text))
	return &store.Entry{Record: r, Text: store.Pack([]byte(p.text)), Sketch: &sketch}
}

// words returns a text of numbered words.
func words(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "word%d ", i)
	}
	return b.String()
}

// momentOfTally returns a Moment that contains only the tally of the store.
func momentOfTally(ctx context.Context, s store.Reader) (m Moment, err error) {
	m.Tally, err = s.Tally(ctx)
	return m, err
}

// newView returns a view of a store, and a test server that serves the view.
func newView(t testing.TB, s store.Reader, change func(*Options)) (*View, *httptest.Server) {
	t.Helper()
	opt := Options{Store: lent{s}, Name: "test", Rule: rule(t), Address: "127.0.0.1:0"}
	if change != nil {
		change(&opt)
	}
	v, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(v)
	server.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t.Cleanup(func() { server.Close(); v.Close() })
	return v, server
}
