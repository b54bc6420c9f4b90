package memory_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"skink/internal/memory"
)

// Whichever shares are taken at the same time, together they never exceed the pool, and each call
// of Take returns. That includes calls that ask for more than the whole pool.
func TestPool(t *testing.T) {
	const size = 100
	pool := memory.NewPool(size)
	var held, most atomic.Int64
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			want := int64(i * 7 % 150)
			share, err := pool.Take(t.Context(), want)
			if err != nil {
				t.Error(err)
				return
			}
			got := min(want, size)
			if now := held.Add(got); now > size {
				t.Errorf("%d bytes of %d are held", now, size)
			} else if now > most.Load() {
				most.Store(now)
			}
			held.Add(-(got - got/2))
			share.Keep(got / 2)
			share.Keep(got) // a share never grows
			held.Add(-(got / 2))
			share.Release()
			share.Release()
		})
	}
	all.Wait()
	if _, err := pool.Take(t.Context(), size); err != nil {
		t.Errorf("not all came back: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pool.Take(ended, 1); err == nil {
		t.Error("a share was given when none was left")
	}
}

func TestNilPool(t *testing.T) {
	var pool *memory.Pool
	share, err := pool.Take(t.Context(), 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	share.Keep(1)
	share.Release()
}
