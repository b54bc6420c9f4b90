package batcher_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"skink/base/batcher"
)

// Each concurrent call gets the answers to its own questions, and only one batch runs at a time.
func TestAsk(t *testing.T) {
	refused := errors.New("refused")
	var running sync.Mutex
	b := batcher.New(func(calls [][]int) (all [][]int, err error) {
		if !running.TryLock() {
			t.Error("two batches run at once")
		}
		defer running.Unlock()
		n := 0
		for _, c := range calls {
			n += len(c)
			var answers []int
			for _, q := range c {
				answers = append(answers, -q)
			}
			if all = append(all, answers); slices.Contains(c, 0) {
				err = refused
			}
		}
		if n > batcher.MaxTogether && len(calls) > 1 {
			t.Errorf("%d calls have %d questions", len(calls), n)
		}
		return all, err
	})
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			asks := make([]int, i)
			for j := range asks {
				asks[j] = i
			}
			ctx := context.Background()
			if i%2 == 0 { // a call that can be left early does not run the batch itself
				ctx = t.Context()
			}
			got, err := b.Ask(ctx, asks)
			if err != nil || len(got) != i || i > 0 && got[i-1] != -i {
				t.Errorf("call %d: %v, %v", i, got, err)
			}
		})
	}
	group.Wait()
	if _, err := b.Ask(context.Background(), []int{0}); !errors.Is(err, refused) {
		t.Errorf("a refused call: %v", err)
	}
}

// Questions are asked together, up to a maximum, and each gets its own answer. The last ones do not
// wait for more.
func TestGatherer(t *testing.T) {
	refused, largest := errors.New("refused"), 0
	var mu sync.Mutex
	g := batcher.NewGatherer(func(_ context.Context, asks []int) (answers []int, err error) {
		mu.Lock()
		defer mu.Unlock()
		largest = max(largest, len(asks))
		for _, q := range asks {
			if answers = append(answers, -q); q == 0 {
				err = refused
			}
		}
		return answers, err
	})
	var group sync.WaitGroup
	for i := range 203 {
		group.Go(func() {
			if got, err := g.Ask(t.Context(), i+1); got != -i-1 || err != nil {
				t.Errorf("question %d: %d, %v", i+1, got, err)
			}
		})
	}
	group.Wait()
	if largest < 2 || largest > 16 {
		t.Errorf("up to %d questions are asked together, want 2 to 16", largest)
	}
	if _, err := g.Ask(t.Context(), 0); !errors.Is(err, refused) {
		t.Errorf("a refused question: %v", err)
	}
}
