package storetest

import (
	"fmt"
	"testing"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// durablePromises are about data that must survive closing and reopening a store. reopen does both.
var durablePromises = []struct {
	name string
	test func(t *testing.T, reopen func() store.Store)
}{
	{"everything_stays", func(t *testing.T, reopen func() store.Store) {
		s := reopen()
		discover(t, s, 2, items(0, "https://example.com/", "https://other.example/"))
		until := time.Now().Add(50 * time.Minute).Round(0).UTC()
		spent := frontier.Spent{Pages: 3, Bytes: 4}
		check(t, s.Return(ctx, claim(t, s, "example.com").Claim, frontier.Rest{Blocked: until, Spent: spent}))
		check(t, s.Return(ctx, claim(t, s, "other.example").Claim, frontier.Rest{Delay: time.Minute, Next: until, Idle: true}))
		check(t, s.SetMeta(ctx, "name", []byte("value")))
		check(t, s.SetMeta(ctx, "empty", nil))
		check(t, s.Keep(ctx, "name", []byte("made of pages")))
		e := full("https://example.com/", "a text")
		e.Record = fullRecord("https://example.com/")
		e.Links = items(1, "https://example.com/1")
		e.Beyond = []string{"https://beyond.example/"}
		empty := page("https://example.com/empty")
		empty.Text = store.Pack(nil)
		commit(t, s, e, empty)
		end := must(s.End(ctx))(t)
		check(t, s.Sync())
		tally := must(s.Tally(ctx))(t)
		counts := must(s.Counts(ctx))(t)

		for range 2 { // badger reads the data from its log the first time, and from a table the second time
			s = reopen()
			wantRecord(t, s, e.Record)
			wantText(t, s, e.Record.URL, "a text")
			wantLinks(t, s, e.Record.URL, linksTo("a text"))
			wantText(t, s, empty.Record.URL, "")
			equal(t, "sketch", known(t, s, e.Record.URL, store.WantSketch).Sketch, e.Sketch)
			wantCopy(t, s, e.Hash, e.Record.URL)
			equal(t, "leaders", leaders(t, s, e.Keys[1]), hashesOf(e.Record.URL))
			equal(t, "clusters", collect(t, s.Clusters(ctx)), []store.Cluster{{Leader: e.Record.Leader, Members: 1}})
			equal(t, "members", urlsOf(members(t, s, e.Record.Leader)), []string{e.Record.URL})
			wantChanges(t, s, "", e.Record.URL, empty.Record.URL)
			equal(t, "end", must(s.End(ctx))(t), end)
			wantChanges(t, s, end)
			equal(t, "tally", must(s.Tally(ctx))(t), tally)
			equal(t, "counts", must(s.Counts(ctx))(t), counts)
			equal(t, "meta", must(s.Meta(ctx, "name"))(t), []byte("value"))
			equal(t, "empty meta", must(s.Meta(ctx, "empty"))(t), []byte{})
			equal(t, "kept", must(s.Kept(ctx, "name"))(t), []byte("made of pages"))
			wantState(t, s, "https://example.com/", frontier.Fetched)
			wantURLs(t, s, frontier.Outside, "https://beyond.example/")
			wantHosts(t, s,
				frontier.Host{Name: "example.com", Pending: 1, Depth: 1, Rest: frontier.Rest{Blocked: until, Spent: spent}},
				frontier.Host{Name: "other.example", Pending: 1, Rest: frontier.Rest{Delay: time.Minute}})
			discover(t, s, 0, items(0, "https://example.com/", "https://other.example/", "https://example.com/1"))
		}
	}},
	{"claims_end", func(t *testing.T, reopen func() store.Store) {
		s := reopen()
		discover(t, s, 5, numbered("example.com", 5))
		old := claim(t, s, "example.com").Claim
		equal(t, "taken", take(t, s, old, 3), []string{"https://example.com/0", "https://example.com/1", "https://example.com/2"})
		end(t, s, "https://example.com/1", frontier.Fetched)
		check(t, s.Return(ctx, old, frontier.Rest{Next: time.Now().Add(time.Hour)})) // a delay that skink itself chose ends with the process
		s = reopen()
		c := claim(t, s, "example.com").Claim
		equal(t, "taken again", take(t, s, c, 9), []string{
			"https://example.com/0", "https://example.com/2", "https://example.com/3", "https://example.com/4"})
		s = reopen()
		equal(t, "and again", len(take(t, s, claim(t, s, "example.com").Claim, 9)), 4)
	}},
	{"the_last_slot_stays", func(t *testing.T, reopen func() store.Store) {
		s := reopen()
		discover(t, s, 1, items(0, "https://example.com/"))
		wantSlot(t, s, "example.com", time.Hour, time.Hour, 0)
		check(t, s.Return(ctx, claim(t, s, "example.com").Claim, frontier.Rest{Delay: time.Minute}))
		s = reopen()
		if last := claim(t, s, "example.com").Host.Rest.Last; last.Delay != time.Hour || time.Since(last.At).Abs() > time.Minute {
			t.Errorf("the last slot is %+v", last)
		}
		wantSlot(t, s, "example.com", time.Minute, 30*time.Minute, 30*time.Minute)
	}},
	{"the_order_of_the_queue_stays", func(t *testing.T, reopen func() store.Store) {
		s := reopen()
		discover(t, s, 4, items(1, "https://example.com/1", "https://example.com/2", "https://example.com/3", "https://example.com/4"))
		c := claim(t, s, "example.com").Claim
		take(t, s, c, 1)
		check(t, s.Release(ctx, c, frontier.Item{URL: "https://example.com/1", Depth: 1, Tries: 1}))
		end(t, s, "https://example.com/4", frontier.Failed) // the URL that was added last
		s = reopen()
		discover(t, s, 1, items(1, "https://example.com/5"))
		discover(t, s, 1, items(0, "https://example.com/0"))
		equal(t, "taken", take(t, s, claim(t, s, "example.com").Claim, 9), []string{
			"https://example.com/0", "https://example.com/2", "https://example.com/3", "https://example.com/1", "https://example.com/5"})
	}},
	{"what_is_queued_again_is_handed_out_once_and_in_order", func(t *testing.T, reopen func() store.Store) {
		s := reopen()
		for n := range 3 {
			e := page(urlOf(n))
			e.State = frontier.Fetched
			discover(t, s, 1, items(0, e.Record.URL))
			commit(t, s, e)
		}
		again := func(n int, due time.Time) frontier.Item {
			for _, c := range changes(t, s, "") {
				if c.Record.URL == urlOf(n) {
					it := store.Revisit(&c.Record, due, true)
					it.Place = must(c.Cursor.Place())(t)
					return it
				}
			}
			t.Fatalf("page %d is missing", n)
			return frontier.Item{}
		}
		touch := func(n int, at time.Time, state frontier.State) {
			e := page(urlOf(n))
			e.Record = known(t, s, urlOf(n), store.WantRecord).Record
			e.Record.Visit, e.Record.VisitedAt, e.Touch, e.State = store.NotModified, at, true, state
			commit(t, s, e)
		}
		wantTaken := func(urls ...string) {
			t.Helper()
			var got []string
			for _, it := range must(s.Take(ctx, claim(t, s, "example.com").Claim, 10))(t) {
				got = append(got, it.URL)
			}
			equal(t, "taken", got, urls)
		}
		first, second := aTime.Add(time.Hour), aTime.Add(3*time.Hour)
		requeue(t, s, 3, again(0, first), again(1, first), again(2, first))
		touch(0, first.Add(time.Hour), frontier.Fetched)
		discover(t, s, 1, items(0, urlOf(9))) // a URL without a record waits behind the pages
		requeue(t, s, 1, again(0, second))    // and page 0 again, while the pages after it are still in the first run
		s = reopen()
		wantTaken(urlOf(1), urlOf(2), urlOf(9), urlOf(0))
		s = reopen()
		touch(0, second.Add(time.Hour), frontier.Fetched)
		equal(t, "pending", must(s.Counts(ctx))(t).Pending, int64(3))
		s = reopen()
		equal(t, "pending", must(s.Counts(ctx))(t).Pending, int64(3))
		wantTaken(urlOf(1), urlOf(2), urlOf(9))
	}},
	{"what_is_visited_again_stays_pending_until_then", func(t *testing.T, reopen func() store.Store) {
		s := reopen()
		const pages = 300
		for n := range pages {
			e := page(urlOf(n))
			e.Record.FetchedAt, e.Record.ETag, e.Record.Depth = aTime, fmt.Sprint("tag ", n), n%2
			discover(t, s, 1, items(n%2, e.Record.URL))
			e.State = frontier.Fetched
			commit(t, s, e)
		}
		due := aTime.Add(time.Hour)
		var list, want []frontier.Item
		for _, c := range changes(t, s, "") {
			it := store.Revisit(&c.Record, due, c.Record.URL != urlOf(7))
			it.Place = must(c.Cursor.Place())(t)
			list = append(list, it)
		}
		requeue(t, s, pages, list...)
		requeue(t, s, 0, list...)
		discover(t, s, 0, items(0, urlOf(0)))
		for depth := range 2 {
			for _, it := range list {
				if it.Place = 0; it.Depth == depth {
					want = append(want, it)
				}
			}
		}
		touch := func(url string, state frontier.State) {
			e := page(url)
			e.Record = known(t, s, url, store.WantRecord).Record
			e.Record.Visit, e.Record.VisitedAt, e.Touch, e.State = store.NotModified, due, true, state
			commit(t, s, e)
		}
		keep := func(url string) {
			e := page(url)
			e.State = frontier.Fetched
			wantOutcomes(t, s, []*store.Entry{e}, store.Kept)
		}
		for left := 0; left < 9; left++ { // 9 in 10 URLs are finished in each of several ways, between restarts
			equal(t, "pending", must(s.Counts(ctx))(t).Pending, int64(len(want)))
			copied := NewMemory()
			copyTo(t, copied, s)
			equal(t, "pending in a copy", must(copied.Counts(ctx))(t).Pending, int64(len(want)))
			c := claim(t, s, "example.com").Claim
			equal(t, "taken", must(s.Take(ctx, c, 2*pages))(t), want)
			for _, it := range want[:25] {
				wantState(t, s, it.URL, frontier.Pending)
			}
			touch(want[0].URL, frontier.Fetched)
			touch(want[1].URL, frontier.Failed)
			changed := page(want[2].URL)
			changed.Revisit, changed.State, changed.Record.FetchedAt = true, frontier.Fetched, due
			commit(t, s, changed)
			keep(want[3].URL)
			later := want[4]
			later.Tries++
			check(t, s.Release(ctx, c, later))
			for _, it := range want[5:20] {
				touch(it.URL, frontier.Fetched)
			}
			wantState(t, s, want[0].URL, frontier.Fetched)
			wantState(t, s, want[1].URL, frontier.Failed)
			changed = page(want[20].URL) // the others are judged again before the URL is finished
			changed.Revisit, changed.State, changed.Record.FetchedAt = true, frontier.Unknown, due
			commit(t, s, changed)
			wantState(t, s, changed.Record.URL, frontier.Pending)
			keep(changed.Record.URL)
			wantState(t, s, changed.Record.URL, frontier.Fetched)
			keep(later.URL)
			want = append(want[:0:0], want[21:]...)
			s = reopen()
		}
	}},
	{"what_was_put_back_put_last_or_put_off_stays_so", func(t *testing.T, reopen func() store.Store) {
		s := reopen()
		discover(t, s, 1, items(0, urlOf(0)))
		end(t, s, urlOf(0), frontier.Failed)
		list := []frontier.Item{wholeItem(urlOf(0)), {URL: urlOf(1), Priority: 1}, {URL: urlOf(2), Depth: 3}, {URL: urlOf(3), Due: farOff, Depth: 1, Priority: 2}}
		requeue(t, s, 4, list...)
		soon := frontier.Item{URL: "https://soon.example/", Due: time.Now().Add(30 * time.Millisecond).Round(0).UTC(), Priority: 2, Depth: 1, Validators: frontier.Validators{ETag: "e"}}
		discover(t, s, 1, []frontier.Item{soon})
		for range 2 {
			s = reopen()
			wantURLs(t, s, frontier.Pending, urlOf(0), urlOf(1), urlOf(2), urlOf(3), soon.URL)
			wantRecord(t, s, page(urlOf(0)).Record)
			requeue(t, s, 0, list...)
			c := claim(t, s, "example.com").Claim
			equal(t, "taken", must(s.Take(ctx, c, 9))(t), []frontier.Item{list[0], list[2], list[1]})
		}
		again := page(urlOf(0))
		again.Revisit = true
		commit(t, s, again)
		end(t, s, urlOf(1), frontier.Fetched)
		end(t, s, urlOf(2), frontier.Fetched)
		time.Sleep(time.Until(soon.Due))
		equal(t, "taken when it is due", must(s.Take(ctx, claim(t, s, "soon.example").Claim, 9))(t), []frontier.Item{soon})
		end(t, s, soon.URL, frontier.Fetched)
		s = reopen()
		g := must(s.Claim(ctx, me, 9, time.Hour))(t)
		if len(g.Hosts) > 0 || !g.Next.Equal(farOff) {
			t.Errorf("Claim = %+v, want none before %v", g, farOff)
		}
		wantHosts(t, s, frontier.Host{Name: "example.com", Pending: 1})
	}},
	{"later_changes_come_after_earlier_cursors", func(t *testing.T, reopen func() store.Store) {
		var cursors []store.Cursor
		for n := range 4 {
			s := reopen()
			cursors = append(cursors, must(s.End(ctx))(t))
			commit(t, s, page(urlOf(n)))
			for i, c := range cursors {
				equal(t, "changes", len(changes(t, s, c)), n+1-i)
			}
		}
	}},
	{"what_a_visit_replaced_stays_away", func(t *testing.T, reopen func() store.Store) {
		s := reopen()
		for n := range 20 {
			commit(t, s, full(urlOf(n), fmt.Sprint("first ", n)))
		}
		for n := range 10 {
			e := full(urlOf(n), fmt.Sprint("second ", n))
			e.Revisit = true
			commit(t, s, e)
		}
		for range 2 {
			s = reopen()
			for n := range 20 {
				text, old := fmt.Sprint("first ", n), ""
				if n < 10 {
					text, old = fmt.Sprint("second ", n), text
				}
				wantText(t, s, urlOf(n), text)
				wantCopy(t, s, hashOf(text), urlOf(n))
				equal(t, "leaders", leaders(t, s, keyOf(text)), hashesOf(urlOf(n)))
				if old != "" {
					wantCopy(t, s, hashOf(old), "")
					equal(t, "old leaders", leaders(t, s, keyOf(old)), []dedup.Hash(nil))
				}
			}
		}
	}},
	{"a_second_run_changes_nothing", func(t *testing.T, reopen func() store.Store) {
		s := reopen()
		run := func(want store.Outcome) {
			for n := range 50 {
				url := urlOf(n)
				must(s.Discover(ctx, items(0, url)))(t)
				e := full(url, url)
				e.Links = items(1, url+"/link")
				wantOutcomes(t, s, []*store.Entry{e}, want)
			}
		}
		run(store.Written)
		tally, counts := must(s.Tally(ctx))(t), must(s.Counts(ctx))(t)
		records := changes(t, s, "")
		s = reopen()
		run(store.Kept)
		equal(t, "tally", must(s.Tally(ctx))(t), tally)
		equal(t, "counts", must(s.Counts(ctx))(t), counts)
		equal(t, "records", changes(t, s, ""), records)
	}},
}
