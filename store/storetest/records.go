package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"skink/dedup"
	"skink/store"
)

var numberPromises = []promise{
	{"start_at_1_and_rise", func(t *testing.T, s store.Store) {
		last := must(s.Next(ctx))(t)
		if last < 1 {
			t.Errorf("first number is %d", last)
		}
		for range 3000 {
			n := must(s.Next(ctx))(t)
			if n <= last {
				t.Fatalf("%d after %d", n, last)
			}
			last = n
		}
	}},
	{"never_twice_to_16_goroutines", func(t *testing.T, s store.Store) {
		given := make([][]uint64, 16)
		var wg sync.WaitGroup
		for i := range given {
			wg.Go(func() {
				for range 200 {
					n, err := s.Next(ctx)
					if err != nil {
						t.Error(err)
					}
					given[i] = append(given[i], n)
				}
			})
		}
		wg.Wait()
		seen := map[uint64]bool{}
		for _, list := range given {
			for _, n := range list {
				if seen[n] {
					t.Errorf("%d was given twice", n)
				}
				seen[n] = true
			}
		}
	}},
}

var recordPromises = []promise{
	{"unknown_is_nil", func(t *testing.T, s store.Store) {
		if r := must(s.Record(ctx, hashOf("nothing")))(t); r != nil {
			t.Errorf("Record = %+v, want nil", r)
		}
		if r := must(s.RecordAt(ctx, 1))(t); r != nil {
			t.Errorf("RecordAt = %+v, want nil", r)
		}
		equal(t, "records", collect(t, s.Records(ctx, 0)), []*store.Record(nil))
	}},
	{"every_field_comes_back", func(t *testing.T, s store.Store) {
		want := fullRecord(7, "https://example.com/?q=1&r=2")
		check(t, s.Commit(ctx, []*store.Entry{{Record: want}}))
		equal(t, "by id", must(s.Record(ctx, want.ID))(t), &want)
		equal(t, "by number", must(s.RecordAt(ctx, 7))(t), &want)
		equal(t, "all", collect(t, s.Records(ctx, 0)), []*store.Record{&want})
	}},
	{"what_was_returned_is_the_callers", func(t *testing.T, s store.Store) {
		check(t, s.Commit(ctx, []*store.Entry{page(1, "https://example.com/")}))
		must(s.RecordAt(ctx, 1))(t).Title = "changed"
		if got := must(s.RecordAt(ctx, 1))(t).Title; got != "" {
			t.Errorf("title is %q: a caller's change reached the store", got)
		}
	}},
	{"in_order_of_number_from_one_on", func(t *testing.T, s store.Store) {
		for _, n := range []uint64{5, 300, 2, 256, 9} {
			check(t, s.Commit(ctx, []*store.Entry{page(n, fmt.Sprintf("https://example.com/%d", n))}))
		}
		equal(t, "from 0", nums(collect(t, s.Records(ctx, 0))), []uint64{2, 5, 9, 256, 300})
		equal(t, "from 5", nums(collect(t, s.Records(ctx, 5))), []uint64{5, 9, 256, 300})
		equal(t, "from 6", nums(collect(t, s.Records(ctx, 6))), []uint64{9, 256, 300})
		equal(t, "from 301", nums(collect(t, s.Records(ctx, 301))), []uint64(nil))
	}},
	{"reads_and_writes_while_iterating", func(t *testing.T, s store.Store) {
		for n := uint64(1); n <= 50; n++ {
			e := page(n, fmt.Sprintf("https://example.com/%d", n))
			e.Text = store.Pack([]byte(e.Record.URL))
			check(t, s.Commit(ctx, []*store.Entry{e}))
		}
		seen := 0
		for r, err := range s.Records(ctx, 0) {
			check(t, err)
			if r.Num > 50 {
				break // written below, and allowed to be seen
			}
			seen++
			wantText(t, s, r.Num, r.URL, true)
			must(s.Record(ctx, r.ID))(t)
			check(t, s.Commit(ctx, []*store.Entry{copyOf(1, r.Num+1000, 0.9)}))
			for range s.Members(ctx, 1) {
				break
			}
		}
		if seen != 50 {
			t.Errorf("saw %d of 50 records", seen)
		}
	}},
	{"iterating_can_stop_early", func(t *testing.T, s store.Store) {
		for n := uint64(1); n <= 20; n++ {
			check(t, s.Commit(ctx, []*store.Entry{copyOf(1, n, 0.9)}))
		}
		for range s.Records(ctx, 0) {
			break
		}
		for range s.Members(ctx, 1) {
			break
		}
		for range s.Clusters(ctx) {
			break
		}
		for range s.Hosts(ctx) {
			break
		}
	}},
	{"iterating_ends_with_its_context", func(t *testing.T, s store.Store) {
		for n := uint64(1); n <= 20; n++ {
			check(t, s.Commit(ctx, []*store.Entry{copyOf(1, n, 0.9)}))
		}
		stopping, cancel := context.WithCancel(ctx)
		defer cancel()
		var last error
		seen := 0
		for _, err := range s.Records(stopping, 0) {
			cancel()
			last = err
			seen++
		}
		if !errors.Is(last, context.Canceled) || seen > 3 {
			t.Errorf("ended after %d with error %v, want %v at once", seen, last, context.Canceled)
		}
	}},
	{"tally_counts_each_once", func(t *testing.T, s store.Store) {
		var want store.Tally
		num := uint64(0)
		add := func(change func(*store.Record)) {
			num++
			e := page(num, fmt.Sprintf("https://example.com/%d", num))
			change(&e.Record)
			want.Add(&e.Record)
			check(t, s.Commit(ctx, []*store.Entry{e, e}))
		}
		add(func(r *store.Record) {})
		add(func(r *store.Record) { r.Verdict = dedup.Exact; r.NoText = true })
		add(func(r *store.Record) { r.Verdict = dedup.Near; r.Capped = true })
		add(func(r *store.Record) { r.Verdict = dedup.Thin })
		add(func(r *store.Record) { r.Kind = store.Other })
		add(func(r *store.Record) { r.Kind = store.Redirect })
		add(func(r *store.Record) { r.Kind = store.Blocked })
		add(func(r *store.Record) { r.Kind = store.Skipped })
		add(func(r *store.Record) { r.Kind = store.Error; r.Problem = "timeout" })
		add(func(r *store.Record) { r.Kind = store.Error; r.Problem = "timeout" })
		add(func(r *store.Record) { r.Kind = store.Error; r.Problem = "status 404" })
		got := must(s.Tally(ctx))(t)
		equal(t, "tally", got, want)
		got.Problems["timeout"] = 77
		equal(t, "tally after a caller changed his", must(s.Tally(ctx))(t), want)
	}},
}

var contentPromises = []promise{
	{"none_until_committed", func(t *testing.T, s store.Store) {
		check(t, s.Commit(ctx, []*store.Entry{page(1, "https://example.com/")}))
		for num := range uint64(3) {
			wantText(t, s, num, "", false)
			if _, found, err := s.Sketch(ctx, num); err != nil || found {
				t.Errorf("Sketch(%d): found %v, error %v", num, found, err)
			}
			if raw := must(s.Raw(ctx, num))(t); raw != nil {
				t.Errorf("Raw(%d) = %+v", num, raw)
			}
		}
	}},
	{"texts_of_any_length", func(t *testing.T, s store.Store) {
		// Empty is not none; the long ones are more than a back end may want to
		// write at once, and the middle ones around where it may cut.
		for i, size := range []int{0, 1, 1000, 512<<10 - 100, 512 << 10, 1 << 20, 5 << 20} {
			num, text := uint64(i+1), noise(uint64(i), size)
			e := page(num, fmt.Sprintf("https://example.com/%d", size))
			e.Text = store.Pack(text)
			check(t, s.Commit(ctx, []*store.Entry{e}))
			wantText(t, s, num, string(text), true)
		}
	}},
	{"a_sketch_comes_back", func(t *testing.T, s store.Store) {
		var want dedup.Sketch
		for i := range want {
			want[i] = uint32(i) * 0x9E3779B9
		}
		e := page(1, "https://example.com/")
		e.Sketch = &want
		check(t, s.Commit(ctx, []*store.Entry{e}))
		got, found, err := s.Sketch(ctx, 1)
		check(t, err)
		if !found || got != want {
			t.Errorf("Sketch = %v, %v", got, found)
		}
	}},
	{"an_exchange_comes_back", func(t *testing.T, s store.Store) {
		for i, size := range []int{10, 3 << 20} {
			e := page(uint64(i+1), fmt.Sprintf("https://example.com/%d", i))
			e.Raw = &store.Raw{
				Request:  []byte("GET / HTTP/1.1\r\n\r\n"),
				Response: []byte("HTTP/1.1 200 OK\r\n\r\n"),
				Body:     noise(uint64(i), size),
				SHA256:   [32]byte{1, 2, 31: 3},
			}
			check(t, s.Commit(ctx, []*store.Entry{e}))
			equal(t, "raw", must(s.Raw(ctx, uint64(i+1)))(t), e.Raw)
		}
	}},
	{"meta_is_nil_until_set", func(t *testing.T, s store.Store) {
		if v := must(s.Meta(ctx, "name"))(t); v != nil {
			t.Errorf("Meta = %q, want nil", v)
		}
		if set := must(store.ReadSettings(ctx, s))(t); set != nil {
			t.Errorf("settings of a new store: %+v", set)
		}
	}},
	{"meta_keeps_the_last_value", func(t *testing.T, s store.Store) {
		check(t, s.SetMeta(ctx, "name", []byte("one")))
		check(t, s.SetMeta(ctx, "name", []byte("two")))
		check(t, s.SetMeta(ctx, "name2", nil))
		equal(t, "name", must(s.Meta(ctx, "name"))(t), []byte("two"))
		equal(t, "name2", must(s.Meta(ctx, "name2"))(t), []byte{})
	}},
	{"settings_come_back", func(t *testing.T, s store.Store) {
		want := store.Settings{Format: 1, Form: "plain", Unit: "word", Shingle: 10, Similarity: 0.8, Scheme: "bands", MinWords: 50}
		check(t, store.WriteSettings(ctx, s, want))
		equal(t, "settings", must(store.ReadSettings(ctx, s))(t), &want)
	}},
	{"a_cancelled_context_writes_nothing", func(t *testing.T, s store.Store) {
		stopped, cancel := context.WithCancel(ctx)
		cancel()
		if err := s.Commit(stopped, []*store.Entry{page(1, "https://example.com/")}); !errors.Is(err, context.Canceled) {
			t.Errorf("Commit: %v", err)
		}
		if _, err := s.Discover(stopped, numbered("example.com", 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("Discover: %v", err)
		}
		if err := s.Block(stopped, "example.com", time.Now()); !errors.Is(err, context.Canceled) {
			t.Errorf("Block: %v", err)
		}
		if r := must(s.RecordAt(ctx, 1))(t); r != nil {
			t.Errorf("a record was written: %+v", r)
		}
		discover(t, s, 1, numbered("example.com", 1)) // and the store still works
	}},
}
