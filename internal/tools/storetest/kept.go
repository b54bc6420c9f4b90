package storetest

import (
	"bytes"
	"sync"
	"testing"

	"skink/store"
)

var keptPromises = []promise{
	{"nothing_is_kept_at_first", func(t *testing.T, s store.Store) {
		equal(t, "kept", must(s.Kept(ctx, "name"))(t), []byte(nil))
		check(t, s.SetMeta(ctx, "name", []byte("a named value is another")))
		equal(t, "kept", must(s.Kept(ctx, "name"))(t), []byte(nil))
	}},
	{"the_last_value_is_kept", func(t *testing.T, s store.Store) {
		check(t, s.Keep(ctx, "name", []byte("a longer one")))
		check(t, s.Keep(ctx, "name", []byte("two")))
		check(t, s.Keep(ctx, "name-of-another", []byte("three")))
		check(t, s.Keep(ctx, "empty", nil))
		equal(t, "kept", must(s.Kept(ctx, "name"))(t), []byte("two"))
		equal(t, "beside", must(s.Kept(ctx, "name-of-another"))(t), []byte("three"))
		equal(t, "empty", must(s.Kept(ctx, "empty"))(t), []byte{})
		equal(t, "meta", must(s.Meta(ctx, "name"))(t), []byte(nil))
	}},
	{"large_values_come_back_whole", func(t *testing.T, s store.Store) {
		for _, size := range []int{256<<10 - 1, 256 << 10, 256<<10 + 1, 3<<20 + 7} {
			value := make([]byte, size)
			for i := range value {
				value[i] = byte(i * i >> 7)
			}
			check(t, s.Keep(ctx, "name", value))
			if got := must(s.Kept(ctx, "name"))(t); !bytes.Equal(got, value) {
				t.Errorf("of %d bytes %d others came back", size, len(got))
			}
		}
	}},
	{"of_values_kept_at_once_one_stays", func(t *testing.T, s store.Store) {
		value := func(n int) []byte { return bytes.Repeat([]byte{byte(n)}, 300<<10) }
		check(t, s.Keep(ctx, "name", value(0)))
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() {
				for range 5 {
					_ = s.Keep(ctx, "name", value(n)) // may fail if another goroutine writes at the same time
					got, err := s.Kept(ctx, "name")
					if err != nil || len(got) > 0 && !bytes.Equal(got, value(int(got[0]))) {
						t.Errorf("Kept = %d bytes, %v: not one of the values", len(got), err)
					}
				}
			})
		}
		all.Wait()
		if got := must(s.Kept(ctx, "name"))(t); len(got) != 300<<10 {
			t.Errorf("%d bytes are kept at the end", len(got))
		}
	}},
}
