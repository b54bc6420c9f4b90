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
