package storetest

import (
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
		lease(t, s, "example.com", 1)
		discover(t, s, 0, items(0, a)) // leased
		check(t, s.Done(ctx, a, frontier.Failed))
		discover(t, s, 0, items(0, a)) // done
		equal(t, "left", lease(t, s, "example.com", 9), []string{b})
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
		urls := lease(t, s, "example.com", 1000)
		slices.Sort(urls)
		equal(t, "leased", len(slices.Compact(urls)), len(all))
	}},
	{"a_state_goes_from_unknown_to_its_end", func(t *testing.T, s store.Store) {
		for i, end := range []frontier.State{frontier.Fetched, frontier.Redirected, frontier.Blocked, frontier.Failed, frontier.GivenUp} {
			url := fmt.Sprintf("https://example.com/%d", i)
			wantState(t, s, url, frontier.Unknown)
			discover(t, s, 1, items(0, url))
			wantState(t, s, url, frontier.Pending)
			lease(t, s, "example.com", 1)
			wantState(t, s, url, frontier.Pending)
			check(t, s.Done(ctx, url, end))
			wantState(t, s, url, end)
		}
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Fetched: 1, Redirected: 1, Blocked: 1, Failed: 1, GivenUp: 1})
	}},
	{"what_is_left_out_can_be_discovered", func(t *testing.T, s store.Store) {
		in, out, other := "https://example.com/", "https://other.example/", "https://third.example/"
		discover(t, s, 1, items(0, in))
		check(t, s.Exclude(ctx, []string{in, out, out, other}))
		check(t, s.Exclude(ctx, []string{out}))
		wantState(t, s, in, frontier.Pending)
		wantState(t, s, out, frontier.Outside)
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: 1, Outside: 2})
		wantURLs(t, s, frontier.Outside, out, other)
		check(t, s.Done(ctx, out, frontier.Fetched)) // it was never to be fetched
		wantState(t, s, out, frontier.Outside)

		discover(t, s, 1, items(3, in, out))
		discover(t, s, 0, items(3, out))
		wantState(t, s, out, frontier.Pending)
		check(t, s.Exclude(ctx, []string{out}))
		wantURLs(t, s, frontier.Pending, in, out)
		wantURLs(t, s, frontier.Outside, other)
		equal(t, "leased", lease(t, s, "other.example", 9), []string{out})
		check(t, s.Done(ctx, out, frontier.GivenUp))
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: 1, GivenUp: 1, Outside: 1})
		wantURLs(t, s, frontier.GivenUp)
	}},
	{"done_twice_keeps_the_first", func(t *testing.T, s store.Store) {
		url := "https://example.com/"
		discover(t, s, 1, items(0, url))
		check(t, s.Done(ctx, url, frontier.Redirected))
		check(t, s.Done(ctx, url, frontier.Fetched))
		wantState(t, s, url, frontier.Redirected)
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Redirected: 1})
	}},
	{"done_with_the_unknown_is_no_error", func(t *testing.T, s store.Store) {
		url := "https://example.com/"
		check(t, s.Done(ctx, url, frontier.Fetched))
		wantState(t, s, url, frontier.Unknown)
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{})
		discover(t, s, 1, items(0, url))
	}},
	{"done_needs_an_end", func(t *testing.T, s store.Store) {
		url := "https://example.com/"
		discover(t, s, 1, items(0, url))
		for _, state := range []frontier.State{frontier.Unknown, frontier.Pending, frontier.Outside, frontier.Outside + 1} {
			if err := s.Done(ctx, url, state); err == nil {
				t.Errorf("Done(%d) is no error", state)
			}
		}
		wantState(t, s, url, frontier.Pending)
	}},
	{"hosts_are_those_with_URLs_pending", func(t *testing.T, s store.Store) {
		wantHosts(t, s)
		discover(t, s, 4, items(0, "https://a.example/1", "https://a.example/2", "https://b.example/", "https://a.example:8080/"))
		lease(t, s, "a.example", 1)
		discover(t, s, 1, items(3, "https://deep.example/"))
		for _, h := range collect(t, s.Hosts(ctx)) {
			if h.Name == "deep.example" && h.Depth != 3 {
				t.Errorf("depth %d of %s, want 3", h.Depth, h.Name)
			}
		}
		check(t, s.Done(ctx, "https://deep.example/", frontier.Fetched))
		wantHosts(t, s,
			frontier.Host{Name: "a.example", Pending: 2},
			frontier.Host{Name: "a.example:8080", Pending: 1},
			frontier.Host{Name: "b.example", Pending: 1})
		check(t, s.Done(ctx, "https://a.example/1", frontier.Fetched))
		check(t, s.Done(ctx, "https://b.example/", frontier.Fetched))
		wantHosts(t, s,
			frontier.Host{Name: "a.example", Pending: 1},
			frontier.Host{Name: "a.example:8080", Pending: 1})
	}},
	{"block_and_delay_are_remembered", func(t *testing.T, s store.Store) {
		until := time.Date(2031, 2, 3, 4, 5, 6, 789, time.UTC)
		check(t, s.Block(ctx, "example.com", until)) // before any URL
		check(t, s.SetDelay(ctx, "example.com", time.Second))
		check(t, s.SetDelay(ctx, "example.com", 2*time.Second))
		want := frontier.Host{Name: "example.com", Pending: 1, Until: until, Delay: 2 * time.Second}
		discover(t, s, 1, items(0, "https://example.com/1"))
		wantHosts(t, s, want)

		check(t, s.Done(ctx, "https://example.com/1", frontier.Fetched)) // also while there is none
		discover(t, s, 1, items(0, "https://example.com/2"))
		wantHosts(t, s, want)

		check(t, s.Block(ctx, "example.com", time.Time{}))
		want.Until = time.Time{}
		wantHosts(t, s, want)
	}},
	{"a_blocked_host_can_be_leased", func(t *testing.T, s store.Store) {
		discover(t, s, 1, items(0, "https://example.com/"))
		check(t, s.Block(ctx, "example.com", time.Now().Add(time.Hour)))
		equal(t, "leased", lease(t, s, "example.com", 1), []string{"https://example.com/"})
	}},
}

// wantURLs compares the URLs of a state, in their order by name.
func wantURLs(t tester, s store.Store, state frontier.State, want ...string) {
	t.Helper()
	got := collect(t, s.URLs(ctx, state))
	slices.Sort(got)
	equal(t, fmt.Sprintf("URLs in state %d", state), got, want)
}

// wantHosts compares the hosts that have something pending, in order of name.
func wantHosts(t tester, s store.Store, want ...frontier.Host) {
	t.Helper()
	got := map[string]frontier.Host{}
	for _, h := range collect(t, s.Hosts(ctx)) {
		if _, twice := got[h.Name]; twice {
			t.Errorf("host %s comes twice", h.Name)
		}
		h.Until = h.Until.UTC()
		got[h.Name] = h
	}
	list := slices.Collect(maps.Values(got))
	slices.SortFunc(list, func(a, b frontier.Host) int { return strings.Compare(a.Name, b.Name) })
	equal(t, "hosts", list, want)
}

var leasePromises = []promise{
	{"nothing_waiting_is_no_error", func(t *testing.T, s store.Store) {
		equal(t, "unknown host", lease(t, s, "example.com", 1), []string(nil))
		discover(t, s, 1, items(0, "https://example.com/"))
		equal(t, "none asked for", lease(t, s, "example.com", 0), []string(nil))
		equal(t, "another host", lease(t, s, "example.co", 1), []string(nil))
		equal(t, "all", lease(t, s, "example.com", 2), []string{"https://example.com/"})
		equal(t, "all leased", lease(t, s, "example.com", 2), []string(nil))
	}},
	{"an_item_comes_back_whole", func(t *testing.T, s store.Store) {
		want := frontier.Item{URL: "https://example.com/?a=b", Via: "https://example.com/via", Depth: 70000, Hops: 3, Tries: 2}
		discover(t, s, 1, []frontier.Item{want})
		equal(t, "leased", must(s.Lease(ctx, "example.com", 1, time.Minute))(t), []frontier.Item{want})
	}},
	{"by_depth_then_by_arrival", func(t *testing.T, s store.Store) {
		discover(t, s, 2, items(300, "https://example.com/d1", "https://example.com/d2"))
		discover(t, s, 2, items(1, "https://example.com/b1", "https://other.example/"))
		discover(t, s, 1, items(2, "https://example.com/c1"))
		discover(t, s, 2, items(1, "https://example.com/b2", "https://example.com/a-later-one"))
		equal(t, "first", lease(t, s, "example.com", 2), []string{"https://example.com/b1", "https://example.com/b2"})
		discover(t, s, 1, items(0, "https://example.com/a1")) // before what is leased already
		equal(t, "rest", lease(t, s, "example.com", 9), []string{
			"https://example.com/a1", "https://example.com/a-later-one",
			"https://example.com/c1", "https://example.com/d1", "https://example.com/d2"})
	}},
	{"hosts_of_like_names_do_not_mix", func(t *testing.T, s store.Store) {
		discover(t, s, 4, items(0, "https://a.example/", "https://a.example:81/", "https://a.example.org/", "https://aa.example/"))
		equal(t, "a.example", lease(t, s, "a.example", 9), []string{"https://a.example/"})
		equal(t, "a.example:81", lease(t, s, "a.example:81", 9), []string{"https://a.example:81/"})
	}},
	{"no_one_else_holds_it", func(t *testing.T, s store.Store) {
		const n = 400
		discover(t, s, n, numbered("example.com", n))
		taken := make([][]string, 16)
		var wg sync.WaitGroup
		for g := range taken {
			wg.Go(func() {
				for {
					list, err := s.Lease(ctx, "example.com", 1+g%3, time.Hour)
					if err != nil {
						t.Error(err)
					}
					if len(list) == 0 {
						return
					}
					for _, it := range list {
						taken[g] = append(taken[g], it.URL)
					}
				}
			})
		}
		wg.Wait()
		all := slices.Concat(taken...)
		slices.Sort(all)
		equal(t, "leases", len(all), n)
		equal(t, "URLs", len(slices.Compact(all)), n)
	}},
	{"released_to_the_end_of_its_depth", func(t *testing.T, s store.Store) {
		discover(t, s, 3, items(1, "https://example.com/1", "https://example.com/2", "https://example.com/3"))
		discover(t, s, 1, items(2, "https://example.com/deeper"))
		lease(t, s, "example.com", 2)
		again := frontier.Item{URL: "https://example.com/1", Via: "https://example.com/v", Depth: 1, Hops: 1, Tries: 1}
		check(t, s.Release(ctx, again))
		discover(t, s, 1, items(1, "https://example.com/4"))
		equal(t, "third", lease(t, s, "example.com", 1), []string{"https://example.com/3"})
		equal(t, "released", must(s.Lease(ctx, "example.com", 1, time.Minute))(t), []frontier.Item{again})
		equal(t, "rest", lease(t, s, "example.com", 9), []string{"https://example.com/4", "https://example.com/deeper"})
		equal(t, "counts", must(s.Counts(ctx))(t), frontier.Counts{Pending: 5})
	}},
	{"released_with_another_depth", func(t *testing.T, s store.Store) {
		discover(t, s, 2, items(1, "https://example.com/1", "https://example.com/2"))
		lease(t, s, "example.com", 1)
		check(t, s.Release(ctx, frontier.Item{URL: "https://example.com/1", Depth: 7}))
		equal(t, "leased", lease(t, s, "example.com", 9), []string{"https://example.com/2", "https://example.com/1"})
	}},
	{"depths_that_were_emptied_come_back", func(t *testing.T, s store.Store) {
		discover(t, s, 2, items(1, "https://example.com/1", "https://example.com/2"))
		discover(t, s, 1, items(2, "https://example.com/deeper"))
		equal(t, "all", len(lease(t, s, "example.com", 9)), 3)
		discover(t, s, 1, items(1, "https://example.com/3"))
		check(t, s.Done(ctx, "https://example.com/1", frontier.Fetched))
		check(t, s.Release(ctx, frontier.Item{URL: "https://example.com/2", Depth: 1}))
		equal(t, "rest", lease(t, s, "example.com", 9), []string{"https://example.com/3", "https://example.com/2"})
		check(t, s.Done(ctx, "https://example.com/deeper", frontier.Fetched))
		equal(t, "none", lease(t, s, "example.com", 9), []string(nil))
		wantHosts(t, s, frontier.Host{Name: "example.com", Pending: 2})
	}},
	{"the_only_one_released", func(t *testing.T, s store.Store) {
		check(t, s.SetDelay(ctx, "example.com", time.Second))
		discover(t, s, 1, items(1, "https://example.com/1"))
		for tries := range 5 {
			it := must(s.Lease(ctx, "example.com", 1, time.Minute))(t)
			equal(t, "leased", it, []frontier.Item{{URL: "https://example.com/1", Depth: 1, Tries: tries}})
			it[0].Tries++
			check(t, s.Release(ctx, it[0]))
			wantHosts(t, s, frontier.Host{Name: "example.com", Pending: 1, Depth: 1, Delay: time.Second})
		}
	}},
	{"release_of_the_done_or_unknown_is_no_error", func(t *testing.T, s store.Store) {
		discover(t, s, 1, items(0, "https://example.com/1"))
		check(t, s.Done(ctx, "https://example.com/1", frontier.Fetched))
		check(t, s.Release(ctx, frontier.Item{URL: "https://example.com/1"}))
		check(t, s.Release(ctx, frontier.Item{URL: "https://example.com/2"}))
		equal(t, "leased", lease(t, s, "example.com", 9), []string(nil))
		wantState(t, s, "https://example.com/1", frontier.Fetched)
		wantState(t, s, "https://example.com/2", frontier.Unknown)
	}},
	{"done_without_a_lease", func(t *testing.T, s store.Store) {
		discover(t, s, 4, numbered("example.com", 4))
		lease(t, s, "example.com", 1)
		check(t, s.Done(ctx, "https://example.com/2", frontier.Blocked))
		equal(t, "leased", lease(t, s, "example.com", 9), []string{"https://example.com/1", "https://example.com/3"})
		equal(t, "none left", lease(t, s, "example.com", 9), []string(nil))
	}},
}
