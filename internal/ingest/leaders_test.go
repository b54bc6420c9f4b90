package ingest

import (
	"slices"
	"testing"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/store"
)

// A file that repeats another file of its batch is judged again once the other is committed. The leader
// that the cache then has is that of the store.
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
	for range 2 { // from the store, and from the cache
		led, err := p.judge.leaders.get(t.Context(), []store.Leader{{ID: r.ID, Hash: r.Hash}})
		if err != nil {
			t.Fatal(err)
		}
		if want := dedup.NewSet(slices.Clone(shingles)); !slices.Equal(led[0].set, want) || led[0].url != r.URL {
			t.Errorf("%d shingles of %s, want %d of %s", len(led[0].set), led[0].url, len(want), r.URL)
		}
	}
}
