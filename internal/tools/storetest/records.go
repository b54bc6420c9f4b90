package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

var recordPromises = []promise{
	{"unknown_is_nil", func(t *testing.T, s store.Store) {
		if c := known(t, s, "nothing", store.WantText|store.WantSketch); c != nil {
			t.Errorf("Pages = %+v, want nil", c)
		}
		wantChanges(t, s, "")
		equal(t, "of no ids", len(must(s.Pages(ctx, nil, store.WantRecord))(t)), 0)
	}},
	{"every_field_comes_back", func(t *testing.T, s store.Store) {
		want := fullRecord("https://example.com/?q=1&r=2")
		commit(t, s, &store.Entry{Record: want})
		wantRecord(t, s, want)
		equal(t, "changed", changes(t, s, "")[0].Record, want)
	}},
	{"what_was_returned_is_the_callers", func(t *testing.T, s store.Store) {
		commit(t, s, page(urlOf(1)))
		known(t, s, urlOf(1), store.WantRecord).Record.Title = "changed"
		if got := known(t, s, urlOf(1), store.WantRecord).Record.Title; got != "" {
			t.Errorf("title is %q: a caller's change reached the store", got)
		}
	}},
	{"many_at_once_in_the_order_asked_for", func(t *testing.T, s store.Store) {
		commit(t, s, full(urlOf(1), "one"), full(urlOf(2), "two"))
		got := must(s.Pages(ctx, hashesOf(urlOf(2), "nothing", urlOf(1), urlOf(2)), store.WantText|store.WantSketch))(t)
		if len(got) != 4 || got[0] == nil || got[1] != nil || got[2] == nil || got[3] == nil {
			t.Fatalf("Pages = %v", got)
		}
		equal(t, "texts", []string{got[0].Text, got[2].Text, got[3].Text}, []string{"two", "one", "two"})
		equal(t, "sketch", got[2].Sketch, sketchOf("one"))
	}},
	{"nothing_that_was_not_wanted", func(t *testing.T, s store.Store) {
		commit(t, s, full(urlOf(1), "one"))
		c := known(t, s, urlOf(1), store.WantRecord)
		if c.Text != "" || c.Kept || c.Sketch != nil || c.Links != nil {
			t.Errorf("Pages = %+v", c)
		}
	}},
	{"tally_counts_each_once", func(t *testing.T, s store.Store) {
		var want store.Tally
		n := 0
		add := func(change func(*store.Record)) {
			n++
			e := page(urlOf(n))
			change(&e.Record)
			want.Add(&e.Record)
			wantOutcomes(t, s, []*store.Entry{e, e}, store.Written, store.Kept)
		}
		add(func(r *store.Record) {})
		add(func(r *store.Record) { r.Verdict = dedup.Exact; r.NoText = true })
		add(func(r *store.Record) { r.Verdict = dedup.Near; r.Capped = true })
		add(func(r *store.Record) { r.Verdict = dedup.Thin })
		add(func(r *store.Record) { r.Kind = store.Other })
		add(func(r *store.Record) { r.Kind = store.Redirect })
		add(func(r *store.Record) { r.Kind = store.Blocked })
		add(func(r *store.Record) { r.Kind = store.Skipped })
		add(func(r *store.Record) { r.Kind = store.Sitemap })
		add(func(r *store.Record) { r.Kind = store.Later })
		add(func(r *store.Record) { r.Kind = store.Error; r.Problem = "timeout" })
		add(func(r *store.Record) { r.Kind = store.Error; r.Problem = "timeout" })
		add(func(r *store.Record) { r.Kind = store.Error; r.Problem = "status 404" })
		got := must(s.Tally(ctx))(t)
		equal(t, "tally", got, want)
		got.Problems["timeout"] = 77
		equal(t, "tally after a caller changed his", must(s.Tally(ctx))(t), want)
	}},
}

var changePromises = []promise{
	{"in_the_order_of_commits_after_a_cursor", func(t *testing.T, s store.Store) {
		var cursors []store.Cursor
		for n := range 5 {
			cursors = append(cursors, must(s.End(ctx))(t))
			commit(t, s, page(urlOf(9-n)))
		}
		wantChanges(t, s, "", urlOf(9), urlOf(8), urlOf(7), urlOf(6), urlOf(5))
		wantChanges(t, s, cursors[0], urlOf(9), urlOf(8), urlOf(7), urlOf(6), urlOf(5))
		wantChanges(t, s, cursors[3], urlOf(6), urlOf(5))
		wantChanges(t, s, must(s.End(ctx))(t))
		for i, c := range changes(t, s, "") {
			equal(t, "kind", c.Kind, store.New)
			wantChanges(t, s, c.Cursor, []string{urlOf(9), urlOf(8), urlOf(7), urlOf(6), urlOf(5)}[i+1:]...)
			break // the first cursor suffices; for the last one, the expected list would be empty but not nil
		}
	}},
	{"a_page_visited_meanwhile_occurs_once", func(t *testing.T, s store.Store) {
		const pages = 600
		entries := make([]*store.Entry, pages)
		for n := range entries {
			entries[n] = page(urlOf(n))
		}
		commit(t, s, entries...)
		seen := map[string]int{}
		for c, err := range s.Changes(ctx, "", store.WantRecord) {
			if err != nil {
				t.Fatal(err)
			}
			if len(seen) == 0 {
				for _, n := range []int{0, 1, pages - 1} { // the first page was read already, the others were not
					again := page(urlOf(n))
					again.Revisit = true
					again.Record.Earlier = []store.Visit{{Verdict: dedup.Unique}}
					commit(t, s, again)
				}
			}
			seen[c.Record.URL]++
		}
		equal(t, "pages", len(seen), pages)
		for url, n := range seen {
			if n != 1 {
				t.Errorf("%s occurs %d times", url, n)
			}
		}
	}},
	{"a_cursor_of_nothing_is_refused", func(t *testing.T, s store.Store) {
		for _, err := range s.Changes(ctx, "no cursor", store.WantRecord) {
			if err == nil {
				t.Error("no error")
			}
			return
		}
		t.Error("Changes ended without an error")
	}},
	{"with_texts_sketches_and_links", func(t *testing.T, s store.Store) {
		commit(t, s, full(urlOf(1), "one"), page(urlOf(2)))
		got := collect(t, s.Changes(ctx, "", store.WantText|store.WantSketch|store.WantLinks))
		equal(t, "text", got[0].Text, "one")
		equal(t, "sketch", got[0].Sketch, sketchOf("one"))
		equal(t, "links", got[0].Links, linksTo("one"))
		equal(t, "of a page without", got[1].Kept || got[1].Sketch != nil || got[1].Links != nil, false)
	}},
	{"reads_and_writes_while_iterating", func(t *testing.T, s store.Store) {
		for n := range 50 {
			e := page(urlOf(n))
			e.Text = store.Pack([]byte(e.Record.URL))
			commit(t, s, e)
		}
		seen := 0
		for c, err := range s.Changes(ctx, "", store.WantRecord) {
			check(t, err)
			if c.Record.Leader == hashOf(urlOf(1)) {
				continue // written below; the reader may or may not see it
			}
			seen++
			wantText(t, s, c.Record.URL, c.Record.URL)
			commit(t, s, copyOf(urlOf(1), c.Record.URL+"/copy", 0.9))
			for range s.Members(ctx, []dedup.Hash{hashOf(urlOf(1))}) {
				break
			}
		}
		if seen != 50 {
			t.Errorf("saw %d of 50 records", seen)
		}
	}},
	{"a_reader_misses_nothing_while_others_write", func(t *testing.T, s store.Store) {
		const writers, pages = 4, 100
		done := make(chan error, writers)
		for w := range writers {
			go func() {
				for n := range pages {
					e := page(fmt.Sprintf("https://host%d.example/%d", w, n))
					if _, err := s.Commit(ctx, []*store.Entry{e}); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		seen := map[string]bool{}
		var after store.Cursor
		read := func() {
			for c, err := range s.Changes(ctx, after, store.WantRecord) {
				check(t, err)
				if seen[c.Record.URL] {
					t.Errorf("%s came twice", c.Record.URL)
				}
				seen[c.Record.URL], after = true, c.Cursor
			}
		}
		for range writers {
			read()
			check(t, <-done)
		}
		read()
		equal(t, "seen", len(seen), writers*pages)
	}},
	{"iterating_can_stop_early", func(t *testing.T, s store.Store) {
		for n := range 20 {
			commit(t, s, copyOf("https://example.com/leader", urlOf(n), 0.9))
		}
		for range s.Changes(ctx, "", store.WantRecord) {
			break
		}
		for range s.Members(ctx, []dedup.Hash{hashOf("https://example.com/leader")}) {
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
		for n := range 20 {
			commit(t, s, page(urlOf(n)))
		}
		stopping, cancel := context.WithCancel(ctx)
		defer cancel()
		var last error
		seen := 0
		for _, err := range s.Changes(stopping, "", store.WantRecord) {
			cancel()
			last = err
			seen++
		}
		if !errors.Is(last, context.Canceled) || seen > 3 {
			t.Errorf("ended after %d with error %v, want %v at once", seen, last, context.Canceled)
		}
	}},
}

var contentPromises = []promise{
	{"none_but_what_was_committed", func(t *testing.T, s store.Store) {
		commit(t, s, page(urlOf(1)))
		c := known(t, s, urlOf(1), store.WantText|store.WantSketch|store.WantLinks)
		if c.Kept || c.Text != "" || c.Sketch != nil || c.Links != nil {
			t.Errorf("Pages = %+v", c)
		}
	}},
	{"texts_of_any_length", func(t *testing.T, s store.Store) {
		// An empty text differs from a missing one. The long texts are larger than a back end may
		// want to write at once. The middle sizes are close to those at which it may split a text.
		for i, size := range []int{0, 1, 1000, 512<<10 - 100, 512 << 10, 1 << 20, 5 << 20} {
			text := noise(uint64(i), size)
			e := page(urlOf(size))
			e.Text = store.Pack(text)
			commit(t, s, e)
			wantText(t, s, urlOf(size), string(text))
		}
	}},
	{"links_of_any_number", func(t *testing.T, s store.Store) {
		// URLs contain hashes, which hardly compress, so that the longest list is larger than a
		// back end may want to write at once.
		for i, n := range []int{0, 1, 100, 20_000} {
			links := []store.Link{}
			for k := range n {
				links = append(links, store.Link{URL: "https://example.com/" + hashOf(fmt.Sprint(k)).String(), Text: fmt.Sprint(k), Kind: store.LinkAnchor})
			}
			e := page(urlOf(i))
			e.Out = store.PackLinks(e.Record.URL, links)
			commit(t, s, e)
			wantLinks(t, s, e.Record.URL, links)
		}
	}},
	{"Markdown_and_headings_beside_a_text", func(t *testing.T, s store.Store) {
		headings := []store.Heading{{Line: 0, Level: 1, ID: "top"}, {Line: 300, Level: 6}}
		n := 0
		for i, size := range []int{0, 7, 1 << 20} {
			for _, bytes := range [][]byte{noise(uint64(i), size), []byte(strings.Repeat("x", size))} { // some back ends cannot store noise as a text
				markdown := noise(uint64(i)+10, size+1)
				url := fmt.Sprint(urlOf(size), "?", n)
				e := page(url)
				e.Text = store.PackMarked(bytes, markdown, headings)
				commit(t, s, e)
				wantText(t, s, url, string(bytes))
				got := known(t, s, url, store.WantText)
				equal(t, "Markdown", got.Markdown, string(markdown))
				equal(t, "headings", got.Headings, headings)
				change := collect(t, s.Changes(ctx, "", store.WantText))[n]
				equal(t, "Markdown of a change", change.Markdown, string(markdown))
				equal(t, "headings of a change", change.Headings, headings)
				n++
			}
		}
		e := page(urlOf(1))
		e.Text = store.PackMarked([]byte("headings alone"), nil, headings)
		commit(t, s, e)
		got := known(t, s, urlOf(1), store.WantText)
		equal(t, "text", got.Text+got.Markdown, "headings alone")
		equal(t, "headings", got.Headings, headings)
	}},
	{"a_sketch_comes_back", func(t *testing.T, s store.Store) {
		var want dedup.Sketch
		for i := range want {
			want[i] = uint32(i) * 0x9E3779B9
		}
		e := page(urlOf(1))
		e.Sketch = &want
		commit(t, s, e)
		equal(t, "sketch", known(t, s, urlOf(1), store.WantSketch).Sketch, &want)
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
	{"an_entry_sets_named_values", func(t *testing.T, s store.Store) {
		e := page("https://a.example/1")
		e.Named = map[string][]byte{"name": []byte("one"), "other": nil}
		equal(t, "outcome", must(s.Commit(ctx, []*store.Entry{e}))(t), []store.Outcome{store.Written})
		equal(t, "name", must(s.Meta(ctx, "name"))(t), []byte("one"))
		equal(t, "other", must(s.Meta(ctx, "other"))(t), []byte{})
		touch := page("https://a.example/1")
		touch.Touch, touch.Replaces, touch.Named = true, e.Record.Updated(), map[string][]byte{"name": []byte("two")}
		equal(t, "outcome of a touch", must(s.Commit(ctx, []*store.Entry{touch}))(t), []store.Outcome{store.Written})
		equal(t, "name after a touch", must(s.Meta(ctx, "name"))(t), []byte("two"))
		stale := page("https://a.example/1")
		stale.Revisit, stale.Replaces, stale.Named = true, e.Record.Updated().Add(1), map[string][]byte{"name": []byte("three")}
		equal(t, "outcome of a stale entry", must(s.Commit(ctx, []*store.Entry{stale}))(t), []store.Outcome{store.Stale})
		equal(t, "name after a stale entry", must(s.Meta(ctx, "name"))(t), []byte("two"))
	}},
	{"a_judgement_of_the_record_before_a_visit_is_stale", func(t *testing.T, s store.Store) {
		e, touch, judged := page("https://a.example/1"), page("https://a.example/1"), page("https://a.example/1")
		e.Record.FetchedAt, touch.Record.FetchedAt, judged.Record.FetchedAt = aTime, aTime, aTime
		equal(t, "outcome", must(s.Commit(ctx, []*store.Entry{e}))(t), []store.Outcome{store.Written})
		touch.Record.VisitedAt, touch.Record.Visit, touch.Record.Private = aTime.Add(time.Hour), store.NotModified, true
		touch.Touch, touch.Replaces = true, e.Record.Updated()
		equal(t, "outcome of a touch", must(s.Commit(ctx, []*store.Entry{touch}))(t), []store.Outcome{store.Written})
		judged.Record.JudgedAt = aTime.Add(time.Minute)
		judged.Revisit, judged.Replaces = true, e.Record.Updated()
		equal(t, "outcome of a judgement of the first record", must(s.Commit(ctx, []*store.Entry{judged}))(t), []store.Outcome{store.Stale})
		judged.Record.Private, judged.Replaces = true, touch.Record.Updated()
		equal(t, "outcome of a judgement of the second record", must(s.Commit(ctx, []*store.Entry{judged}))(t), []store.Outcome{store.Written})
	}},
	{"large_meta_values_come_back_whole", func(t *testing.T, s store.Store) {
		for i, size := range []int{largeMeta - 1, largeMeta, 100} {
			value := noise(uint64(i), size)
			check(t, s.SetMeta(ctx, "large", value))
			if got := must(s.Meta(ctx, "large"))(t); !bytes.Equal(got, value) {
				t.Errorf("a value of %d bytes came back as %d other bytes", size, len(got))
			}
		}
	}},
	{"the_first_crawl_has_the_number_1", func(t *testing.T, s store.Store) {
		equal(t, "crawl", must(store.LastCrawl(ctx, s))(t), store.Crawl{Number: 1})
	}},
	{"each_crawl_has_a_number", func(t *testing.T, s store.Store) {
		at := time.Date(2026, 11, 24, 9, 30, 0, 7, time.UTC)
		check(t, store.BeginCrawl(ctx, s, at.Add(-1)))
		equal(t, "crawl", must(store.LastCrawl(ctx, s))(t), store.Crawl{Number: 1, Began: at.Add(-1)}) // no records yet
		commit(t, s, page(urlOf(1)))
		check(t, store.BeginCrawl(ctx, s, at.Add(-1)))
		equal(t, "crawl", must(store.LastCrawl(ctx, s))(t), store.Crawl{Number: 1, Began: at.Add(-1)})
		for range 3 { // runs that continue a crawl do not begin a new one
			check(t, store.BeginCrawl(ctx, s, at))
			equal(t, "crawl", must(store.LastCrawl(ctx, s))(t), store.Crawl{Number: 2, Began: at})
		}
		check(t, store.BeginCrawl(ctx, s, at.Add(1)))
		equal(t, "crawl", must(store.LastCrawl(ctx, s))(t), store.Crawl{Number: 3, Began: at.Add(1)})
	}},
	{"meta_swaps_only_what_is_there", func(t *testing.T, s store.Store) {
		swap := func(old, value string, isNew bool, want error) {
			t.Helper()
			before := []byte(old)
			if isNew {
				before = nil
			}
			if err := s.SwapMeta(ctx, "name", before, []byte(value)); !errors.Is(err, want) {
				t.Errorf("SwapMeta(%q, %q) = %v, want %v", old, value, err, want)
			}
		}
		swap("", "one", false, store.ErrChanged) // an empty value differs from a missing one
		swap("", "one", true, nil)
		swap("", "two", true, store.ErrChanged)
		swap("two", "three", false, store.ErrChanged)
		swap("one", "two", false, nil)
		equal(t, "name", must(s.Meta(ctx, "name"))(t), []byte("two"))
	}},
	{"of_many_who_swap_one_succeeds", func(t *testing.T, s store.Store) {
		const all = 8
		errs := make(chan error, all)
		for i := range all {
			go func() { errs <- s.SwapMeta(ctx, "name", nil, []byte{byte(i)}) }()
		}
		won := 0
		for range all {
			switch err := <-errs; {
			case err == nil:
				won++
			case !errors.Is(err, store.ErrChanged):
				t.Error(err)
			}
		}
		equal(t, "that succeeded", won, 1)
	}},
	{"settings_come_back", func(t *testing.T, s store.Store) {
		want := store.Settings{Format: 1, Unit: "word", Shingle: 10, Similarity: 0.8, Scheme: "bands", MinWords: 50}
		check(t, store.WriteSettings(ctx, s, want))
		equal(t, "settings", must(store.ReadSettings(ctx, s))(t), &want)
	}},
	{"a_cancelled_context_writes_nothing", func(t *testing.T, s store.Store) {
		stopped, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := s.Commit(stopped, []*store.Entry{page(urlOf(1))}); !errors.Is(err, context.Canceled) {
			t.Errorf("Commit: %v", err)
		}
		if _, err := s.Discover(stopped, numbered("example.com", 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("Discover: %v", err)
		}
		if _, err := s.Claim(stopped, me, 1, time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("Claim: %v", err)
		}
		wantChanges(t, s, "")
		discover(t, s, 1, numbered("example.com", 1)) // the store still works after the failure
	}},
}

var visitPromises = []promise{
	{"takes_the_place_of_the_one_before", func(t *testing.T, s store.Store) {
		leader := "https://example.com/leader"
		commit(t, s, page(leader), full(urlOf(1), "one"), page(urlOf(2)))
		before := must(s.End(ctx))(t)
		second := page(urlOf(1))
		second.Revisit = true
		second.Record.Title = "the second visit"
		second.Record.Earlier = []store.Visit{{Hash: hashOf("one")}}
		second.Text, second.Hash, second.Keys, second.Sketch = store.Pack([]byte("two")), hashOf("two"), []uint64{keyOf("two")}, sketchOf("two")
		second.Out = store.PackLinks(urlOf(1), linksTo("two"))
		second.Record.Hash = second.Hash
		commit(t, s, second)

		wantRecord(t, s, second.Record)
		wantText(t, s, urlOf(1), "two")
		wantLinks(t, s, urlOf(1), linksTo("two"))
		equal(t, "sketch", known(t, s, urlOf(1), store.WantSketch).Sketch, sketchOf("two"))
		wantChanges(t, s, "", leader, urlOf(2), urlOf(1))
		wantChanges(t, s, before, urlOf(1))
		equal(t, "kind", changes(t, s, before)[0].Kind, store.Changed)
		equal(t, "members", urlsOf(members(t, s, hashOf(leader))), []string(nil))
		equal(t, "tally", must(s.Tally(ctx))(t), store.Tally{Unique: 3})
	}},
	{"its_earlier_postings_find_nothing", func(t *testing.T, s store.Store) {
		commit(t, s, full(urlOf(1), "one"), full(urlOf(2), "one"))
		second := full(urlOf(1), "two")
		second.Revisit = true
		commit(t, s, second)
		equal(t, "under the old key", leaders(t, s, keyOf("one")), hashesOf(urlOf(2)))
		equal(t, "under the new key", leaders(t, s, keyOf("two")), hashesOf(urlOf(1)))
		wantCopy(t, s, hashOf("one"), urlOf(2))
		wantCopy(t, s, hashOf("two"), urlOf(1))
	}},
	{"a_page_does_not_meet_itself", func(t *testing.T, s store.Store) {
		commit(t, s, full(urlOf(1), "one"))
		ask := askKeys(keyOf("one"))
		ask.ID, ask.Hashes = hashOf(urlOf(1)), []dedup.Hash{hashOf("one")}
		if found := lookup(t, s, ask); found.Copy != nil || len(found.Leaders) > 0 {
			t.Errorf("found %+v", found)
		}
	}},
	{"gone_is_a_page_without_text_that_had_one", func(t *testing.T, s store.Store) {
		commit(t, s, full(urlOf(1), "one"))
		gone := page(urlOf(1))
		gone.Revisit = true
		gone.Record.Kind, gone.Record.Verdict, gone.Record.Status = store.Error, "", 404
		gone.Record.Earlier = []store.Visit{{Words: 4}}
		commit(t, s, gone)
		equal(t, "kind", changes(t, s, "")[0].Kind, store.Gone)
		equal(t, "under its key", leaders(t, s, keyOf("one")), []dedup.Hash(nil))
		if c := known(t, s, urlOf(1), store.WantText|store.WantSketch|store.WantLinks); c.Kept || c.Sketch != nil || c.Links != nil {
			t.Error("its text, sketch or links are still there")
		}
	}},
	{"one_that_touches_a_page_is_no_change", func(t *testing.T, s store.Store) {
		leader := "https://example.com/leader"
		commit(t, s, page(leader), full(urlOf(1), "one"), page(urlOf(2)))
		discover(t, s, 1, items(0, "https://example.com/pending"))
		end := must(s.End(ctx))(t)
		touch := page(urlOf(1))
		touch.Record = known(t, s, urlOf(1), store.WantRecord).Record
		touch.Record.Visit, touch.Record.VisitedAt, touch.Record.Size = store.NotModified, aTime, 77
		touch.Touch = true
		touch.Links = items(1, "https://example.com/new")
		commit(t, s, touch)

		wantRecord(t, s, touch.Record)
		wantText(t, s, urlOf(1), "one")
		wantLinks(t, s, urlOf(1), linksTo("one"))
		equal(t, "sketch", known(t, s, urlOf(1), store.WantSketch).Sketch, sketchOf("one"))
		wantChanges(t, s, "", leader, urlOf(1), urlOf(2))
		wantChanges(t, s, end)
		wantCopy(t, s, hashOf("one"), urlOf(1))
		equal(t, "leaders", leaders(t, s, keyOf("one")), hashesOf(urlOf(1)))
		equal(t, "members", urlsOf(members(t, s, hashOf(leader))), []string{urlOf(1)})
		equal(t, "tally", must(s.Tally(ctx))(t), store.Tally{Unique: 2, Near: 1, Bytes: 77})
		wantState(t, s, "https://example.com/new", frontier.Pending)
	}},
	{"what_visits_without_a_change_learn_is_read_everywhere", func(t *testing.T, s store.Store) {
		leader, member := page(urlOf(1)), page(urlOf(2))
		leader.Hash, leader.Record.Size, leader.Record.ETag, leader.Record.Listed = hashOf("one"), 10, `"a"`, true
		member.Record.Verdict, member.Record.Leader, member.Record.DuplicateOf, member.Record.Resemblance = dedup.Near, hashOf(urlOf(1)), urlOf(1), .9
		member.Hash = hashOf("two")
		commit(t, s, leader, page(urlOf(3)), member)
		touch := func(e *store.Entry, change func(*store.Record)) {
			e.Record = known(t, s, e.Record.URL, store.WantRecord).Record
			e.Touch, e.Replaces = true, e.Record.Updated()
			change(&e.Record)
			commit(t, s, e)
		}
		for _, e := range []*store.Entry{leader, member} {
			touch(e, func(r *store.Record) {
				r.Visit, r.VisitedAt, r.Missed, r.Problem, r.Detail = store.Failed, aTime, 1, "timeout", "it took too long"
				r.Restless = []store.Restless{{Text: "12:00", Visits: 1}, {Text: "13:00"}}
			})
			touch(e, func(r *store.Record) { // some fields become empty again
				r.Visit, r.VisitedAt, r.Missed, r.Problem, r.Detail, r.Restless = store.NotModified, aTime.Add(time.Hour), 0, "", "", nil
				r.ETag, r.Size, r.Listed = "", 20, false
				r.Answered = store.Archived{File: "a.warc.gz", Offset: 5, Length: 6}
			})
		}
		want := []store.Record{leader.Record, page(urlOf(3)).Record, member.Record}
		wantAll := func(s store.Store) {
			t.Helper()
			wantRecord(t, s, want[0])
			var listed []store.Record
			for _, c := range changes(t, s, "") {
				listed = append(listed, c.Record)
			}
			equal(t, "changes", listed, want)
			equal(t, "changes after the first", changes(t, s, changes(t, s, "")[0].Cursor)[1].Record, want[2])
			equal(t, "members", *members(t, s, hashOf(urlOf(1)))[0], want[2])
			found := lookup(t, s, store.Ask{Hashes: []dedup.Hash{hashOf("two")}})
			equal(t, "copy", *found.Copy, want[2])
			equal(t, "the copy's leader", *found.Followed, want[0])
			equal(t, "tally", must(s.Tally(ctx))(t), store.Tally{Unique: 2, Near: 1, Bytes: 40})
		}
		wantAll(s)
		copied := NewMemory()
		copyTo(t, copied, s)
		wantAll(copied)

		changed := page(urlOf(1)) // the record of a new visit has nothing of the updates
		changed.Revisit, changed.Replaces = true, leader.Record.Updated()
		changed.Record.FetchedAt = aTime.Add(2 * time.Hour)
		commit(t, s, changed)
		wantRecord(t, s, changed.Record)
		touch(changed, func(r *store.Record) { r.Visit = store.Same })
		wantRecord(t, s, changed.Record)
	}},
	{"one_that_touches_a_page_replaces_its_links", func(t *testing.T, s store.Store) {
		commit(t, s, full(urlOf(1), "one"))
		end := must(s.End(ctx))(t)
		many := []store.Link{}
		for k := range 20_000 {
			many = append(many, store.Link{URL: "https://example.com/" + hashOf(fmt.Sprint(k)).String(), Kind: store.LinkAnchor})
		}
		for _, links := range [][]store.Link{many, linksTo("two"), {}} {
			touch := page(urlOf(1))
			touch.Record = known(t, s, urlOf(1), store.WantRecord).Record
			touch.Touch, touch.Out = true, store.PackLinks(urlOf(1), links)
			commit(t, s, touch)
			wantLinks(t, s, urlOf(1), links)
		}
		wantText(t, s, urlOf(1), "one")
		wantChanges(t, s, end)
	}},
	{"a_page_without_a_record_is_touched_for_the_first_time", func(t *testing.T, s store.Store) {
		e := full(urlOf(1), "one")
		e.Touch = true
		commit(t, s, e)
		wantRecord(t, s, e.Record)
		wantText(t, s, urlOf(1), "one")
	}},
	{"one_made_from_another_record_is_stale", func(t *testing.T, s store.Store) {
		first := full(urlOf(1), "one")
		first.Record.FetchedAt = aTime
		late := full(urlOf(1), "late")
		late.Revisit, late.Replaces = true, aTime
		late.Record.FetchedAt = aTime.Add(time.Hour)
		wantOutcomes(t, s, []*store.Entry{late}, store.Stale) // stale, because there is no record
		commit(t, s, first)
		judged := full(urlOf(1), "one")
		judged.Record.FetchedAt, judged.Record.JudgedAt = aTime, aTime.Add(time.Minute)
		judged.Revisit, judged.Replaces = true, aTime
		commit(t, s, judged)
		wantOutcomes(t, s, []*store.Entry{late}, store.Stale)
		late.Revisit, late.Touch = false, true
		wantOutcomes(t, s, []*store.Entry{late}, store.Stale)
		wantRecord(t, s, judged.Record)
		late.Revisit, late.Touch, late.Replaces = true, false, judged.Record.JudgedAt
		commit(t, s, late)
		wantText(t, s, urlOf(1), "late")
	}},
	{"of_a_page_never_visited_is_its_first", func(t *testing.T, s store.Store) {
		e := full(urlOf(1), "one")
		e.Revisit = true
		commit(t, s, e)
		wantRecord(t, s, e.Record)
		equal(t, "near", must(s.Tally(ctx))(t).Near, int64(1))
	}},
	{"of_a_long_text_by_a_short_one", func(t *testing.T, s store.Store) {
		long, short := page(urlOf(1)), page(urlOf(1))
		long.Text, short.Text = store.Pack(noise(1, 5<<20)), store.Pack([]byte("short"))
		short.Revisit = true
		commit(t, s, long)
		commit(t, s, short)
		wantText(t, s, urlOf(1), "short")
	}},
	{"ten_in_a_row", func(t *testing.T, s store.Store) {
		for n := range 10 {
			text := fmt.Sprint("text ", n%3)
			e := full(urlOf(1), text)
			e.Revisit = true
			commit(t, s, e)
			wantText(t, s, urlOf(1), text)
			wantCopy(t, s, hashOf(text), urlOf(1))
			equal(t, "leaders", leaders(t, s, keyOf(text)), hashesOf(urlOf(1)))
		}
		equal(t, "changes", len(changes(t, s, "")), 1)
		equal(t, "tally", must(s.Tally(ctx))(t), store.Tally{Near: 1})
		equal(t, "members", len(slices.Collect(func(yield func(*store.Record) bool) {
			for _, r := range members(t, s, hashOf("https://example.com/leader")) {
				if !yield(r) {
					return
				}
			}
		})), 1)
	}},
}

// largeMeta is the size in bytes of a large [store.Meta] value, which a store may keep in pieces.
const largeMeta = 256 << 10
