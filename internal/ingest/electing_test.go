package ingest

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"skink/dedup"
	"skink/store"
	"skink/store/precedence"
)

// Of the pages that wait for the lock of a cluster, the page that precedes the others gets it
// first. A call of lockAll gets all locks before any page.
func TestElectingOrder(t *testing.T) {
	standing := func(url string) precedence.Standing {
		return precedence.Of(&store.Record{URL: url, Kind: store.Page}, new(precedence.Order))
	}
	urls := []string{"https://a.example/long/path/of/a/page", "https://a.example/", "https://a.example/long/path"}
	want := slices.Clone(urls)
	slices.SortFunc(want, func(a, b string) int {
		one, other := standing(a), standing(b)
		d, _ := precedence.Compare(&one, &other)
		return d
	})
	want = append([]string{"sitemap"}, want...)

	var e electing
	e.lockAll()
	cluster := []dedup.Hash{{1}}
	var got []string // guarded by the lock of the cluster
	var all sync.WaitGroup
	wait := func(name string, lock func(), clusters []dedup.Hash, n int) {
		all.Go(func() {
			lock()
			got = append(got, name)
			e.unlock(clusters)
		})
		for waiting := 0; waiting < n; {
			e.mu.Lock()
			waiting = len(e.waiting)
			e.mu.Unlock()
		}
	}
	for i, url := range urls {
		wait(url, func() { e.lock(standing(url), cluster) }, cluster, i+1)
	}
	wait("sitemap", e.lockAll, nil, len(urls)+1)
	e.unlock(nil)
	all.Wait()
	same(t, "order", strings.Join(got, "\n"), strings.Join(want, "\n"))
}

// Pages that need different clusters do not wait for each other. Pages that need a common cluster
// do, even if the first of them is still waiting for another cluster.
func TestElectingClusters(t *testing.T) {
	var e electing
	lock := func(clusters ...byte) *candidate {
		c := &candidate{holds: make(chan struct{})}
		for _, id := range clusters {
			c.clusters = append(c.clusters, dedup.Hash{id})
		}
		e.waiting = append(e.waiting, c)
		e.grant()
		return c
	}
	has := func(c *candidate) bool {
		select {
		case <-c.holds:
			return true
		default:
			return false
		}
	}
	one, two, both, later, other := lock(1), lock(2), lock(2, 3), lock(3), lock(4)
	if !has(one) || !has(two) || !has(other) {
		t.Error("a free cluster is not given")
	}
	all := lock()
	if has(both) || has(later) || has(all) {
		t.Error("a cluster is given twice")
	}
	e.unlock(two.clusters)
	if has(both) || has(later) {
		t.Error("pages go before one that wants all clusters")
	}
	e.unlock(one.clusters)
	e.unlock(other.clusters)
	if !has(all) || has(both) {
		t.Error("all clusters are free and not given, or given twice")
	}
	e.unlock(nil)
	if !has(both) || has(later) {
		t.Error("the page that came first did not get both clusters")
	}
	e.unlock(both.clusters)
	if !has(later) || len(e.waiting) > 0 {
		t.Error("the last page did not get its cluster")
	}
}

// After maxPassed later pages have got the lock of a cluster first, a page gets the lock before
// all others.
func TestElectingPassesBounded(t *testing.T) {
	cluster := []dedup.Hash{{1}}
	first := precedence.Of(&store.Record{URL: "https://a.example/"}, new(precedence.Order))
	last := precedence.Of(&store.Record{URL: "https://a.example/long/path"}, new(precedence.Order))
	if d, _ := precedence.Compare(&first, &last); d >= 0 {
		t.Fatal("the home page does not go before another")
	}
	later := &candidate{standing: first, clusters: cluster}
	if later.compare(&candidate{standing: last, clusters: cluster, passed: maxPassed - 1}) >= 0 {
		t.Error("a page that goes before another does not get the cluster before it")
	}
	if later.compare(&candidate{standing: last, clusters: cluster, passed: maxPassed}) <= 0 {
		t.Errorf("a page was passed over more than %d times", maxPassed)
	}
}
