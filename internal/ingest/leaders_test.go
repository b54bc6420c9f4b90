package ingest

import (
	"slices"
	"testing"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/store"
)

// A leader that was cached when it was committed is equal to the one that the cache would read from
// the store.
func TestLeadersThatWereJustCommitted(t *testing.T) {
	s := storetest.NewMemory()
	p := start(t, s, testOptions(t))
	defer p.Close()
	first, again := judgedFile(t, p, "first", words(1, 100), false), judgedFile(t, p, "again", words(1, 100), false)
	shingles := slices.Clone(first.reading.shingles.list)
	if err := p.commitInOrder(t.Context(), []*file{first, again}); err != nil {
		t.Fatal(err)
	}
	r := &first.judgement.record
	if other := again.judgement.record.Verdict; r.Verdict != dedup.Unique || other != dedup.Exact {
		t.Errorf("verdicts %s and %s, want unique and exact", r.Verdict, other)
	}
	met := []store.Leader{{ID: r.ID, Hash: r.Hash}}
	held, err := p.judge.leaders.get(t.Context(), met)
	if err != nil {
		t.Fatal(err)
	}
	p.judge.leaders = newLeaderCache(s, p.opt.Rule, 1<<20)
	read, err := p.judge.leaders.get(t.Context(), met)
	if err != nil {
		t.Fatal(err)
	}
	if want := dedup.NewSet(shingles); !slices.Equal(held[0].set, want) || !slices.Equal(read[0].set, want) || held[0].url != read[0].url {
		t.Errorf("held %d shingles of %s, read %d of %s, want %d", len(held[0].set), held[0].url, len(read[0].set), read[0].url, len(want))
	}
}
