package ingest

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"skink/internal/precedence"
	"skink/store"
)

// TestElectingOrder: of those that wait, the page that goes before the others gets the right first, and
// what is no page before all pages.
func TestElectingOrder(t *testing.T) {
	standing := func(url string) *precedence.Standing {
		s := precedence.Of(&store.Record{URL: url, Kind: store.Page}, new(precedence.Order))
		return &s
	}
	urls := []string{"https://a.example/long/path/of/a/page", "https://a.example/", "https://a.example/long/path"}
	want := slices.Clone(urls)
	slices.SortFunc(want, func(a, b string) int { d, _ := precedence.Compare(standing(a), standing(b)); return d })
	want = append([]string{"sitemap"}, want...)

	var e electing
	e.lock(nil)
	var got []string // the right guards it
	var all sync.WaitGroup
	wait := func(name string, s *precedence.Standing, n int) {
		all.Go(func() {
			e.lock(s)
			got = append(got, name)
			e.unlock()
		})
		for waiting := 0; waiting < n; {
			e.mu.Lock()
			waiting = len(e.waiting)
			e.mu.Unlock()
		}
	}
	for i, url := range urls {
		wait(url, standing(url), i+1)
	}
	wait("sitemap", nil, len(urls)+1)
	e.unlock()
	all.Wait()
	same(t, "order", strings.Join(got, "\n"), strings.Join(want, "\n"))
}

// TestElectingPassesBounded: a page is not passed over without end.
func TestElectingPassesBounded(t *testing.T) {
	first := precedence.Of(&store.Record{URL: "https://a.example/"}, new(precedence.Order))
	last := precedence.Of(&store.Record{URL: "https://a.example/long/path"}, new(precedence.Order))
	if d, _ := precedence.Compare(&first, &last); d >= 0 {
		t.Fatal("the home page does not go before another")
	}
	later := &candidate{standing: first}
	if !later.before(&candidate{standing: last, passed: mostPassed - 1}) {
		t.Error("a page that goes before another does not get the right before it")
	}
	if later.before(&candidate{standing: last, passed: mostPassed}) {
		t.Errorf("a page was passed over more than %d times", mostPassed)
	}
}
