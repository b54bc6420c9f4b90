package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"skink/frontier"
	"skink/store"
)

var frontierPromises = []promise{
	{"a_known_URL_is_dropped", func(t *testing.T, s store.Store) {
		a, b := "https://example.com/a", "https://example.com/b"
		discover(t, s, 1, items(0, a, a))
		discover(t, s, 1, items(5, a, b))
		discover(t, s, 0, nil)
		c := claim(t, s, "example.com").Claim
		take(t, s, c, 1)
		discover(t, s, 0, items(0, a)) // a worker has taken the URL
		end(t, s, a, frontier.Failed)
		discover(t, s, 0, items(0, a)) // the URL is finished
		equal(t, "left", take(t, s, c, 9), []string{b})
	}},
	{"discovery_is_atomic_to_16_goroutines", func(t *testing.T, s store.Store) {
		all := numbered("example.com", 500)
		var found atomic.Int64
		var wg sync.WaitGroup
		for g := range 16 {
			wg.Go(func() {
				for i := 0; i < len(all); i += 10 {
					part := slices.Clone(all[i : i+10])
					if g%2 == 1 {
						slices.Reverse(part)
					}
					n, err := s.Discover(ctx, part)
					if err != nil {
						t.Error(err)
					}
					found.Add(int64(n))
				}
			})
		}
		wg.Wait()
		equal(t, "found", found.Load(), int64(len(all)))
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: int64(len(all))})
		urls := take(t, s, claim(t, s, "example.com").Claim, 1000)
		slices.Sort(urls)
		equal(t, "taken", len(slices.Compact(urls)), len(all))
	}},
	{"a_state_goes_from_unknown_to_its_end", func(t *testing.T, s store.Store) {
		for i, state := range []frontier.State{frontier.Fetched, frontier.Redirected, frontier.Blocked, frontier.Failed, frontier.GivenUp, frontier.Outside, frontier.Postponed} {
			url := fmt.Sprintf("https://example.com/%d", i)
			wantState(t, s, url, frontier.Unknown)
			discover(t, s, 1, items(0, url))
			wantState(t, s, url, frontier.Pending)
			end(t, s, url, state)
			wantState(t, s, url, state)
		}
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Fetched: 1, Redirected: 1, Blocked: 1, Failed: 1, GivenUp: 1, Outside: 1, Postponed: 1})
		wantURLs(t, s, frontier.Outside, "https://example.com/5")
	}},
	{"what_is_left_out_can_be_discovered", func(t *testing.T, s store.Store) {
		in, out, other := "https://example.com/", "https://other.example/", "https://third.example/"
		discover(t, s, 1, items(0, in))
		leaveOut(t, s, in, frontier.Leave(out, "scope: host"), out, other)
		leaveOut(t, s, out)
		wantState(t, s, in, frontier.Pending)
		wantState(t, s, out, frontier.Outside)
		equal(t, "outside", must(s.Counts(ctx))(t).Outside, int64(2))
		wantURLs(t, s, frontier.Outside, frontier.Leave(out, "scope: host"), other)

		discover(t, s, 1, items(3, in, out))
		discover(t, s, 0, items(3, out))
		wantState(t, s, out, frontier.Pending)
		leaveOut(t, s, out)
		wantURLs(t, s, frontier.Pending, in, out)
		wantURLs(t, s, frontier.Outside, other)
		equal(t, "taken", take(t, s, claim(t, s, "other.example").Claim, 9), []string{out})
		end(t, s, out, frontier.GivenUp)
		wantURLs(t, s, frontier.Pending, in)
		wantURLs(t, s, frontier.GivenUp)
	}},
	{"the_first_end_stays", func(t *testing.T, s store.Store) {
		url := "https://example.com/"
		discover(t, s, 1, items(0, url))
		end(t, s, url, frontier.Redirected)
		e := page(url)
		wantOutcomes(t, s, []*store.Entry{e}, store.Kept)
		wantState(t, s, url, frontier.Redirected)
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Redirected: 1})
	}},
	{"hosts_are_those_with_URLs_pending", func(t *testing.T, s store.Store) {
		wantHosts(t, s)
		discover(t, s, 4, items(0, "https://a.example/1", "https://a.example/2", "https://b.example/", "https://a.example:8080/"))
		take(t, s, claim(t, s, "a.example").Claim, 1)
		discover(t, s, 1, items(3, "https://deep.example/"))
		for _, h := range collect(t, s.Hosts(ctx)) {
			if h.Name == "deep.example" && h.Depth != 3 {
				t.Errorf("depth %d of %s, want 3", h.Depth, h.Name)
			}
		}
		end(t, s, "https://deep.example/", frontier.Fetched)
		wantHosts(t, s,
			frontier.Host{Name: "a.example", Pending: 2},
			frontier.Host{Name: "a.example:8080", Pending: 1},
			frontier.Host{Name: "b.example", Pending: 1})
		end(t, s, "https://a.example/1", frontier.Fetched)
		end(t, s, "https://b.example/", frontier.Fetched)
		wantHosts(t, s,
			frontier.Host{Name: "a.example", Pending: 1},
			frontier.Host{Name: "a.example:8080", Pending: 1})
	}},
}

// end commits a page without a verdict, with the given final state of its URL.
func end(t tester, s store.Store, url string, state frontier.State) {
	t.Helper()
	e := page(url)
	e.State = state
	commit(t, s, e)
}

// leaveOut commits a page with links to URLs outside the crawl.
func leaveOut(t tester, s store.Store, urls ...string) {
	t.Helper()
	e := page("leading out")
	e.State, e.Beyond = frontier.Unknown, urls
	must(s.Commit(ctx, []*store.Entry{e}))(t)
}

const me = "me"

// claim claims a host. It immediately gives back all other hosts that the store grants.
func claim(t tester, s store.Store, host string) frontier.Held {
	t.Helper()
	return claimBy(t, s, me, host, time.Hour)
}

func claimBy(t tester, s store.Store, worker, host string, ttl time.Duration) (held frontier.Held) {
	t.Helper()
	for _, h := range must(s.Claim(ctx, worker, 1<<20, ttl))(t).Hosts {
		if h.Claim.Host == host {
			held = h
		} else {
			check(t, s.Return(ctx, h.Claim, h.Host.Rest))
		}
	}
	if held.Claim.Host != host {
		t.Errorf("%s was not given to %s", host, worker)
	}
	return held
}

func take(t tester, s store.Store, c frontier.Claim, n int) []string {
	t.Helper()
	var urls []string
	for _, it := range must(s.Take(ctx, c, n))(t) {
		urls = append(urls, it.URL)
	}
	return urls
}

// granted claims hosts for a worker and returns their names, in order.
func granted(t tester, s store.Store, worker string, n int) (names []string) {
	t.Helper()
	for _, h := range must(s.Claim(ctx, worker, n, time.Hour))(t).Hosts {
		names = append(names, h.Host.Name)
	}
	return names
}

func wantURLs(t tester, s store.Store, state frontier.State, want ...string) {
	t.Helper()
	got := collect(t, s.URLs(ctx, state))
	slices.Sort(got)
	equal(t, fmt.Sprintf("URLs in state %d", state), got, want)
}

func wantHosts(t tester, s store.Store, want ...frontier.Host) {
	t.Helper()
	got := map[string]frontier.Host{}
	for _, h := range collect(t, s.Hosts(ctx)) {
		if _, twice := got[h.Name]; twice {
			t.Errorf("host %s comes twice", h.Name)
		}
		h.Rest.Blocked = h.Rest.Blocked.UTC()
		got[h.Name] = h
	}
	list := slices.Collect(maps.Values(got))
	slices.SortFunc(list, func(a, b frontier.Host) int { return strings.Compare(a.Name, b.Name) })
	equal(t, "hosts", list, want)
}

// wantSlot reserves a request to a host, and checks how long it must wait.
func wantSlot(t tester, s store.Store, host string, least, most, want time.Duration) {
	t.Helper()
	wait := must(s.Slot(ctx, host, least, most))(t)
	if off := want - wait; off < 0 || off > time.Minute || want == 0 && wait != 0 {
		t.Errorf("a request to %s with a delay from %v to %v waits %v, want %v or a little less", host, least, most, wait, want)
	}
}

var takePromises = []promise{
	{"nothing_waiting_is_no_error", func(t *testing.T, s store.Store) {
		discover(t, s, 1, items(0, "https://example.com/"))
		c := claim(t, s, "example.com").Claim
		equal(t, "none asked for", take(t, s, c, 0), []string(nil))
		equal(t, "all", take(t, s, c, 2), []string{"https://example.com/"})
		equal(t, "all taken", take(t, s, c, 2), []string(nil))
	}},
	{"an_item_comes_back_whole", func(t *testing.T, s store.Store) {
		want := wholeItem("https://example.com/?a=b")
		discover(t, s, 1, []frontier.Item{want})
		equal(t, "taken", must(s.Take(ctx, claim(t, s, "example.com").Claim, 1))(t), []frontier.Item{want})
	}},
	{"by_depth_then_by_arrival", func(t *testing.T, s store.Store) {
		discover(t, s, 2, items(300, "https://example.com/d1", "https://example.com/d2"))
		discover(t, s, 2, items(1, "https://example.com/b1", "https://other.example/"))
		discover(t, s, 1, items(2, "https://example.com/c1"))
		discover(t, s, 2, items(1, "https://example.com/b2", "https://example.com/a-later-one"))
		c := claim(t, s, "example.com").Claim
		equal(t, "first", take(t, s, c, 2), []string{"https://example.com/b1", "https://example.com/b2"})
		discover(t, s, 1, items(0, "https://example.com/a1")) // a1 would come before the URLs that are already being fetched
		equal(t, "rest", take(t, s, c, 9), []string{
			"https://example.com/a1", "https://example.com/a-later-one",
			"https://example.com/c1", "https://example.com/d1", "https://example.com/d2"})
	}},
	{"hosts_of_like_names_do_not_mix", func(t *testing.T, s store.Store) {
		discover(t, s, 4, items(0, "https://a.example/", "https://a.example:81/", "https://a.example.org/", "https://aa.example/"))
		equal(t, "a.example", take(t, s, claim(t, s, "a.example").Claim, 9), []string{"https://a.example/"})
		equal(t, "a.example:81", take(t, s, claim(t, s, "a.example:81").Claim, 9), []string{"https://a.example:81/"})
	}},
	{"released_to_the_end_of_its_depth", func(t *testing.T, s store.Store) {
		discover(t, s, 3, items(1, "https://example.com/1", "https://example.com/2", "https://example.com/3"))
		discover(t, s, 1, items(2, "https://example.com/deeper"))
		c := claim(t, s, "example.com").Claim
		take(t, s, c, 2)
		again := wholeItem("https://example.com/1")
		again.Depth, again.Priority = 1, 0
		check(t, s.Release(ctx, c, again))
		discover(t, s, 1, items(1, "https://example.com/4"))
		equal(t, "third", take(t, s, c, 1), []string{"https://example.com/3"})
		equal(t, "released", must(s.Take(ctx, c, 1))(t), []frontier.Item{again})
		equal(t, "rest", take(t, s, c, 9), []string{"https://example.com/4", "https://example.com/deeper"})
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: 5})
	}},
	{"released_with_another_depth", func(t *testing.T, s store.Store) {
		discover(t, s, 2, items(1, "https://example.com/1", "https://example.com/2"))
		c := claim(t, s, "example.com").Claim
		take(t, s, c, 1)
		check(t, s.Release(ctx, c, frontier.Item{URL: "https://example.com/1", Depth: 7}))
		equal(t, "taken", take(t, s, c, 9), []string{"https://example.com/2", "https://example.com/1"})
	}},
	{"depths_that_were_emptied_come_back", func(t *testing.T, s store.Store) {
		discover(t, s, 2, items(1, "https://example.com/1", "https://example.com/2"))
		discover(t, s, 1, items(2, "https://example.com/deeper"))
		c := claim(t, s, "example.com").Claim
		equal(t, "all", len(take(t, s, c, 9)), 3)
		discover(t, s, 1, items(1, "https://example.com/3"))
		end(t, s, "https://example.com/1", frontier.Fetched)
		check(t, s.Release(ctx, c, frontier.Item{URL: "https://example.com/2", Depth: 1}))
		equal(t, "rest", take(t, s, c, 9), []string{"https://example.com/3", "https://example.com/2"})
		end(t, s, "https://example.com/deeper", frontier.Fetched)
		equal(t, "none", take(t, s, c, 9), []string(nil))
		wantHosts(t, s, frontier.Host{Name: "example.com", Pending: 2})
	}},
	{"the_only_one_released", func(t *testing.T, s store.Store) {
		discover(t, s, 1, items(1, "https://example.com/1"))
		c := claim(t, s, "example.com").Claim
		for tries := range 5 {
			it := must(s.Take(ctx, c, 1))(t)
			equal(t, "taken", it, []frontier.Item{{URL: "https://example.com/1", Depth: 1, Tries: tries}})
			it[0].Tries++
			check(t, s.Release(ctx, c, it[0]))
			wantHosts(t, s, frontier.Host{Name: "example.com", Pending: 1, Depth: 1})
		}
	}},
	{"release_of_what_is_not_taken_is_no_error", func(t *testing.T, s store.Store) {
		discover(t, s, 3, numbered("example.com", 3))
		c := claim(t, s, "example.com").Claim
		take(t, s, c, 1)
		end(t, s, "https://example.com/0", frontier.Fetched)
		check(t, s.Release(ctx, c, frontier.Item{URL: "https://example.com/0"}))
		check(t, s.Release(ctx, c, frontier.Item{URL: "https://example.com/1", Depth: 9})) // already released
		check(t, s.Release(ctx, c, frontier.Item{URL: "https://example.com/unknown"}))
		equal(t, "taken", take(t, s, c, 9), []string{"https://example.com/1", "https://example.com/2"})
		wantState(t, s, "https://example.com/0", frontier.Fetched)
		wantState(t, s, "https://example.com/unknown", frontier.Unknown)
	}},
	{"what_ended_without_being_taken_is_not_taken", func(t *testing.T, s store.Store) {
		discover(t, s, 4, numbered("example.com", 4))
		c := claim(t, s, "example.com").Claim
		take(t, s, c, 1)
		end(t, s, "https://example.com/2", frontier.Blocked)
		equal(t, "taken", take(t, s, c, 9), []string{"https://example.com/1", "https://example.com/3"})
		equal(t, "none left", take(t, s, c, 9), []string(nil))
	}},
}

var claimPromises = []promise{
	{"slots_keep_requests_apart", func(t *testing.T, s store.Store) {
		wantSlot(t, s, "a.example", time.Hour, time.Hour, 0)
		wantSlot(t, s, "b.example", 0, 0, 0)
		wantSlot(t, s, "a.example", time.Hour, time.Hour, time.Hour)
		wantSlot(t, s, "a.example", 2*time.Hour, 2*time.Hour, 3*time.Hour)
		wantSlot(t, s, "a.example", time.Hour, time.Hour, 4*time.Hour)
		wantSlot(t, s, "a.example", time.Hour, 5*time.Hour, 5*time.Hour)
	}},
	{"one_host_has_one_holder", func(t *testing.T, s store.Store) {
		discover(t, s, 2, items(0, "https://a.example/", "https://b.example/"))
		equal(t, "given", granted(t, s, me, 1), []string{"a.example"})
		equal(t, "given to another", granted(t, s, "other", 9), []string{"b.example"})
		g := must(s.Claim(ctx, "third", 9, time.Hour))(t)
		equal(t, "given to a third", len(g.Hosts), 0)
		equal(t, "held by others", g.Others, 2)
		equal(t, "waiting", g.Waiting, 0)
		equal(t, "held by others than me", must(s.Claim(ctx, me, 9, time.Hour))(t).Others, 1)
	}},
	{"preferred_hosts_are_claimed_first", func(t *testing.T, s store.Store) {
		discover(t, s, 2, items(0, "https://a.example/", "https://b.example/"))
		discover(t, s, 2, items(7, "https://c.example/", "https://d.example/"))
		claim := func(n int, preferred ...string) (names []string) {
			t.Helper()
			for _, h := range must(s.Claim(ctx, me, n, time.Hour, preferred...))(t).Hosts {
				names = append(names, h.Host.Name)
			}
			slices.Sort(names)
			return names
		}
		equal(t, "preferred", claim(1, "none.example", "d.example"), []string{"d.example"})
		equal(t, "preferred but held", claim(1, "d.example"), []string{"a.example"})
		equal(t, "the rest", claim(9, "c.example", "d.example"), []string{"b.example", "c.example"})
	}},
	{"a_share_is_what_each_would_have", func(t *testing.T, s store.Store) {
		share := func(worker string, n int) int {
			t.Helper()
			return must(s.Claim(ctx, worker, n, time.Hour))(t).Share
		}
		for i := range 8 {
			discover(t, s, 1, items(0, fmt.Sprintf("https://h%d.example/", i)))
		}
		equal(t, "of who is alone", share(me, 2), 0)
		equal(t, "of two, who claim none", share("second", 0), 4)
		equal(t, "of three", share("third", 3), 3) // 8 hosts with URLs, 5 of which are claimed
		equal(t, "of the first, who is told now", share(me, 0), 3)
		check(t, s.Return(ctx, claim(t, s, "h7.example").Claim, frontier.Rest{Next: time.Now().Add(time.Hour)}))
		equal(t, "with one that rests", share(me, 0), 3)
		equal(t, "workers", must(s.Claim(ctx, me, 0, time.Hour))(t).Workers, 3)
		for i := range 8 {
			end(t, s, fmt.Sprintf("https://h%d.example/", i), frontier.Fetched)
		}
		equal(t, "of five that are held and have no URLs", share("second", 0), 2)
	}},
	{"of_many_who_claim_each_host_goes_to_one", func(t *testing.T, s store.Store) {
		const hosts, workers = 200, 8
		for i := range hosts {
			discover(t, s, 1, items(0, fmt.Sprintf("https://h%d.example/", i)))
		}
		given := make([][]string, workers)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for {
					g, err := s.Claim(ctx, fmt.Sprint("worker ", w), 3, time.Hour)
					if err != nil {
						t.Error(err)
					}
					if len(g.Hosts) == 0 {
						return
					}
					for _, h := range g.Hosts {
						given[w] = append(given[w], h.Claim.Host)
					}
				}
			})
		}
		wg.Wait()
		all := slices.Concat(given...)
		slices.Sort(all)
		equal(t, "given", len(all), hosts)
		equal(t, "hosts", len(slices.Compact(all)), hosts)
	}},
	{"nearest_to_a_seed_first", func(t *testing.T, s store.Store) {
		discover(t, s, 3, items(2, "https://two.example/", "https://mixed.example/2", "https://later.example/"))
		discover(t, s, 2, items(1, "https://one.example/", "https://mixed.example/1"))
		discover(t, s, 1, items(0, "https://seed.example/"))
		got := granted(t, s, me, 3)
		equal(t, "first", got[0], "seed.example")
		slices.Sort(got)
		equal(t, "the nearest three", got, []string{"mixed.example", "one.example", "seed.example"})
	}},
	{"a_host_without_free_URLs_is_not_given", func(t *testing.T, s store.Store) {
		discover(t, s, 1, items(0, "https://example.com/1"))
		end(t, s, "https://example.com/1", frontier.Fetched)
		equal(t, "given", granted(t, s, me, 9), []string(nil))
		discover(t, s, 1, items(0, "https://example.com/2"))
		equal(t, "given when there is one", granted(t, s, me, 9), []string{"example.com"})
	}},
	{"returned_as_it_was_left", func(t *testing.T, s store.Store) {
		discover(t, s, 5, numbered("example.com", 5))
		h := claim(t, s, "example.com")
		equal(t, "at first", h.Host, frontier.Host{Name: "example.com", Pending: 5})
		take(t, s, h.Claim, 4)
		end(t, s, "https://example.com/1", frontier.Fetched)
		past := time.Now().Add(-time.Hour)
		rest := frontier.Rest{
			Next: past, Delay: 2 * time.Second, Took: 3 * time.Second, Blocked: past.Add(-time.Minute),
			Trouble: frontier.Trouble{Answered: true, Fails: 3, Since: past, Last: past},
			Spent:   frontier.Spent{Pages: 7, Bytes: 8},
		}
		check(t, s.Return(ctx, h.Claim, rest))
		again := claim(t, s, "example.com")
		if again.Claim == h.Claim {
			t.Error("two claims are the same")
		}
		if got := again.Host.Rest; !got.Next.Equal(rest.Next) || got.Delay != rest.Delay || got.Took != rest.Took || !got.Blocked.Equal(rest.Blocked) ||
			got.Trouble.Fails != 3 || !got.Trouble.Answered || got.Spent != rest.Spent {
			t.Errorf("the next holder is told %+v, want %+v", got, rest)
		}
		equal(t, "pending", again.Host.Pending, 4)
		equal(t, "free again, in their places", take(t, s, again.Claim, 9),
			[]string{"https://example.com/0", "https://example.com/2", "https://example.com/3", "https://example.com/4"})
	}},
	{"what_is_due_and_not_given_is_due_now", func(t *testing.T, s store.Store) {
		g := must(s.Claim(ctx, me, 9, time.Hour))(t)
		equal(t, "of nothing", g.Waiting == 0 && g.Next.IsZero(), true)
		discover(t, s, 1, items(0, "https://example.com/"))
		g = must(s.Claim(ctx, me, 0, time.Hour))(t)
		equal(t, "waiting", g.Waiting, 1)
		if g.Next.IsZero() || g.Next.After(time.Now()) {
			t.Errorf("the first is due at %v, want now", g.Next)
		}
	}},
	{"not_to_be_asked_before_its_time", func(t *testing.T, s store.Store) {
		discover(t, s, 2, items(0, "https://later.example/", "https://blocked.example/"))
		next := time.Now().Add(50 * time.Minute)
		check(t, s.Return(ctx, claim(t, s, "later.example").Claim, frontier.Rest{Next: next}))
		check(t, s.Return(ctx, claim(t, s, "blocked.example").Claim, frontier.Rest{Blocked: next.Add(time.Minute), Idle: true}))
		g := must(s.Claim(ctx, me, 9, time.Hour))(t)
		equal(t, "given", len(g.Hosts), 0)
		equal(t, "waiting", g.Waiting, 1) // the idle host does not count
		if !g.Next.Equal(next) {
			t.Errorf("the first is due at %v, want %v", g.Next, next)
		}
	}},
	{"a_clock_that_is_wrong_silences_nobody", func(t *testing.T, s store.Store) {
		discover(t, s, 1, items(0, "https://example.com/"))
		before := time.Now()
		check(t, s.Return(ctx, claim(t, s, "example.com").Claim, frontier.Rest{Blocked: before.AddDate(1, 0, 0)}))
		g := must(s.Claim(ctx, me, 9, time.Hour))(t)
		if most := time.Now().Add(frontier.MaxBlocked); g.Next.Before(before) || g.Next.After(most) {
			t.Errorf("the host is due at %v, want %v at most", g.Next, most)
		}
	}},
	{"a_host_without_URLs_is_not_asked_sooner_for_it", func(t *testing.T, s store.Store) {
		discover(t, s, 1, items(0, "https://example.com/1"))
		c := claim(t, s, "example.com").Claim
		take(t, s, c, 1)
		end(t, s, "https://example.com/1", frontier.Fetched)
		check(t, s.Return(ctx, c, frontier.Rest{Next: time.Now().Add(time.Hour), Spent: frontier.Spent{Pages: 1}}))
		discover(t, s, 1, items(0, "https://example.com/2"))
		equal(t, "given", granted(t, s, me, 9), []string(nil))
		equal(t, "waiting", must(s.Claim(ctx, me, 9, time.Hour))(t).Waiting, 1)
	}},
	{"what_a_loser_writes_is_refused", func(t *testing.T, s store.Store) {
		url := "https://example.com/0"
		discover(t, s, 3, numbered("example.com", 3))
		old := claim(t, s, "example.com").Claim
		take(t, s, old, 1)
		check(t, s.Return(ctx, old, frontier.Rest{}))
		now := claimBy(t, s, "other", "example.com", time.Hour).Claim
		for i, c := range []frontier.Claim{old, {Host: "example.com", Worker: "other", Token: now.Token + 1}, {Host: "never.example", Worker: me, Token: 1}} {
			_, err := s.Take(ctx, c, 1)
			wantLost(t, "Take", err)
			wantLost(t, "Release", s.Release(ctx, c, frontier.Item{URL: url}))
			wantLost(t, "Return", s.Return(ctx, c, frontier.Rest{Idle: true}))
			equal(t, "lost", must(s.Renew(ctx, []frontier.Claim{now, c}, time.Hour))(t), []frontier.Claim{c})
			e := page(url)
			e.Claim, e.Links = c, items(1, "https://example.com/new")
			wantOutcomes(t, s, []*store.Entry{e, page(urlOf(70 + i))}, store.Lost, store.Written)
		}
		wantState(t, s, url, frontier.Pending)
		wantState(t, s, "https://example.com/new", frontier.Unknown)
		if known(t, s, url, store.WantRecord) != nil {
			t.Error("the page of a lost claim has a record")
		}
		e := page(url)
		e.Claim = now
		commit(t, s, e)
	}},
	{"a_claim_that_is_not_renewed_ends", func(t *testing.T, s store.Store) {
		discover(t, s, 2, numbered("example.com", 2))
		c := claimBy(t, s, "dead", "example.com", 400*time.Millisecond).Claim
		take(t, s, c, 1)
		check(t, s.Spend(ctx, c, frontier.Spent{Pages: 3, Bytes: 40}))
		check(t, s.Spend(ctx, c, frontier.Spent{Pages: 4, Bytes: 50}))
		var next frontier.Held
		for deadline := time.Now().Add(20 * time.Second); next.Claim.Host == ""; time.Sleep(5 * time.Millisecond) {
			if g := must(s.Claim(ctx, me, 9, time.Hour))(t); len(g.Hosts) > 0 {
				next = g.Hosts[0]
			} else if time.Now().After(deadline) {
				t.Fatal("the host of a dead worker is never free")
			}
		}
		equal(t, "its URLs are free", take(t, s, next.Claim, 9), []string{"https://example.com/0", "https://example.com/1"})
		equal(t, "fetched by the dead worker", next.Host.Rest.Spent, frontier.Spent{Pages: 4, Bytes: 50})
		wantLost(t, "Spend", s.Spend(ctx, c, frontier.Spent{Pages: 5}))
		wantLost(t, "Return", s.Return(ctx, c, frontier.Rest{}))
		check(t, s.Return(ctx, next.Claim, frontier.Rest{Spent: frontier.Spent{Pages: 4, Bytes: 50}}))
		next = claim(t, s, "example.com")
		equal(t, "fetched by both", next.Host.Rest.Spent, frontier.Spent{Pages: 4, Bytes: 50})
		e := page("https://example.com/0")
		e.Claim = c
		wantOutcomes(t, s, []*store.Entry{e}, store.Lost)
	}},
	{"a_claim_that_is_renewed_lasts", func(t *testing.T, s store.Store) {
		discover(t, s, 1, numbered("example.com", 1))
		c := claimBy(t, s, me, "example.com", 10*time.Second).Claim
		equal(t, "lost", len(must(s.Renew(ctx, []frontier.Claim{c}, time.Hour))(t)), 0)
		equal(t, "given to another", granted(t, s, "other", 9), []string(nil))
	}},
	{"two_who_hold_hosts_do_each_URL_once", func(t *testing.T, s store.Store) {
		const hosts, urls = 20, 30
		for h := range hosts {
			discover(t, s, urls, numbered(fmt.Sprintf("h%d.example", h), urls))
		}
		var fetched [2]map[string]int
		var wg sync.WaitGroup
		for w := range fetched {
			fetched[w] = map[string]int{}
			wg.Go(func() { crawlAs(t, s, fmt.Sprint("worker ", w), fetched[w]) })
		}
		wg.Wait()
		for url, n := range fetched[0] {
			if n != 1 || fetched[1][url] != 0 {
				t.Errorf("%s was fetched %d and %d times", url, n, fetched[1][url])
			}
		}
		equal(t, "fetched", len(fetched[0])+len(fetched[1]), hosts*urls)
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Fetched: hosts * urls})
	}},
}

// crawlAs repeatedly claims hosts, takes some URLs of each, finishes most of them and returns the
// hosts. It stops when no host has any URLs left.
func crawlAs(t *testing.T, s store.Store, worker string, fetched map[string]int) {
	for {
		g, err := s.Claim(ctx, worker, 2, time.Hour)
		if err != nil {
			t.Error(err)
			return
		}
		if len(g.Hosts) == 0 && g.Others == 0 && g.Waiting == 0 {
			return
		}
		for _, h := range g.Hosts {
			list, err := s.Take(ctx, h.Claim, 7)
			for i, it := range list {
				if i == 5 {
					break // the other URLs go back to the queue when the host is returned
				}
				e := page(it.URL)
				e.Claim = h.Claim
				if _, err := s.Commit(ctx, []*store.Entry{e}); err != nil {
					t.Error(err)
				}
				fetched[it.URL]++
			}
			if err := errors.Join(err, s.Return(ctx, h.Claim, h.Host.Rest)); err != nil {
				t.Error(err)
			}
		}
	}
}

// wantLost fails the test unless err means that a claim has ended.
func wantLost(t tester, what string, err error) {
	t.Helper()
	if !errors.Is(err, frontier.ErrLost) {
		t.Errorf("%s with a lost claim: error %v, want %v", what, err, frontier.ErrLost)
	}
}
