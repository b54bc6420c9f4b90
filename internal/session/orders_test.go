package session

import (
	"context"
	"sync"
	"testing"
	"time"

	"skink/internal/tools/storetest"
	"skink/store"
)

// Orders given at the same time all arrive, and only the last about a subject is kept.
func TestGive(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.NewMemory()
	give := func(o store.Order) {
		if err := store.Give(ctx, s, o); err != nil {
			t.Error(err)
		}
	}
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			give(store.Order{Verb: store.OrderBlock, Of: string(rune('a' + i)), At: time.Unix(int64(i), 0)})
		})
	}
	wait.Wait()
	for _, o := range []store.Order{
		{Verb: store.OrderPause}, {Verb: store.OrderDelay, Of: "b", Value: "5s"}, {Verb: store.OrderDelay, Of: "b", Value: "1s"}, {Verb: store.OrderResume},
		{Verb: store.OrderUnblock, Of: "a"}, {Verb: store.OrderExclude, Of: "x"}, {Verb: store.OrderExclude, Of: "y"}, {Verb: store.OrderExclude, Of: "x", Withdrawn: true},
	} {
		give(o)
	}
	all, err := store.ReadOrders(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	now, err := standing(all)
	if err != nil || now.Paused || len(now.Blocked) != 19 || now.Delay["b"] != time.Second || len(now.Exclude) != 1 || now.Exclude[0].String() != "y" {
		t.Errorf("%d orders mean %+v, %v", len(all), now, err)
	}
}
