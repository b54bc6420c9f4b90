package store_test

import (
	"testing"

	"skink/dedup"
	"skink/store"
)

func TestDoubtful(t *testing.T) {
	leader := &store.Record{ID: dedup.Hash{1}, Fetch: store.Fetch{LeftWords: 10, LeftHash: dedup.Hash{10}}}
	for _, c := range []struct {
		name   string
		record store.Record
		leader *store.Record
		want   bool
	}{
		{"much was left out of it", store.Record{Judged: store.Judged{Verdict: dedup.Exact}, Fetch: store.Fetch{LeftWords: 51, LeftHash: dedup.Hash{51}}}, leader, true},
		{"much was left out of its leader", store.Record{Judged: store.Judged{Verdict: dedup.Near}}, &store.Record{Fetch: store.Fetch{LeftWords: 51, LeftHash: dedup.Hash{51}}}, true},
		{"little was left out", store.Record{Judged: store.Judged{Verdict: dedup.Exact}, Fetch: store.Fetch{LeftWords: 50, LeftHash: dedup.Hash{50}}}, leader, false},
		{"the same was left out", store.Record{Judged: store.Judged{Verdict: dedup.Exact}, Fetch: store.Fetch{LeftWords: 60, LeftHash: dedup.Hash{6}}}, &store.Record{Fetch: store.Fetch{LeftWords: 60, LeftHash: dedup.Hash{6}}}, false},
		{"it leads", store.Record{Judged: store.Judged{Verdict: dedup.Unique}, Fetch: store.Fetch{LeftWords: 60, LeftHash: dedup.Hash{6}}}, leader, false},
		{"its leader is not known", store.Record{Judged: store.Judged{Verdict: dedup.Exact}, Fetch: store.Fetch{LeftWords: 60, LeftHash: dedup.Hash{6}}}, nil, false},
	} {
		if c.record.Verdict != dedup.Unique {
			c.record.Leader = leader.ID
		}
		if got := c.record.Doubtful(c.leader, 50); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
