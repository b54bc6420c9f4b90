package store_test

import (
	"testing"
	"time"

	"skink/dedup"
	"skink/store"
)

// TestRevisitPriority checks that a page comes the sooner, the more often it has changed.
func TestRevisitPriority(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		changes int
		every   time.Duration
		leader  dedup.Hash
		want    int
	}{
		{"it has never changed", 0, day, dedup.Hash{}, 0},
		{"one change in a hundred days", 1, 100 * day, dedup.Hash{}, 0},
		{"one change in 40 days", 1, 40 * day, dedup.Hash{}, -1},
		{"a change each day", 1, day, dedup.Hash{}, -7},
		{"as many changes count alike", 16, day, dedup.Hash{}, -7},
		{"a change each hour", 16, time.Hour, dedup.Hash{}, -11},
		{"a change each second", 16, time.Second, dedup.Hash{}, -15},
		{"a duplicate waits for its leader", 16, time.Hour, dedup.HashOf([]byte("leader")), 0},
	} {
		r := store.Record{URL: "https://example.org/", ID: dedup.HashOf([]byte("https://example.org/"))}
		r.FetchedAt, r.Hash, r.Leader = now, dedup.HashOf([]byte{0}), c.leader
		for i := 1; i <= c.changes; i++ {
			r.Earlier = append(r.Earlier, store.Visit{At: now.Add(-time.Duration(i) * c.every), Hash: dedup.HashOf([]byte{byte(i)})})
		}
		if got := store.Revisit(&r, now, false).Priority; got != c.want {
			t.Errorf("%s: priority %d, want %d", c.name, got, c.want)
		}
		r.VisitedAt = now.Add(300 * day) // a visit without a change
		if got := store.Revisit(&r, now, false).Priority; got != c.want {
			t.Errorf("%s: after a visit without a change, priority %d, want %d", c.name, got, c.want)
		}
	}
}
