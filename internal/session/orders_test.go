package session

import (
	"context"
	"sync"
	"testing"
	"time"

	"skink/internal/tools/storetest"
)

// Orders given at the same time all arrive, and only the last about a subject is kept.
func TestGive(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.NewMemory()
	give := func(o Order) {
		if err := Give(ctx, s, o); err != nil {
			t.Error(err)
		}
	}
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() { give(Order{Verb: OrderBlock, Of: string(rune('a' + i)), At: time.Unix(int64(i), 0)}) })
	}
	wait.Wait()
	for _, o := range []Order{
		{Verb: OrderPause}, {Verb: OrderDelay, Of: "b", Value: "5s"}, {Verb: OrderDelay, Of: "b", Value: "1s"}, {Verb: OrderResume},
		{Verb: OrderUnblock, Of: "a"}, {Verb: OrderExclude, Of: "x"}, {Verb: OrderExclude, Of: "y"}, {Verb: OrderExclude, Of: "x", Withdrawn: true},
	} {
		give(o)
	}
	all, err := ReadOrders(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	now, err := standing(all)
	if err != nil || now.Paused || len(now.Blocked) != 19 || now.Delay["b"] != time.Second || len(now.Exclude) != 1 || now.Exclude[0].String() != "y" {
		t.Errorf("%d orders mean %+v, %v", len(all), now, err)
	}
}
