package ingest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"skink/internal/tools/storetest"
	"skink/store"
	"skink/store/precedence"
)

// A countingStore counts the questions about equal and similar pages.
type countingStore struct {
	store.Store
	lookups atomic.Int64
}

func (s *countingStore) Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error) {
	s.lookups.Add(1)
	return s.Store.Lookup(ctx, asks)
}

// If a leader gets another text, its copies are judged again in batches. So the number of lookups
// grows with the number of copies, and not with its square.
func TestCopiesAreJudgedInBatches(t *testing.T) {
	const copies = 300
	for _, contained := range []float64{0, .9} {
		s := &countingStore{Store: storetest.NewMemory()}
		opt := testOptions(t)
		opt.Order, opt.Rule.Contained = new(precedence.Order), contained
		p := start(t, s, opt)
		defer p.Close()
		for i := range copies + 1 {
			handle(t, p, article(fmt.Sprintf("https://h%d.example/", i), words(1, 100)))
		}
		before := s.lookups.Load()
		handle(t, p, again(article("https://h0.example/", words(2, 100)), 1))
		if n := s.lookups.Load() - before; n > 2*copies {
			t.Errorf("containment %v: %d lookups for %d copies", contained, n, copies)
		}
		if tally, err := s.Tally(t.Context()); err != nil || tally.Unique != 2 || tally.Exact != copies-1 {
			t.Errorf("containment %v: %d unique, %d exact, %v", contained, tally.Unique, tally.Exact, err)
		}
	}
}
