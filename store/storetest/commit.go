package storetest

import (
	"fmt"
	"testing"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

var commitPromises = []promise{
	{"of_nothing", func(t *testing.T, s store.Store) {
		check(t, s.Commit(ctx, nil))
	}},
	{"ends_the_URL_and_discovers_its_links", func(t *testing.T, s store.Store) {
		discover(t, s, 1, items(0, "https://example.com/"))
		lease(t, s, "example.com", 1)
		e := page(1, "https://example.com/")
		e.Links = items(1, "https://example.com/", "https://example.com/1", "https://other.example/", "https://example.com/1")
		check(t, s.Commit(ctx, []*store.Entry{e}))
		wantState(t, s, "https://example.com/", frontier.Fetched)
		wantState(t, s, "https://example.com/1", frontier.Pending)
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: 2, Fetched: 1})
		equal(t, "leased", lease(t, s, "example.com", 9), []string{"https://example.com/1"})
	}},
	{"notes_what_is_beyond_the_crawl", func(t *testing.T, s store.Store) {
		discover(t, s, 1, items(0, "https://example.com/"))
		lease(t, s, "example.com", 1)
		e := page(1, "https://example.com/")
		e.Links = items(1, "https://example.com/1")
		e.Beyond = []string{"https://other.example/", "https://example.com/1", "https://other.example/"}
		check(t, s.Commit(ctx, []*store.Entry{e}))
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: 1, Fetched: 1, Outside: 1})
		wantURLs(t, s, frontier.Outside, "https://other.example/")
	}},
	{"of_a_URL_that_never_was_in_the_frontier", func(t *testing.T, s store.Store) {
		e := page(1, "file.txt")
		e.State = frontier.Unknown
		check(t, s.Commit(ctx, []*store.Entry{e}))
		wantState(t, s, "file.txt", frontier.Unknown)
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{})
		equal(t, "record", must(s.Record(ctx, e.Record.ID))(t), &e.Record)
	}},
	{"leaves_the_frontier_alone_if_the_state_is_unknown", func(t *testing.T, s store.Store) {
		url := "https://example.com/"
		e := page(1, url)
		e.State = frontier.Unknown
		check(t, s.Commit(ctx, []*store.Entry{e}))
		discover(t, s, 1, items(0, url)) // a record does not make a URL discovered
		check(t, s.Commit(ctx, []*store.Entry{e}))
		wantState(t, s, url, frontier.Pending)
		equal(t, "leased", lease(t, s, "example.com", 9), []string{url})
		check(t, s.Done(ctx, url, frontier.Fetched))
		equal(t, "record", must(s.Record(ctx, e.Record.ID))(t), &e.Record)
	}},
	{"a_page_that_links_to_itself_only", func(t *testing.T, s store.Store) {
		e := page(1, "https://example.com/") // never discovered before
		e.Links = items(1, "https://example.com/")
		check(t, s.Commit(ctx, []*store.Entry{e}))
		wantState(t, s, "https://example.com/", frontier.Fetched)
		equal(t, "record", must(s.Record(ctx, e.Record.ID))(t), &e.Record)
		equal(t, "leased", lease(t, s, "example.com", 9), []string(nil))
	}},
	{"the_first_record_stays", func(t *testing.T, s store.Store) {
		url := "https://example.com/"
		discover(t, s, 1, items(0, url))
		first := full(1, url, "the first text")
		first.State = frontier.Unknown // as after a crash before done
		check(t, s.Commit(ctx, []*store.Entry{first}))
		tally := must(s.Tally(ctx))(t)

		second := full(2, url, "the second text")
		second.Links = items(1, "https://example.com/new")
		check(t, s.Commit(ctx, []*store.Entry{second}))

		equal(t, "record", must(s.Record(ctx, first.Record.ID))(t), &first.Record)
		if r := must(s.RecordAt(ctx, 2))(t); r != nil {
			t.Errorf("the second has a record: %+v", r)
		}
		equal(t, "tally", must(s.Tally(ctx))(t), tally)
		wantText(t, s, 1, "the first text", true)
		wantText(t, s, 2, "", false)
		if _, found, err := s.Sketch(ctx, 2); found || err != nil {
			t.Errorf("the second has a sketch; error %v", err)
		}
		if raw := must(s.Raw(ctx, 2))(t); raw != nil {
			t.Errorf("the second has an exchange")
		}
		wantByHash(t, s, first.Hash, 1)
		wantByHash(t, s, second.Hash, 0)
		equal(t, "its key", leaders(t, s, second.Keys[0]), []uint64(nil))
		equal(t, "clusters", collect(t, s.Clusters(ctx)), []store.Cluster{{Leader: 99, Members: 1}})

		wantState(t, s, url, frontier.Fetched)
		wantState(t, s, "https://example.com/new", frontier.Pending)
	}},
	{"the_first_of_one_commit_stays", func(t *testing.T, s store.Store) {
		first, second := full(1, "https://example.com/", "one"), full(2, "https://example.com/", "two")
		check(t, s.Commit(ctx, []*store.Entry{first, second}))
		equal(t, "record", must(s.Record(ctx, first.Record.ID))(t), &first.Record)
		wantText(t, s, 2, "", false)
		equal(t, "records", nums(collect(t, s.Records(ctx, 0))), []uint64{1})
	}},
	{"a_record_needs_a_number", func(t *testing.T, s store.Store) {
		if err := s.Commit(ctx, []*store.Entry{page(0, "https://example.com/")}); err == nil {
			t.Error("no error for number 0")
		}
	}},
	{"pending_is_not_an_end", func(t *testing.T, s store.Store) {
		e := page(1, "https://example.com/")
		e.State = frontier.Pending
		if err := s.Commit(ctx, []*store.Entry{page(2, "https://example.com/2"), e}); err == nil {
			t.Error("no error for state pending")
		}
		equal(t, "records", collect(t, s.Records(ctx, 0)), []*store.Record(nil))
	}},
	{"100000_links_in_one_entry", func(t *testing.T, s store.Store) {
		e := full(1, "https://example.com/", "a text")
		for i := range 100_000 {
			e.Links = append(e.Links, frontier.Item{URL: fmt.Sprintf("https://h%d.example/%d", i%100, i), Depth: 1})
		}
		after := page(2, "https://example.com/after")
		discover(t, s, 1, items(0, "https://example.com/"))
		check(t, s.Commit(ctx, []*store.Entry{e, after}))
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: 100_000, Fetched: 1})
		equal(t, "records", nums(collect(t, s.Records(ctx, 0))), []uint64{1, 2})
		equal(t, "leased", lease(t, s, "h7.example", 2), []string{"https://h7.example/7", "https://h7.example/107"})
		discover(t, s, 0, e.Links[99_990:])
		equal(t, "the key, posted after the links", leaders(t, s, e.Keys[0]), []uint64{1})
	}},
	{"many_entries_at_once", func(t *testing.T, s store.Store) {
		var list []*store.Entry
		for n := uint64(1); n <= 2000; n++ {
			e := full(n, fmt.Sprintf("https://example.com/%d", n), string(noise(n, 2000)))
			e.Keys = []uint64{n, 77}
			list = append(list, e)
		}
		check(t, s.Commit(ctx, list))
		equal(t, "near", must(s.Tally(ctx))(t).Near, int64(2000))
		equal(t, "postings", len(leaders(t, s, 77)), 2000)
		wantText(t, s, 1999, string(noise(1999, 2000)), true)
	}},
	{"numbers_of_ones_own_are_not_given_again", func(t *testing.T, s store.Store) {
		check(t, s.Commit(ctx, []*store.Entry{page(5000, "https://example.com/")}))
		if n := must(s.Next(ctx))(t); n <= 5000 {
			t.Errorf("Next = %d after a record with number 5000", n)
		}
	}},
}

// full is an entry with something in every field.
func full(num uint64, url, text string) *store.Entry {
	e := page(num, url)
	e.Record.Verdict = dedup.Near
	e.Record.Leader = 99
	e.Text = store.Pack([]byte(text))
	e.Sketch = &dedup.Sketch{uint32(num)}
	e.Hash = hashOf(text)
	e.Keys = []uint64{num << 20, num<<20 + 1}
	e.Raw = &store.Raw{Body: []byte(text)}
	return e
}
