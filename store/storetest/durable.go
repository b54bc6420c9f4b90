package storetest

import (
	"fmt"
	"testing"
	"time"

	"skink/frontier"
	"skink/store"
)

// durablePromises hold over reopen, which closes the store if it is open.
var durablePromises = []struct {
	name string
	test func(t *testing.T, reopen func() store.Store)
}{
	{"everything_stays", func(t *testing.T, reopen func() store.Store) {
		s := reopen()
		discover(t, s, 2, items(0, "https://example.com/", "https://other.example/"))
		until := time.Date(2031, 2, 3, 4, 5, 6, 789, time.UTC)
		check(t, s.Block(ctx, "example.com", until))
		check(t, s.SetDelay(ctx, "other.example", time.Minute))
		check(t, s.SetMeta(ctx, "name", []byte("value")))
		check(t, s.SetMeta(ctx, "empty", nil))
		e := full(1, "https://example.com/", "a text")
		e.Record = fullRecord(1, "https://example.com/")
		e.Record.Leader = 99
		e.Links = items(1, "https://example.com/1")
		e.Beyond = []string{"https://beyond.example/"}
		empty := page(2, "https://example.com/empty")
		empty.Text = store.Pack(nil)
		check(t, s.Commit(ctx, []*store.Entry{e, empty}))
		check(t, s.Sync())
		tally := must(s.Tally(ctx))(t)
		counts := must(s.Counts(ctx))(t)

		for range 2 { // from the log, then from a table
			s = reopen()
			equal(t, "record", must(s.Record(ctx, e.Record.ID))(t), &e.Record)
			wantText(t, s, 1, "a text", true)
			wantText(t, s, 2, "", true)
			sketch, found, err := s.Sketch(ctx, 1)
			check(t, err)
			equal(t, "sketch", sketch, *e.Sketch)
			equal(t, "sketch found", found, true)
			equal(t, "body", must(s.Raw(ctx, 1))(t).Body, e.Raw.Body)
			wantByHash(t, s, e.Hash, 1)
			equal(t, "leaders", leaders(t, s, e.Keys[1]), []uint64{1})
			equal(t, "clusters", collect(t, s.Clusters(ctx)), []store.Cluster{{Leader: 99, Members: 1}})
			equal(t, "members", nums(collect(t, s.Members(ctx, 99))), []uint64{1})
			equal(t, "tally", must(s.Tally(ctx))(t), tally)
			equal(t, "counts", must(s.Counts(ctx))(t), counts)
			equal(t, "meta", must(s.Meta(ctx, "name"))(t), []byte("value"))
			equal(t, "empty meta", must(s.Meta(ctx, "empty"))(t), []byte{})
			wantState(t, s, "https://example.com/", frontier.Fetched)
			wantURLs(t, s, frontier.Outside, "https://beyond.example/")
			wantHosts(t, s,
				frontier.Host{Name: "example.com", Pending: 1, Depth: 1, Until: until},
				frontier.Host{Name: "other.example", Pending: 1, Delay: time.Minute})
			discover(t, s, 0, items(0, "https://example.com/", "https://other.example/", "https://example.com/1"))
		}
	}},
	{"leases_end", func(t *testing.T, reopen func() store.Store) {
		s := reopen()
		discover(t, s, 5, numbered("example.com", 5))
		equal(t, "leased", lease(t, s, "example.com", 3), []string{"https://example.com/0", "https://example.com/1", "https://example.com/2"})
		check(t, s.Done(ctx, "https://example.com/1", frontier.Fetched))
		s = reopen()
		equal(t, "leased again", lease(t, s, "example.com", 9), []string{
			"https://example.com/0", "https://example.com/2", "https://example.com/3", "https://example.com/4"})
	}},
	{"the_order_of_the_queue_stays", func(t *testing.T, reopen func() store.Store) {
		s := reopen()
		discover(t, s, 4, items(1, "https://example.com/1", "https://example.com/2", "https://example.com/3", "https://example.com/4"))
		lease(t, s, "example.com", 1)
		check(t, s.Release(ctx, frontier.Item{URL: "https://example.com/1", Depth: 1, Tries: 1}))
		check(t, s.Done(ctx, "https://example.com/4", frontier.Failed)) // the last that arrived
		s = reopen()
		discover(t, s, 1, items(1, "https://example.com/5"))
		discover(t, s, 1, items(0, "https://example.com/0"))
		equal(t, "leased", lease(t, s, "example.com", 9), []string{
			"https://example.com/0", "https://example.com/2", "https://example.com/3", "https://example.com/1", "https://example.com/5"})
	}},
	{"numbers_rise", func(t *testing.T, reopen func() store.Store) {
		s := reopen()
		var last uint64
		for range 5 {
			for range 3 {
				n := must(s.Next(ctx))(t)
				if n <= last {
					t.Fatalf("%d after %d", n, last)
				}
				last = n
			}
			s = reopen()
		}
		if last > 100 {
			t.Errorf("15 numbers in 5 openings reached %d: closing should give unused ones back", last)
		}
	}},
	{"a_second_run_changes_nothing", func(t *testing.T, reopen func() store.Store) {
		s := reopen()
		run := func(from uint64) {
			for i := range uint64(50) {
				url := fmt.Sprintf("https://example.com/%d", i)
				must(s.Discover(ctx, items(0, url)))(t)
				e := full(from+i, url, url)
				e.Links = items(1, url+"/link")
				check(t, s.Commit(ctx, []*store.Entry{e}))
			}
		}
		run(1)
		tally, counts := must(s.Tally(ctx))(t), must(s.Counts(ctx))(t)
		records := collect(t, s.Records(ctx, 0))
		s = reopen()
		run(1000)
		equal(t, "tally", must(s.Tally(ctx))(t), tally)
		equal(t, "counts", must(s.Counts(ctx))(t), counts)
		equal(t, "records", collect(t, s.Records(ctx, 0)), records)
	}},
}
