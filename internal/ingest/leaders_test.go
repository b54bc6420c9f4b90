package ingest

import (
	"slices"
	"testing"

	"skink/dedup"
	"skink/store"
)

// A leader that is held from when it was committed is the one that the store would give.
func TestLeadersThatWereJustCommitted(t *testing.T) {
	s := store.NewMemory()
	p := start(t, s, testOptions(t))
	defer p.Close()
	made := func(url string, n uint64) *subject {
		f := &file{subject: subject{record: store.Record{URL: url, ID: dedup.HashOf([]byte(url)), Kind: store.Page}}}
		text := words(n, 100)
		p.sketch(&f.subject, text)
		f.pack(text, "")
		return &f.subject
	}
	first, again := made("first", 1), made("again", 1)
	shingles := slices.Clone(first.shingles)
	if err := p.judge(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if err := p.judge(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if err := p.commitInOrder(t.Context(), []*subject{first, again}); err != nil {
		t.Fatal(err)
	}
	if first.record.Verdict != dedup.Unique || again.record.Verdict != dedup.Exact {
		t.Errorf("verdicts %s and %s, want unique and exact", first.record.Verdict, again.record.Verdict)
	}
	met := []store.Leader{{ID: first.record.ID, Hash: first.record.Hash}}
	held, err := p.leaders.get(t.Context(), met)
	if err != nil {
		t.Fatal(err)
	}
	p.leaders = newLeaderCache(s, p.opt.Rule, 1<<20)
	read, err := p.leaders.get(t.Context(), met)
	if err != nil {
		t.Fatal(err)
	}
	if want := dedup.NewSet(shingles); !slices.Equal(held[0].set, want) || !slices.Equal(read[0].set, want) || held[0].url != read[0].url {
		t.Errorf("held %d shingles of %s, read %d of %s, want %d", len(held[0].set), held[0].url, len(read[0].set), read[0].url, len(want))
	}
}
