package view

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/store"
)

// The overview is the first page of a view without a crawl. It names what to fix first, and why the leader of
// a cluster leads.
func TestOverview(t *testing.T) {
	s := storetest.NewMemory()
	keep(t, s, testPage{url: "http://a.example/x", title: "The first", text: words(0, 90)}, testPage{url: "http://a.example/much/longer", title: "The second", text: words(0, 89), leader: "http://a.example/x"},
		testPage{url: "http://a.example/untitled", text: words(500, 600)})
	commit(t, s, &store.Entry{Record: store.Record{ID: idOf("http://a.example/gone"), URL: "http://a.example/gone", Kind: store.Error, Status: 404, Fetch: store.Fetch{Problem: "status 404", FetchedAt: time.Now()}}})
	v, server := newView(t, s, func(*Options) {})
	if first := v.first(); first != "/overview" { // the address / leads there
		t.Errorf("the first page is %s", first)
	}
	get(t, server, "/overview") // starts the audit
	v.beside.Wait()
	got := get(t, server, "/overview")
	for _, want := range []string{
		"<h1><bdi>a.example</bdi></h1>", `<b>2</b> errors</a><small>in 2 places</small>`, ">Pages without a title</a>: 1<small>Give each page its own title.</small>",
		"leads by: first seen", "1 near", "0.900",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the overview lacks %s:\n%s", want, got)
		}
	}
	if first := regexp.MustCompile(`(?s)<ol class="first">.*?</li>`).FindString(got); !strings.Contains(first, "✖") {
		t.Errorf("the first thing to fix is no error: %s", first)
	}
	if got := get(t, server, "/cluster/"+idOf("http://a.example/x").String()); !strings.Contains(got, "It leads by: first seen.") {
		t.Errorf("the page of the cluster does not say why the leader leads:\n%s", got)
	}
}

// A mirror is named, and several hosts are counted.
func TestOverviewOfMirror(t *testing.T) {
	s := storetest.NewMemory()
	keep(t, s, testPage{url: "http://a.example/x", text: words(0, 90)}, testPage{url: "http://b.example/x", text: words(0, 89), leader: "http://a.example/x"})
	_, server := newView(t, s, func(*Options) {})
	got := get(t, server, "/overview")
	for _, want := range []string{"<h1>Overview</h1>", "2 pages on 2 hosts", "<bdi>b.example</bdi></a> may be a mirror: 1 of 1 page duplicate pages on <bdi>a.example</bdi>"} {
		if !strings.Contains(got, want) {
			t.Errorf("the overview lacks %s:\n%s", want, got)
		}
	}
}

// A store without pages has an overview, too.
func TestOverviewOfNothing(t *testing.T) {
	v, server := newView(t, storetest.NewMemory(), func(o *Options) {
		o.Alike = func(context.Context, store.Reader, func(float64)) (*Alike, error) { return nil, nil }
		o.Rule = dedup.Rule{}
	})
	get(t, server, "/overview")
	v.beside.Wait()
	if got := get(t, server, "/overview"); !strings.Contains(got, "0 pages") || !strings.Contains(got, "Nothing to fix.") {
		t.Errorf("the overview of an empty store is\n%s", got)
	}
}
