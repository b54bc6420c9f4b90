package storetest

import (
	"testing"
	"time"

	"skink/frontier"
	"skink/store"
)

// backPromises are about URLs that are requeued, queued with a low priority, or due later.
var backPromises = []promise{
	{"what_has_ended_is_put_back", func(t *testing.T, s store.Store) {
		for i, state := range []frontier.State{frontier.Fetched, frontier.Redirected, frontier.Blocked, frontier.Failed, frontier.GivenUp} {
			url := urlOf(i)
			discover(t, s, 1, items(0, url))
			end(t, s, url, state)
			again := wholeItem(url)
			requeue(t, s, 1, again)
			requeue(t, s, 0, again)
			wantState(t, s, url, frontier.Pending)
			equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: 1, Fetched: int64(i)})
			c := claim(t, s, "example.com")
			equal(t, "taken", must(s.Take(ctx, c.Claim, 9))(t), []frontier.Item{again})
			wantRecord(t, s, page(url).Record)
			second := page(url)
			second.Revisit, second.Claim = true, c.Claim
			commit(t, s, second)
			check(t, s.Return(ctx, c.Claim, frontier.Rest{}))
		}
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Fetched: 5})
	}},
	{"what_is_pending_stays_as_it_is", func(t *testing.T, s store.Store) {
		list := numbered("example.com", 2)
		discover(t, s, 2, list)
		c := claim(t, s, "example.com").Claim
		take(t, s, c, 1)
		list[0].Depth, list[1].Depth = 7, 7
		requeue(t, s, 0, list...)
		equal(t, "left", must(s.Take(ctx, c, 9))(t), numbered("example.com", 2)[1:])
		requeue(t, s, 0, list...)
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: 2})
	}},
	{"what_is_unknown_or_outside_is_queued", func(t *testing.T, s store.Store) {
		in, out, never := "https://example.com/", "https://example.com/out", "https://example.com/never"
		leaveOut(t, s, out)
		record := page(never)
		record.State = frontier.Unknown
		commit(t, s, record)
		requeue(t, s, 3, items(0, in, out, never, in)...)
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: 3})
		equal(t, "taken", take(t, s, claim(t, s, "example.com").Claim, 9), []string{in, out, never})
		discover(t, s, 0, items(0, in, out, never))
		wantRecord(t, s, record.Record)
	}},
	{"a_host_whose_URLs_had_all_ended_is_given_again", func(t *testing.T, s store.Store) {
		discover(t, s, 1, items(0, urlOf(1)))
		c := claim(t, s, "example.com").Claim
		take(t, s, c, 1)
		end(t, s, urlOf(1), frontier.Failed)
		check(t, s.Return(ctx, c, frontier.Rest{Delay: time.Minute}))
		equal(t, "given", granted(t, s, me, 9), []string(nil))
		requeue(t, s, 1, items(0, urlOf(1))...)
		g := claim(t, s, "example.com")
		equal(t, "delay", g.Host.Rest.Delay, time.Minute)
		equal(t, "taken", take(t, s, g.Claim, 9), []string{urlOf(1)})
	}},
	{"a_visit_that_was_written_is_told_by_its_time", func(t *testing.T, s store.Store) {
		url := urlOf(1)
		first := full(url, "one")
		first.Record.FetchedAt = aTime
		commit(t, s, first)
		again := frontier.Item{URL: url, Due: aTime.Add(time.Hour)}
		requeue(t, s, 1, again)
		second := full(url, "two")
		second.Revisit, second.State = true, frontier.Unknown // the process crashed before it wrote the final state of the URL
		second.Record.FetchedAt = again.Due.Add(time.Second)
		commit(t, s, second)
		taken := must(s.Take(ctx, claim(t, s, "example.com").Claim, 9))(t)
		equal(t, "taken", taken, []frontier.Item{again})
		equal(t, "the first visit is what was asked for", first.Record.Answers(&taken[0]), false)
		equal(t, "the second is", known(t, s, url, store.WantRecord).Record.Answers(&taken[0]), true)
		replay := full(url, "two")
		wantOutcomes(t, s, []*store.Entry{replay}, store.Kept)
		wantState(t, s, url, frontier.Fetched)
		wantText(t, s, url, "two")
	}},
	{"by_priority_before_depth", func(t *testing.T, s store.Store) {
		put := func(priority, depth int, url string) {
			discover(t, s, 1, []frontier.Item{{URL: url, Priority: priority, Depth: depth}})
		}
		put(1, 0, "https://example.com/last")
		put(127, 0, "https://example.com/very-last")
		put(0, 300, "https://example.com/deep")
		put(0, 2, "https://example.com/usual")
		put(-1, 9, "https://example.com/soon")
		put(-128, 9, "https://example.com/soonest")
		put(1, 0, "https://example.com/after-last")
		put(0, 5, "https://other.example/")
		equal(t, "given", granted(t, s, "other", 1), []string{"example.com"})
		g := must(s.Claim(ctx, me, 9, time.Hour))(t)
		equal(t, "given to another", g.Hosts[0].Host, frontier.Host{Name: "other.example", Pending: 1, Depth: 5})
	}},
	{"the_order_of_a_host", func(t *testing.T, s store.Store) {
		discover(t, s, 6, []frontier.Item{
			{URL: urlOf(1), Priority: 1}, {URL: urlOf(2), Priority: 127}, {URL: urlOf(3), Depth: 300},
			{URL: urlOf(4), Depth: 2}, {URL: urlOf(5), Priority: -128, Depth: 9}, {URL: urlOf(6), Priority: 1},
		})
		c := claim(t, s, "example.com").Claim
		equal(t, "first", take(t, s, c, 4), []string{urlOf(5), urlOf(4), urlOf(3), urlOf(1)})
		discover(t, s, 1, []frontier.Item{{URL: urlOf(7), Depth: 1}})
		check(t, s.Release(ctx, c, frontier.Item{URL: urlOf(5), Priority: 1}))
		equal(t, "rest", take(t, s, c, 9), []string{urlOf(7), urlOf(6), urlOf(5), urlOf(2)})
	}},
	{"what_is_due_later_is_not_given", func(t *testing.T, s store.Store) {
		later := frontier.Item{URL: urlOf(1), Due: farOff, Priority: 3, Depth: 2}
		discover(t, s, 1, []frontier.Item{later})
		g := must(s.Claim(ctx, me, 9, time.Hour))(t)
		equal(t, "given", len(g.Hosts), 0)
		equal(t, "waited for", g.Waiting, 0)
		if !g.Next.Equal(farOff) {
			t.Errorf("the first is due at %v, want %v", g.Next, farOff)
		}
		wantState(t, s, urlOf(1), frontier.Pending)
		wantURLs(t, s, frontier.Pending, urlOf(1))
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: 1})

		discover(t, s, 1, items(5, urlOf(2)))
		h := claim(t, s, "example.com")
		equal(t, "host", h.Host, frontier.Host{Name: "example.com", Pending: 2, Depth: 5})
		equal(t, "taken", take(t, s, h.Claim, 9), []string{urlOf(2)})
		check(t, s.Release(ctx, h.Claim, frontier.Item{URL: urlOf(2), Due: farOff.Add(-time.Hour)}))
		equal(t, "left", take(t, s, h.Claim, 9), []string(nil))
		check(t, s.Return(ctx, h.Claim, frontier.Rest{Next: aTime}))
		if g := must(s.Claim(ctx, me, 9, time.Hour))(t); len(g.Hosts) > 0 || !g.Next.Equal(farOff.Add(-time.Hour)) {
			t.Errorf("Claim = %+v, want none before %v", g, farOff.Add(-time.Hour))
		}
		end(t, s, urlOf(1), frontier.Fetched)
		end(t, s, urlOf(2), frontier.Fetched)
		wantHosts(t, s)
	}},
	{"what_was_due_later_comes_when_it_is_due", func(t *testing.T, s store.Store) {
		now := time.Now().Round(0)
		soon := []frontier.Item{
			{URL: urlOf(1), Due: now.Add(620 * time.Millisecond).UTC(), Depth: 1, Validators: frontier.Validators{ETag: "e"}},
			{URL: urlOf(2), Due: now.Add(600 * time.Millisecond).UTC(), Depth: 1, Via: "https://example.com/via"},
			{URL: urlOf(3), Due: farOff},
		}
		discover(t, s, 3, soon)
		discover(t, s, 1, []frontier.Item{{URL: "https://resting.example/", Due: soon[0].Due}})
		var c frontier.Claim
		var got []frontier.Item
		for deadline := time.Now().Add(20 * time.Second); len(got) < 2; time.Sleep(5 * time.Millisecond) {
			if c == (frontier.Claim{}) {
				for _, h := range must(s.Claim(ctx, me, 9, time.Hour))(t).Hosts {
					if h.Claim.Host == "example.com" {
						c = h.Claim
					}
				}
			} else {
				got = append(got, must(s.Take(ctx, c, 9))(t)...)
			}
			if time.Now().After(deadline) {
				t.Fatal("nothing is ever due")
			}
		}
		equal(t, "taken, in the order of their times", got, []frontier.Item{soon[1], soon[0]})
		check(t, s.Return(ctx, c, frontier.Rest{}))
		equal(t, "free again", take(t, s, claim(t, s, "example.com").Claim, 9), []string{urlOf(2), urlOf(1)})
	}},
	{"what_was_taken_under_a_claim_that_ran_out_keeps_its_place", func(t *testing.T, s store.Store) {
		list := []frontier.Item{{URL: urlOf(1), Priority: 1, Due: aTime, Validators: frontier.Validators{ETag: "e"}}, {URL: urlOf(2), Priority: -1}, {URL: urlOf(3), Due: farOff}}
		discover(t, s, 3, list)
		take(t, s, claimBy(t, s, "dead", "example.com", 400*time.Millisecond).Claim, 9)
		var next frontier.Held
		for deadline := time.Now().Add(20 * time.Second); next.Claim.Host == ""; time.Sleep(5 * time.Millisecond) {
			if g := must(s.Claim(ctx, me, 9, time.Hour))(t); len(g.Hosts) > 0 {
				next = g.Hosts[0]
			} else if time.Now().After(deadline) {
				t.Fatal("the host of a dead worker is never free")
			}
		}
		equal(t, "taken", must(s.Take(ctx, next.Claim, 9))(t), []frontier.Item{list[1], list[0]})
	}},
}

// requeue requeues URLs and expects that exactly want of them were not pending before.
func requeue(t tester, s store.Store, want int, list ...frontier.Item) {
	t.Helper()
	if got := must(s.Requeue(ctx, list))(t); got != want {
		t.Errorf("Requeue put %d URLs back, want %d", got, want)
	}
}
