package storetest

import (
	"fmt"
	"testing"

	"skink/dedup"
	"skink/store"
)

var lookupPromises = []promise{
	{"a_text_hash_finds_its_lowest_number", func(t *testing.T, s store.Store) {
		h := hashOf("a text")
		wantByHash(t, s, h, 0)
		for i, step := range []struct{ num, want uint64 }{{40, 40}, {50, 40}, {30, 30}, {45, 30}} {
			e := page(step.num, fmt.Sprintf("https://example.com/%d", i))
			e.Hash = h
			check(t, s.Commit(ctx, []*store.Entry{e}))
			wantByHash(t, s, h, step.want)
		}
		wantByHash(t, s, hashOf("another text"), 0)
	}},
	{"the_lowest_number_of_one_commit", func(t *testing.T, s store.Store) {
		a, b := page(2, "https://example.com/a"), page(1, "https://example.com/b")
		a.Hash, b.Hash = hashOf("a text"), hashOf("a text")
		check(t, s.Commit(ctx, []*store.Entry{a, b}))
		wantByHash(t, s, a.Hash, 1)
	}},
	{"no_text_hash_is_found_nowhere", func(t *testing.T, s store.Store) {
		e := page(1, "https://example.com/")
		e.Record.Hash = hashOf("a text") // what the page has, not what it leads
		check(t, s.Commit(ctx, []*store.Entry{e}))
		wantByHash(t, s, e.Record.Hash, 0)
		wantByHash(t, s, dedup.Hash{}, 0)
	}},
	{"leaders_come_lowest_first", func(t *testing.T, s store.Store) {
		for _, n := range []uint64{7, 3, 300, 5, 65536} {
			e := page(n, fmt.Sprintf("https://example.com/%d", n))
			e.Keys = []uint64{42, n}
			check(t, s.Commit(ctx, []*store.Entry{e}))
		}
		equal(t, "key 42", leaders(t, s, 42), []uint64{3, 5, 7, 300, 65536})
		equal(t, "key 300", leaders(t, s, 300), []uint64{300})
		equal(t, "key 43", leaders(t, s, 43), []uint64(nil))
	}},
	{"leaders_stop_at_the_limit_and_say_so", func(t *testing.T, s store.Store) {
		for n := uint64(1); n <= 4; n++ {
			e := page(n, fmt.Sprintf("https://example.com/%d", n))
			e.Keys = []uint64{42}
			check(t, s.Commit(ctx, []*store.Entry{e}))
		}
		for _, tt := range []struct {
			limit int
			want  []uint64
			more  bool
		}{
			{0, []uint64{99}, true},
			{1, []uint64{99, 1}, true},
			{3, []uint64{99, 1, 2, 3}, true},
			{4, []uint64{99, 1, 2, 3, 4}, false},
			{5, []uint64{99, 1, 2, 3, 4}, false},
		} {
			got, more, err := s.Leaders(ctx, 42, tt.limit, []uint64{99})
			check(t, err)
			equal(t, fmt.Sprintf("limit %d", tt.limit), got, tt.want)
			equal(t, fmt.Sprintf("limit %d, more", tt.limit), more, tt.more)
		}
		got, more, err := s.Leaders(ctx, 43, 1, []uint64{99})
		check(t, err)
		equal(t, "of nothing", got, []uint64{99})
		equal(t, "of nothing, more", more, false)
	}},
	{"the_lowest_leaders_of_many_in_whatever_order_they_came", func(t *testing.T, s store.Store) {
		const pages = 300
		var lowest []uint64
		for i := range uint64(pages) {
			n := 1 + i*77%pages // each once
			e := page(n, fmt.Sprintf("https://example.com/%d", n))
			e.Keys = []uint64{42, 1000 + n}
			check(t, s.Commit(ctx, []*store.Entry{e}))
			lowest = append(lowest, i+1)
		}
		for _, limit := range []int{1, 10, pages - 1, pages} {
			got, more, err := s.Leaders(ctx, 42, limit, nil)
			check(t, err)
			equal(t, fmt.Sprintf("limit %d", limit), got, lowest[:limit])
			equal(t, fmt.Sprintf("limit %d, more", limit), more, limit < pages)
		}
	}},
	{"a_key_given_twice_is_posted_once", func(t *testing.T, s store.Store) {
		e := page(1, "https://example.com/")
		e.Keys = []uint64{42, 42, 0, 1<<64 - 1}
		check(t, s.Commit(ctx, []*store.Entry{e}))
		for _, key := range e.Keys {
			equal(t, fmt.Sprintf("key %d", key), leaders(t, s, key), []uint64{1})
		}
	}},
	{"neighbouring_keys_do_not_mix", func(t *testing.T, s store.Store) {
		for n := uint64(1); n <= 600; n++ {
			e := page(n, fmt.Sprintf("https://example.com/%d", n))
			e.Keys = []uint64{n, n << 8, n << 56}
			check(t, s.Commit(ctx, []*store.Entry{e}))
		}
		equal(t, "key 255", leaders(t, s, 255), []uint64{255})
		equal(t, "key 512", leaders(t, s, 512), []uint64{2, 512})
		equal(t, "key 1<<56", leaders(t, s, 1<<56), []uint64{1, 257, 513})
	}},
}

var clusterPromises = []promise{
	{"largest_first_then_lower_number", func(t *testing.T, s store.Store) {
		num := uint64(1000)
		for _, c := range []store.Cluster{{Leader: 9, Members: 2}, {Leader: 300, Members: 3}, {Leader: 4, Members: 2}, {Leader: 5, Members: 1}} {
			for range c.Members {
				num++
				check(t, s.Commit(ctx, []*store.Entry{copyOf(c.Leader, num, 0.9)}))
			}
		}
		equal(t, "clusters", collect(t, s.Clusters(ctx)), []store.Cluster{{Leader: 300, Members: 3}, {Leader: 4, Members: 2}, {Leader: 9, Members: 2}, {Leader: 5, Members: 1}})
	}},
	{"a_leader_without_members_is_none", func(t *testing.T, s store.Store) {
		e := page(1, "https://example.com/")
		e.Record.Leader = 1 // itself
		check(t, s.Commit(ctx, []*store.Entry{e, page(2, "https://example.com/2")}))
		equal(t, "clusters", collect(t, s.Clusters(ctx)), []store.Cluster(nil))
		equal(t, "members", collect(t, s.Members(ctx, 1)), []*store.Record(nil))
	}},
	{"most_alike_first_then_lower_number", func(t *testing.T, s store.Store) {
		check(t, s.Commit(ctx, []*store.Entry{page(1, "https://example.com/")}))
		for _, m := range []struct {
			num         uint64
			resemblance float64
		}{{10, 0.9}, {11, 1}, {12, 0.8123456789}, {13, 0.81234567891}, {300, 0.9}, {14, 0}, {9, 0.9}} {
			check(t, s.Commit(ctx, []*store.Entry{copyOf(1, m.num, m.resemblance)}))
		}
		check(t, s.Commit(ctx, []*store.Entry{copyOf(2, 15, 1)}))
		equal(t, "members", nums(collect(t, s.Members(ctx, 1))), []uint64{11, 9, 10, 300, 13, 12, 14})
		for r, err := range s.Members(ctx, 1) {
			check(t, err)
			want := must(s.RecordAt(ctx, r.Num))(t)
			equal(t, "member", r, want)
		}
	}},
}
