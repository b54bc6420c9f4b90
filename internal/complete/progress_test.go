package complete

import (
	"context"
	"testing"

	"skink/internal/tools/storetest"
	"skink/store"
)

// The reported share must never decrease, and must be near 1 at the end.
func TestProgress(t *testing.T) {
	rule := defaultRule(t)
	s := storetest.NewMemory()
	for p := range generated(2000) {
		if _, err := s.Commit(context.Background(), []*store.Entry{p.entry(rule)}); err != nil {
			t.Fatal(err)
		}
	}
	last, told := 0.0, 0
	opt := Options{Rule: rule, Progress: func(share float64) {
		if share < last || share > 1 {
			t.Errorf("after %v: %v", last, share)
		}
		last = share
		told++
	}}
	if _, err := FindAlike(context.Background(), s, opt, EachTwentieth(rule.Similarity)...); err != nil {
		t.Fatal(err)
	}
	if told < 10 || last < 0.9 {
		t.Errorf("told %d times, %v at last", told, last)
	}
}
