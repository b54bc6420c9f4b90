package store_test

import (
	"testing"

	"skink/dedup"
	"skink/store"
)

func TestDoubtful(t *testing.T) {
	leader := &store.Record{ID: dedup.Hash{1}, LeftWords: 10, LeftHash: dedup.Hash{10}}
	for _, c := range []struct {
		name   string
		record store.Record
		leader *store.Record
		want   bool
	}{
		{"much was left out of it", store.Record{Verdict: dedup.Exact, LeftWords: 51, LeftHash: dedup.Hash{51}}, leader, true},
		{"much was left out of its leader", store.Record{Verdict: dedup.Near}, &store.Record{LeftWords: 51, LeftHash: dedup.Hash{51}}, true},
		{"little was left out", store.Record{Verdict: dedup.Exact, LeftWords: 50, LeftHash: dedup.Hash{50}}, leader, false},
		{"the same was left out", store.Record{Verdict: dedup.Exact, LeftWords: 60, LeftHash: dedup.Hash{6}}, &store.Record{LeftWords: 60, LeftHash: dedup.Hash{6}}, false},
		{"it leads", store.Record{Verdict: dedup.Unique, LeftWords: 60, LeftHash: dedup.Hash{6}}, leader, false},
		{"its leader is not known", store.Record{Verdict: dedup.Exact, LeftWords: 60, LeftHash: dedup.Hash{6}}, nil, false},
	} {
		if c.record.Verdict != dedup.Unique {
			c.record.Leader = leader.ID
		}
		if got := c.record.Doubtful(c.leader, 50); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
