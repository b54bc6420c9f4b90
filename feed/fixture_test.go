package feed_test

import (
	"context"
	"testing"
	"time"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/store"
)

var fetched = time.Date(2025, 3, 1, 9, 30, 0, 0, time.FixedZone("", 2*60*60))

// nasty returns a store with one record of every kind, and with strings that need care: line ends,
// terminal escapes, quotes and invalid UTF-8.
func nasty(t testing.TB) store.Store {
	s := storetest.NewMemory()
	add := func(text string, r store.Record) {
		t.Helper()
		commit(t, s, r, text)
	}
	add("<script>alert(1)</script>\n\"quoted\" & 'single'\tand \\ a backslash", store.Record{
		URL: "https://example.com/a?x=1&y=2", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}, Fetch: store.Fetch{FetchedAt: fetched,
			Words: 9, Hash: dedup.HashOf([]byte("a"))}, Status: 200,
		ContentType: "text/html; charset=utf-8", Lang: "en", Title: "All of it <b>&amp;</b>", Description: "described",
		CanonicalURL: "https://example.com/a",
	})
	add("a copy", store.Record{
		URL: "https://example.com/b", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Exact, Leader: dedup.HashOf([]byte("https://example.com/a?x=1&y=2")), Resemblance: 1,
			DuplicateOf: "https://example.com/a?x=1&y=2"}, Fetch: store.Fetch{Hash: dedup.HashOf([]byte("a")), Words: 9},
	})
	add("", store.Record{
		URL: "https://example.com/c", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Near, Leader: dedup.HashOf([]byte("https://example.com/a?x=1&y=2")), Resemblance: 0.8125,
			DuplicateOf: "https://example.com/a?x=1&y=2", NoText: true},
	})
	add("Terminal \x1b[31m, CSI \u009b2J, NEL \u0085, \u202eturned\u2066 \u200f, line \u2028 paragraph \u2029, not UTF-8 caf\xe9 \xc2", store.Record{
		URL: "https://example.com/new", Via: "http://example.com/old", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Thin}, Title: "\x00\x7f",
	})
	add("", store.Record{URL: "javascript:alert(1)", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Thin}})
	add("not to be fed", store.Record{URL: "https://example.com/hidden", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}, NoIndex: true})
	for _, kind := range []store.RecordKind{store.Other, store.Redirect, store.Error, store.Blocked, store.Skipped} {
		add("", store.Record{URL: "https://example.com/" + string(kind), Kind: kind})
	}
	add("Ящерица, 猫, ©, שלום", store.Record{URL: "=notes/тест.txt", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}, Lang: "ru"})
	return s
}

// commit gives r its id, stores it, and returns it.
func commit(t testing.TB, s store.Store, r store.Record, text string) *store.Record {
	t.Helper()
	ctx := context.Background()
	r.ID = dedup.HashOf([]byte(r.URL))
	e := &store.Entry{Record: r}
	if text != "" {
		e.Text = store.Pack([]byte(text))
	}
	if _, err := s.Commit(ctx, []*store.Entry{e}); err != nil {
		t.Fatal(err)
	}
	return &r
}
