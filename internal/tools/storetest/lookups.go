package storetest

import (
	"fmt"
	"slices"
	"testing"

	"skink/dedup"
	"skink/store"
)

var lookupPromises = []promise{
	{"of_nothing", func(t *testing.T, s store.Store) {
		equal(t, "answers", len(must(s.Lookup(ctx, nil))(t)), 0)
		if found := lookup(t, s, store.Ask{}); found.Copy != nil || len(found.Leaders) > 0 || found.Capped() {
			t.Errorf("found %+v", found)
		}
	}},
	{"a_text_finds_its_earliest_page", func(t *testing.T, s store.Store) {
		h := hashOf("a text")
		wantCopy(t, s, h, "")
		for n := range 4 {
			e := page(urlOf(n))
			e.Hash = h
			commit(t, s, e)
			wantCopy(t, s, h, urlOf(0))
		}
		wantCopy(t, s, hashOf("another text"), "")
	}},
	{"the_earliest_of_one_commit", func(t *testing.T, s store.Store) {
		a, b := page(urlOf(2)), page(urlOf(1))
		a.Hash, b.Hash = hashOf("a text"), hashOf("a text")
		commit(t, s, a, b)
		wantCopy(t, s, a.Hash, urlOf(2))
	}},
	{"the_earliest_of_several_texts", func(t *testing.T, s store.Store) {
		for n, text := range []string{"one", "two", "three"} {
			e := page(urlOf(n))
			e.Hash = hashOf(text)
			commit(t, s, e)
		}
		found := lookup(t, s, store.Ask{Hashes: hashesOf("three", "two", "four")})
		equal(t, "copy", found.Copy.URL, urlOf(1))
	}},
	{"the_leader_that_a_copy_follows_comes_with_it", func(t *testing.T, s store.Store) {
		followed := func(text string) *store.Record {
			found := lookup(t, s, store.Ask{ID: hashOf(urlOf(9)), Hashes: hashesOf(text)})
			if found.Copy == nil {
				t.Fatalf("no page has the text %q", text)
			}
			return found.Followed
		}
		commit(t, s, page(urlOf(1)), full(urlOf(3), "lost"))
		member := copyOf(urlOf(1), urlOf(2), .9)
		member.Hash = hashOf("two")
		commit(t, s, member)
		leader := page(urlOf(4))
		leader.Hash = hashOf("four")
		commit(t, s, leader)
		equal(t, "of a copy that follows a page", followed("two"), &known(t, s, urlOf(1), store.WantRecord).Record)
		equal(t, "of one that leads", followed("four"), (*store.Record)(nil))
		equal(t, "of one whose leader is not in the store", followed("lost"), (*store.Record)(nil))

		again := page(urlOf(1))
		again.Revisit, again.Record.Title = true, "the second visit"
		commit(t, s, again)
		equal(t, "once the leader was visited again", followed("two"), &known(t, s, urlOf(1), store.WantRecord).Record)
	}},
	{"no_text_is_found_nowhere", func(t *testing.T, s store.Store) {
		e := page(urlOf(1))
		e.Record.Hash = hashOf("a text") // the record has this text hash, but Entry.Hash is zero, so copies do not find the page
		commit(t, s, e)
		wantCopy(t, s, e.Record.Hash, "")
		wantCopy(t, s, dedup.Hash{}, "")
	}},
	{"where_there_is_a_copy_nobody_looks_for_leaders", func(t *testing.T, s store.Store) {
		commit(t, s, full(urlOf(1), "one"))
		ask := askKeys(keyOf("one"))
		ask.Hashes = hashesOf("one")
		found := lookup(t, s, ask)
		equal(t, "copy", found.Copy.URL, urlOf(1))
		equal(t, "leaders", len(found.Leaders), 0)
	}},
	{"leaders_come_in_the_order_of_commits", func(t *testing.T, s store.Store) {
		for n := range 5 {
			e := full(urlOf(9-n), fmt.Sprint(n))
			e.Keys = []uint64{42, uint64(n)}
			commit(t, s, e)
		}
		equal(t, "key 42", leaders(t, s, 42), hashesOf(urlOf(9), urlOf(8), urlOf(7), urlOf(6), urlOf(5)))
		equal(t, "key 3", leaders(t, s, 3), hashesOf(urlOf(6)))
		equal(t, "key 43", leaders(t, s, 43), []dedup.Hash(nil))
	}},
	{"leaders_come_with_sketch_and_text_hash", func(t *testing.T, s store.Store) {
		commit(t, s, full(urlOf(1), "one"))
		equal(t, "leaders", lookup(t, s, askKeys(keyOf("one"))).Leaders, []store.Leader{{ID: hashOf(urlOf(1)), Hash: hashOf("one"), Sketch: *sketchOf("one"), Shared: 1}})
	}},
	{"leaders_under_several_keys_come_once", func(t *testing.T, s store.Store) {
		commit(t, s, full(urlOf(1), "one"), full(urlOf(2), "two"))
		all := askKeys(keyOf("two"), keyOf("one"), keyOf("one")+1, 77)
		found := lookup(t, s, all).Leaders
		equal(t, "leaders", idsOf(found), hashesOf(urlOf(1), urlOf(2)))
		equal(t, "shared keys", []int{found[0].Shared, found[1].Shared}, []int{2, 1})
		all.Meet = 2
		equal(t, "met twice", idsOf(lookup(t, s, all).Leaders), hashesOf(urlOf(1)))
		all.Meet = 3
		equal(t, "met thrice", idsOf(lookup(t, s, all).Leaders), []dedup.Hash(nil))
	}},
	// These pages are like those of a site with a single template. Each page shares keys with many
	// others, and only the last few have both keys that are looked up.
	{"of_many_leaders_those_come_that_share_the_most_keys", func(t *testing.T, s store.Store) {
		const many, near = dedup.MaxMet + 100, 5
		var all []*store.Entry
		var want []dedup.Hash
		for n := range many {
			e := full(urlOf(n), fmt.Sprint(n))
			e.Keys = []uint64{uint64(40 + n%2)}
			if n >= many-near {
				e.Keys = []uint64{40, 41}
			}
			if n < dedup.MaxMet-near || n >= many-near {
				want = append(want, hashOf(urlOf(n)))
			}
			all = append(all, e)
		}
		for some := range slices.Chunk(all, 100) {
			commit(t, s, some...)
		}
		equal(t, "leaders", idsOf(lookup(t, s, askKeys(40, 41)).Leaders), want)
	}},
	{"leaders_stop_at_the_limit_and_say_so", func(t *testing.T, s store.Store) {
		for n := range 4 {
			e := full(urlOf(n), fmt.Sprint(n))
			e.Keys = []uint64{42}
			commit(t, s, e)
		}
		for _, tt := range []struct {
			limit int
			want  []dedup.Hash
			full  bool
		}{
			{0, nil, true},
			{1, hashesOf(urlOf(0)), true},
			{3, hashesOf(urlOf(0), urlOf(1), urlOf(2)), true},
			{4, hashesOf(urlOf(0), urlOf(1), urlOf(2), urlOf(3)), false},
			{5, hashesOf(urlOf(0), urlOf(1), urlOf(2), urlOf(3)), false},
		} {
			found := lookup(t, s, store.Ask{Keys: []uint64{43, 42}, Limit: tt.limit})
			equal(t, fmt.Sprintf("limit %d", tt.limit), idsOf(found.Leaders), tt.want)
			equal(t, fmt.Sprintf("limit %d, full", tt.limit), found.Full, []bool{false, tt.full})
		}
	}},
	{"the_earliest_leaders_of_many", func(t *testing.T, s store.Store) {
		const pages = 300
		var all []string
		for n := range pages {
			e := full(urlOf(n), fmt.Sprint(n))
			e.Keys = []uint64{42, uint64(1000 + n)}
			commit(t, s, e)
			all = append(all, urlOf(n))
		}
		for _, limit := range []int{1, 10, pages - 1, pages} {
			found := lookup(t, s, store.Ask{Keys: []uint64{42}, Limit: limit})
			equal(t, fmt.Sprintf("limit %d", limit), idsOf(found.Leaders), hashesOf(all[:limit]...))
			equal(t, fmt.Sprintf("limit %d, full", limit), found.Capped(), limit < pages)
		}
	}},
	{"a_key_given_twice_is_posted_once", func(t *testing.T, s store.Store) {
		e := full(urlOf(1), "one")
		e.Keys = []uint64{42, 42, 0, 1<<64 - 1}
		commit(t, s, e)
		for _, key := range e.Keys {
			equal(t, fmt.Sprintf("key %d", key), leaders(t, s, key), hashesOf(urlOf(1)))
		}
	}},
	{"neighbouring_keys_do_not_mix", func(t *testing.T, s store.Store) {
		for n := 1; n <= 600; n++ {
			e := full(urlOf(n), fmt.Sprint(n))
			e.Keys = []uint64{uint64(n), uint64(n) << 8, uint64(n) << 56}
			commit(t, s, e)
		}
		equal(t, "key 255", leaders(t, s, 255), hashesOf(urlOf(255)))
		equal(t, "key 512", leaders(t, s, 512), hashesOf(urlOf(2), urlOf(512)))
		equal(t, "key 1<<56", leaders(t, s, 1<<56), hashesOf(urlOf(1), urlOf(257), urlOf(513)))
	}},
	{"many_questions_in_their_order", func(t *testing.T, s store.Store) {
		commit(t, s, full(urlOf(1), "one"), full(urlOf(2), "two"))
		got := must(s.Lookup(ctx, []store.Ask{askKeys(keyOf("two")), {Hashes: hashesOf("one")}, askKeys(77)}))(t)
		equal(t, "first", idsOf(got[0].Leaders), hashesOf(urlOf(2)))
		equal(t, "second", got[1].Copy.URL, urlOf(1))
		equal(t, "third", len(got[2].Leaders), 0)
	}},
}

var clusterPromises = []promise{
	{"largest_first_then_the_earlier_leader", func(t *testing.T, s store.Store) {
		n := 1000
		want := []store.Cluster{}
		for _, c := range []struct{ leader, members int }{{9, 2}, {300, 3}, {4, 2}, {5, 1}} {
			commit(t, s, page(urlOf(c.leader)))
			for range c.members {
				n++
				commit(t, s, copyOf(urlOf(c.leader), urlOf(n), 0.9))
			}
		}
		for _, c := range []struct{ leader, members int }{{300, 3}, {9, 2}, {4, 2}, {5, 1}} {
			want = append(want, store.Cluster{Leader: hashOf(urlOf(c.leader)), Members: c.members})
		}
		equal(t, "clusters", collect(t, s.Clusters(ctx)), want)
	}},
	{"a_leader_without_members_is_none", func(t *testing.T, s store.Store) {
		e := page(urlOf(1))
		e.Record.Leader = e.Record.ID
		commit(t, s, e, page(urlOf(2)))
		equal(t, "clusters", collect(t, s.Clusters(ctx)), []store.Cluster(nil))
		equal(t, "members", members(t, s, e.Record.ID), []*store.Record(nil))
	}},
	{"most_alike_first_then_the_earlier", func(t *testing.T, s store.Store) {
		commit(t, s, page(urlOf(1)))
		for _, m := range []struct {
			n           int
			resemblance float64
		}{{9, 0.9}, {10, 0.9}, {11, 1}, {12, 0.8123456789}, {13, 0.81234567891}, {300, 0.9}, {14, 0}} {
			commit(t, s, copyOf(urlOf(1), urlOf(m.n), m.resemblance))
		}
		commit(t, s, copyOf(urlOf(2), urlOf(15), 1))
		all := members(t, s, hashOf(urlOf(1)))
		equal(t, "members", urlsOf(all), []string{urlOf(11), urlOf(9), urlOf(10), urlOf(300), urlOf(13), urlOf(12), urlOf(14)})
		for _, r := range all {
			wantRecord(t, s, *r)
		}
	}},
	{"members_of_many_leaders_come_cluster_by_cluster", func(t *testing.T, s store.Store) {
		const clusters = 600
		var leaders []dedup.Hash
		var want []string
		for n := range clusters {
			leader := urlOf(n)
			leaders = append(leaders, hashOf(leader))
			if n%3 == 0 { // a leader without members
				commit(t, s, page(leader))
				continue
			}
			commit(t, s, copyOf(leader, leader+"/less", 0.8), copyOf(leader, leader+"/more", 0.9))
			want = append(want, leader+"/more", leader+"/less")
		}
		equal(t, "members", urlsOf(members(t, s, leaders...)), want)
		slices.Reverse(leaders)
		again := urlsOf(members(t, s, leaders...))
		equal(t, "members, the last leader first", again[:2], []string{urlOf(clusters-1) + "/more", urlOf(clusters-1) + "/less"})
		equal(t, "members, the last leader first", len(again), len(want))
		equal(t, "members of nobody", members(t, s), []*store.Record(nil))
	}},
}
