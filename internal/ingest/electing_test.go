package ingest

import (
	"sync"
	"testing"

	"skink/dedup"
)

// Pages that need different clusters do not wait for each other. Pages that need a common cluster
// do, and release what they hold before they wait for more. A page that needs all clusters waits for
// all others.
func TestElectingClusters(t *testing.T) {
	e := newElecting()
	one, two := &right{locks: e}, &right{locks: e}
	one.take(dedup.Hash{1})
	two.take(dedup.Hash{2})
	if one.covers(dedup.Hash{2}) || !one.covers(dedup.Hash{1}) || one.covers(dedup.Hash{1}, dedup.Hash{3}) {
		t.Error("a page covers what it does not hold")
	}
	if e.all.TryLock() {
		t.Error("all clusters are given, although two are held")
	}
	one.release()
	two.release()

	const pages, clusters = 8, 3
	var all sync.WaitGroup
	var users [clusters]int // each guarded by the lock of its cluster
	for page := range pages {
		all.Go(func() {
			for i := range 200 {
				r := &right{locks: e}
				a, b := (page+i)%clusters, (page*i+1)%clusters
				r.take(dedup.Hash{byte(a)})
				users[a]++
				r.take(dedup.Hash{byte(b)}, dedup.Hash{byte(a)})
				users[b]++
				if i%50 == 0 {
					r.takeAll()
					for c := range users {
						users[c]++
					}
				}
				r.release()
			}
		})
	}
	all.Wait()
	got := 0
	for _, n := range users {
		got += n
	}
	if want := pages * (2*200 + clusters*200/50); got != want {
		t.Errorf("%d changes under the locks, want %d", got, want)
	}
	if len(e.held) > 0 || !e.all.TryLock() {
		t.Errorf("%d clusters are still held", len(e.held))
	}
}
