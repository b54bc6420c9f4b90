package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

var commitPromises = []promise{
	{"of_nothing", func(t *testing.T, s store.Store) {
		equal(t, "outcomes", len(must(s.Commit(ctx, nil))(t)), 0)
	}},
	{"ends_the_URL_and_discovers_its_links", func(t *testing.T, s store.Store) {
		discover(t, s, 1, items(0, "https://example.com/"))
		e := page("https://example.com/")
		e.Links = items(1, "https://example.com/", "https://example.com/1", "https://other.example/", "https://example.com/1")
		commit(t, s, e)
		wantState(t, s, "https://example.com/", frontier.Fetched)
		wantState(t, s, "https://example.com/1", frontier.Pending)
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: 2, Fetched: 1})
		equal(t, "left", take(t, s, claim(t, s, "example.com").Claim, 9), []string{"https://example.com/1"})
	}},
	{"notes_what_is_beyond_the_crawl", func(t *testing.T, s store.Store) {
		discover(t, s, 1, items(0, "https://example.com/"))
		e := page("https://example.com/")
		e.Links = items(1, "https://example.com/1")
		e.Beyond = []string{"https://other.example/", "https://example.com/1", "https://other.example/"}
		commit(t, s, e)
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: 1, Fetched: 1, Outside: 1})
		wantURLs(t, s, frontier.Outside, "https://other.example/")
	}},
	{"of_a_URL_that_never_was_in_the_frontier", func(t *testing.T, s store.Store) {
		e := page("file.txt")
		e.State = frontier.Unknown
		commit(t, s, e)
		wantState(t, s, "file.txt", frontier.Unknown)
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{})
		wantRecord(t, s, e.Record)
	}},
	{"leaves_the_frontier_alone_if_the_state_is_unknown", func(t *testing.T, s store.Store) {
		url := "https://example.com/"
		e := page(url)
		e.State = frontier.Unknown
		commit(t, s, e)
		discover(t, s, 1, items(0, url)) // committing a record does not count as discovering its URL
		wantOutcomes(t, s, []*store.Entry{e}, store.Kept)
		wantState(t, s, url, frontier.Pending)
		equal(t, "left", take(t, s, claim(t, s, "example.com").Claim, 9), []string{url})
		e.State = frontier.Fetched
		wantOutcomes(t, s, []*store.Entry{e}, store.Kept)
		wantState(t, s, url, frontier.Fetched)
		wantRecord(t, s, e.Record)
	}},
	{"a_page_that_links_to_itself_only", func(t *testing.T, s store.Store) {
		e := page("https://example.com/") // this URL was never discovered
		e.Links = items(1, "https://example.com/")
		commit(t, s, e)
		wantState(t, s, "https://example.com/", frontier.Fetched)
		wantRecord(t, s, e.Record)
		equal(t, "given", granted(t, s, me, 9), []string(nil))
	}},
	{"the_first_record_stays", func(t *testing.T, s store.Store) {
		url := "https://example.com/"
		discover(t, s, 1, items(0, url))
		first := full(url, "the first text")
		first.State = frontier.Unknown // the process crashed before it wrote the final state of the URL
		commit(t, s, first)
		tally := must(s.Tally(ctx))(t)

		second := full(url, "the second text")
		second.Links = items(1, "https://example.com/new")
		wantOutcomes(t, s, []*store.Entry{second}, store.Kept)

		wantRecord(t, s, first.Record)
		wantChanges(t, s, "", url)
		equal(t, "tally", must(s.Tally(ctx))(t), tally)
		wantText(t, s, url, "the first text")
		equal(t, "sketch", known(t, s, url, store.WantSketch).Sketch, first.Sketch)
		wantCopy(t, s, first.Hash, url)
		wantCopy(t, s, second.Hash, "")
		equal(t, "its key", leaders(t, s, second.Keys[0]), []dedup.Hash(nil))
		equal(t, "clusters", collect(t, s.Clusters(ctx)), []store.Cluster{{Leader: first.Record.Leader, Members: 1}})

		wantState(t, s, url, frontier.Fetched)
		wantState(t, s, "https://example.com/new", frontier.Pending)
	}},
	{"the_first_of_one_commit_stays", func(t *testing.T, s store.Store) {
		first, second := full("https://example.com/", "one"), full("https://example.com/", "two")
		wantOutcomes(t, s, []*store.Entry{first, second}, store.Written, store.Kept)
		wantRecord(t, s, first.Record)
		wantText(t, s, first.Record.URL, "one")
		wantChanges(t, s, "", first.Record.URL)
	}},
	{"pending_is_not_an_end", func(t *testing.T, s store.Store) {
		e := page(urlOf(1))
		e.State = frontier.Pending
		if _, err := s.Commit(ctx, []*store.Entry{page(urlOf(2)), e}); err == nil {
			t.Error("no error for state pending")
		}
		wantChanges(t, s, "")
	}},
	{"100000_links_in_one_entry", func(t *testing.T, s store.Store) {
		e := full("https://example.com/", "a text")
		for i := range 100_000 {
			e.Links = append(e.Links, frontier.Item{URL: fmt.Sprintf("https://h%d.example/%d", i%100, i), Depth: 1})
		}
		after := page("https://example.com/after")
		discover(t, s, 1, items(0, "https://example.com/"))
		commit(t, s, e, after)
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: 100_000, Fetched: 1})
		wantChanges(t, s, "", "https://example.com/", "https://example.com/after")
		equal(t, "left", take(t, s, claim(t, s, "h7.example").Claim, 2), []string{"https://h7.example/7", "https://h7.example/107"})
		discover(t, s, 0, e.Links[99_990:])
		equal(t, "the key, posted after the links", leaders(t, s, e.Keys[0]), hashesOf(e.Record.URL))
	}},
	{"many_entries_at_once", func(t *testing.T, s store.Store) {
		var list []*store.Entry
		for n := range 2000 {
			e := full(urlOf(n), string(noise(uint64(n), 2000)))
			e.Keys = []uint64{uint64(n), uint64(5000 + n%2)}
			list = append(list, e)
		}
		commit(t, s, list...)
		equal(t, "near", must(s.Tally(ctx))(t).Near, int64(2000))
		equal(t, "postings", len(leaders(t, s, 5000))+len(leaders(t, s, 5001)), 2000)
		wantText(t, s, urlOf(1999), string(noise(1999, 2000)))
	}},
}

// judged returns an entry whose verdict is based on a new lookup.
func judged(t tester, s store.Store, url, text string, keys ...uint64) *store.Entry {
	t.Helper()
	e := full(url, text)
	e.Record.Verdict, e.Record.Leader, e.Record.DuplicateOf, e.Record.Resemblance = dedup.Unique, dedup.Hash{}, "", 0
	e.Keys = keys
	ask := store.Ask{ID: e.Record.ID, Hashes: []dedup.Hash{e.Hash}, Keys: keys, Limit: 3}
	found := lookup(t, s, ask)
	e.Basis = found.Basis(ask)
	if first := found.Copy; first != nil {
		e.Record.Verdict, e.Record.Leader, e.Record.DuplicateOf, e.Record.Resemblance, e.Keys = dedup.Exact, first.ID, first.URL, 1, nil
	}
	return e
}

var stalePromises = []promise{
	{"what_came_under_other_keys_is_no_matter", func(t *testing.T, s store.Store) {
		e := judged(t, s, urlOf(1), "one", 1, 2)
		commit(t, s, judged(t, s, urlOf(2), "two", 3))
		commit(t, s, e)
	}},
	{"a_leader_under_one_of_its_keys", func(t *testing.T, s store.Store) {
		e := judged(t, s, urlOf(1), "one", 1, 2)
		commit(t, s, judged(t, s, urlOf(2), "two", 2, 3))
		wantOutcomes(t, s, []*store.Entry{e}, store.Stale)
		wantChanges(t, s, "", urlOf(2))
		equal(t, "under the other key", leaders(t, s, 1), []dedup.Hash(nil))
		commit(t, s, judged(t, s, urlOf(1), "one", 1, 2))
		equal(t, "under both", leaders(t, s, 2), hashesOf(urlOf(2), urlOf(1)))
	}},
	{"a_page_of_its_text", func(t *testing.T, s store.Store) {
		e := judged(t, s, urlOf(1), "one", 1)
		commit(t, s, judged(t, s, urlOf(2), "one"))
		wantOutcomes(t, s, []*store.Entry{e}, store.Stale)
		again := judged(t, s, urlOf(1), "one", 1)
		equal(t, "verdict", again.Record.Verdict, dedup.Exact)
		commit(t, s, again)
	}},
	{"of_two_in_one_call_the_second", func(t *testing.T, s store.Store) {
		a, b, c := judged(t, s, urlOf(1), "one", 1), judged(t, s, urlOf(2), "two", 1), judged(t, s, urlOf(3), "three", 3)
		wantOutcomes(t, s, []*store.Entry{a, b, c}, store.Written, store.Stale, store.Stale)
		wantChanges(t, s, "", urlOf(1))
		wantState(t, s, urlOf(3), frontier.Unknown)
		commit(t, s, judged(t, s, urlOf(2), "two", 1), c)
	}},
	{"another_copy_is_no_matter_to_a_copy", func(t *testing.T, s store.Store) {
		commit(t, s, judged(t, s, urlOf(1), "one", 1))
		a, b := judged(t, s, urlOf(2), "one", 1), judged(t, s, urlOf(3), "one", 1)
		commit(t, s, a, b)
	}},
	{"a_leader_under_a_key_that_is_full_is_no_matter", func(t *testing.T, s store.Store) {
		for n := range 4 {
			commit(t, s, judged(t, s, urlOf(n), fmt.Sprint(n), 1))
		}
		a, b := judged(t, s, urlOf(10), "ten", 1), judged(t, s, urlOf(11), "eleven", 1)
		commit(t, s, a, b)
	}},
	{"its_leader_was_visited_again", func(t *testing.T, s store.Store) {
		commit(t, s, judged(t, s, urlOf(1), "one", 1))
		follower := judged(t, s, urlOf(2), "one", 1)
		changed := judged(t, s, urlOf(1), "changed", 9)
		changed.Revisit = true
		commit(t, s, changed)
		wantOutcomes(t, s, []*store.Entry{follower}, store.Stale)
	}},
	{"a_stale_revisit_leaves_what_is_known", func(t *testing.T, s store.Store) {
		commit(t, s, judged(t, s, urlOf(1), "one", 1))
		again := judged(t, s, urlOf(1), "two", 2)
		again.Revisit = true
		commit(t, s, judged(t, s, urlOf(2), "two", 2))
		wantOutcomes(t, s, []*store.Entry{again}, store.Stale)
		wantText(t, s, urlOf(1), "one")
		wantCopy(t, s, hashOf("one"), urlOf(1))
	}},
	{"a_verdict_that_names_a_page_which_was_read_later_holds_as_long_as_that_page_does", func(t *testing.T, s store.Store) {
		leader := page(urlOf(1)) // a lookup for its text does not find this page
		leader.Record.FetchedAt = aTime
		commit(t, s, leader)
		follow := func(url string) *store.Entry {
			e := copyOf(urlOf(1), url, 1)
			found := lookup(t, s, store.Ask{ID: e.Record.ID, Hashes: hashesOf("a text")})
			e.Basis = store.Basis{Mark: found.Mark}
			return e
		}
		commit(t, s, follow(urlOf(2)))
		late := follow(urlOf(3))
		again := page(urlOf(1))
		again.Revisit, again.Record.FetchedAt = true, aTime.Add(time.Hour)
		commit(t, s, again)
		wantOutcomes(t, s, []*store.Entry{late}, store.Stale)
		commit(t, s, follow(urlOf(3)))
	}},
	{"of_copies_that_come_at_once_one_is_unique", func(t *testing.T, s store.Store) {
		const committers, texts = 4, 100
		var wg sync.WaitGroup
		for g := range committers {
			wg.Go(func() {
				for n := range texts {
					text := fmt.Sprint("text ", n)
					for outcome := store.Stale; outcome == store.Stale; {
						e := judged(t, s, fmt.Sprintf("https://host%d.example/%d", g, n), text, keyOf(text))
						outcomes, err := s.Commit(ctx, []*store.Entry{e})
						if err != nil {
							t.Error(err)
							return
						}
						outcome = outcomes[0]
					}
				}
			})
		}
		wg.Wait()
		tally := must(s.Tally(ctx))(t)
		equal(t, "tally", tally, store.Tally{Unique: texts, Exact: (committers - 1) * texts})
		for n := range texts {
			text := fmt.Sprint("text ", n)
			if ids := leaders(t, s, keyOf(text)); len(ids) != 1 {
				t.Errorf("%s has %d leaders", text, len(ids))
			}
		}
		for _, c := range collect(t, s.Clusters(ctx)) {
			equal(t, "members", c.Members, committers-1)
		}
	}},
}
