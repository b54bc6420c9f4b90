package feed_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skink/dedup"
	"skink/feed/release"
	"skink/internal/tools/storetest"
	"skink/store"
)

// withSecret returns a store with a public and a private page.
func withSecret(t *testing.T) store.Store {
	s := storetest.NewMemory()
	for _, r := range []store.Record{{URL: "https://a.test/public"}, {URL: "https://a.test/secret", Private: true}} {
		r.Kind, r.Verdict, r.Words = store.Page, dedup.Unique, 3
		commit(t, s, r, "The text of "+r.URL)
	}
	return s
}

func TestLiveFeedWithoutPrivatePages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feed.jsonl")
	f, err := openFile(path, &powered{Store: withSecret(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(got, []byte("public")) || bytes.Contains(got, []byte("secret")) {
		t.Errorf("%v\n%s", err, got)
	}
	if left := f.Left().String(); left != "left out 1 page: 1 private" {
		t.Errorf("left %q", left)
	}
}

// A public page names no private one: neither its leader nor the redirect that led to it. This holds
// also for a page that is gone.
func TestNamesOfPrivatePages(t *testing.T) {
	s := withSecret(t)
	const secret = "https://a.test/secret"
	from := store.Record{URL: "https://a.test/hidden-redirect", Kind: store.Redirect, Location: "https://a.test/copy", Private: true}
	commit(t, s, from, "")
	twin := store.Record{URL: "https://a.test/copy", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Exact, DuplicateOf: secret, Leader: dedup.HashOf([]byte(secret))}, Via: from.URL, Fetch: store.Fetch{Words: 3}}
	commit(t, s, twin, "The text of "+secret)
	gone := twin
	gone.URL, gone.Kind, gone.Earlier = "https://a.test/gone", store.Error, []store.Visit{{Verdict: dedup.Unique}}
	commit(t, s, gone, "")
	open := store.Record{URL: "https://a.test/again", Kind: store.Page, Judged: store.Judged{Verdict: dedup.Exact, DuplicateOf: "https://a.test/public", Leader: dedup.HashOf([]byte("https://a.test/public"))}, Fetch: store.Fetch{Words: 3}}
	commit(t, s, open, "The text of https://a.test/public")
	for _, f := range []release.Filter{{Include: release.All}, {Include: release.All, Changes: true}, {Include: release.Records}, {Include: release.All, Private: true}} {
		var told []string
		g := release.Gate{Filter: f}
		for p, err := range g.Pages(t.Context(), s, store.WantRecord) {
			if err != nil {
				t.Fatal(err)
			}
			r := &p.Content().Record
			told = append(told, r.DuplicateOf, r.Via)
			if r.DuplicateOf == "" && !r.Leader.IsZero() {
				t.Errorf("%+v: %s has the id of its leader", f, r.URL)
			}
		}
		all := strings.Join(told, " ")
		if named := strings.Contains(all, secret) || strings.Contains(all, from.URL); named != f.Private {
			t.Errorf("%+v: %q", f, told)
		}
		if f.Include == release.All && !strings.Contains(all, "https://a.test/public") {
			t.Errorf("%+v: a public leader is missing in %q", f, told)
		}
	}
}

// TestReasons checks which records each filter leaves out, and why.
func TestReasons(t *testing.T) {
	page := store.Record{Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}, Fetch: store.Fetch{Words: 50}}
	with := func(change func(*store.Record)) store.Record {
		r := page
		change(&r)
		return r
	}
	records := map[release.Reason]store.Record{
		"":                page,
		release.Private:   with(func(r *store.Record) { r.Private = true }),
		release.Signal:    with(func(r *store.Record) { r.Signals = "ai-train=no, search=yes" }),
		release.NoIndex:   with(func(r *store.Record) { r.NoIndex = true }),
		release.Duplicate: with(func(r *store.Record) { r.Verdict = dedup.Near }),
		release.Thin:      with(func(r *store.Record) { r.Verdict = dedup.Thin }),
		release.Short:     with(func(r *store.Record) { r.Words = 4 }),
	}
	for _, c := range []struct {
		filter release.Filter
		want   string // reasons for which it leaves out a record
	}{
		{release.Filter{}, "private, with noindex, with the verdict exact or near"},
		{release.Filter{Private: true}, "with noindex, with the verdict exact or near"},
		{release.Filter{Include: release.All}, "private"},
		{release.Filter{NoSignals: []string{"ai-train=no"}, NoThin: true, MinWords: 5}, "private, with an excluded content signal, with noindex, with the verdict exact or near, with the verdict thin, with too few words"},
		{release.Filter{Include: release.Records, NoSignals: []string{"ai-train=no"}, NoThin: true, MinWords: 5}, "private, with an excluded content signal"},
	} {
		s := storetest.NewMemory()
		for why, r := range records {
			r.URL = "https://a.test/" + string(why)
			commit(t, s, r, "text")
		}
		g, released := release.Gate{Filter: c.filter, Left: release.Left{}}, 0
		for _, err := range g.Pages(t.Context(), s, store.WantRecord) {
			if err != nil {
				t.Fatal(err)
			}
			released++
		}
		var got []string
		for _, why := range release.Reasons {
			if g.Left[why] > 0 {
				got = append(got, string(why))
			}
		}
		if strings.Join(got, ", ") != c.want || released+len(got) != len(records) {
			t.Errorf("%+v: left out %q, want %q; released %d", c.filter, got, c.want, released)
		}
	}
}

// TestOnlyTheGateReads checks that package feed gets the content of pages only from package release.
func TestOnlyTheGateReads(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if of, ok := call.Fun.(*ast.SelectorExpr); ok && (of.Sel.Name == "Changes" || of.Sel.Name == "Pages" && len(call.Args) != 3) {
				t.Errorf("%s calls %s of a store", name, of.Sel.Name)
			}
			return true
		})
	}
}
