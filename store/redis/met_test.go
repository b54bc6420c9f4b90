package redis

import (
	"fmt"
	"testing"

	"skink/dedup"
	"skink/store"
	"skink/store/redis/redistest"
)

// A leader that one worker remembers is visited again by another, and has other words. A verdict
// that names it is refused, and the next look-up does not meet it.
func TestARememberedLeaderIsVisitedAgain(t *testing.T) {
	server := redistest.Start(t)
	name := newName()
	one, other := openNamed(t, server.Addr, name), openNamed(t, server.Addr, name)
	leader := pageOf("https://example.com/leader", 1)
	commitJudged(t, one, leader)

	again := pageOf("https://example.com/leader", 2)
	again.Revisit, again.Replaces = true, leader.Record.Began()
	commitJudged(t, other, again)

	like := pageOf("https://example.com/like", 3)
	like.Keys = nil
	ask := store.Ask{ID: like.Record.ID, Keys: leader.Keys, Limit: 10}
	found, err := one.Lookup(t.Context(), []store.Ask{ask})
	if err != nil {
		t.Fatal(err)
	}
	if len(found[0].Leaders) != 1 { // another worker's visit is not heard of before it matters
		t.Fatalf("it met %d leaders, want the one that it remembers", len(found[0].Leaders))
	}
	like.Record.Verdict, like.Record.Leader, like.Record.Resemblance = dedup.Near, leader.Record.ID, .9
	like.Basis = found[0].Basis(ask)
	if outcomes, err := one.Commit(t.Context(), []*store.Entry{like}); err != nil || outcomes[0] != store.Stale {
		t.Errorf("a verdict that names a leader that is gone is %v, %v; want stale", outcomes, err)
	}
	if found, err = one.Lookup(t.Context(), []store.Ask{ask}); err != nil || len(found[0].Leaders) != 0 {
		t.Errorf("it still meets %d leaders, %v; want none", len(found[0].Leaders), err)
	}
}

// A copy follows the leader of the page that it is a copy of. Which visit that leader is stands in
// the page's record. If the leader was visited again since, who remembers the leader is refused once,
// and then asks for it; who has to read it does not find it there, and asks at once.
func TestALeaderOfACopyWasVisitedAgain(t *testing.T) {
	server := redistest.Start(t)
	name := newName()
	one, other := openNamed(t, server.Addr, name), openNamed(t, server.Addr, name)
	leader, member := pageOf("https://example.com/leader", 1), pageOf("https://example.com/member", 2)
	follow := func(e *store.Entry) {
		e.Keys = nil
		e.Record.Verdict, e.Record.Leader, e.Record.Resemblance = dedup.Near, leader.Record.ID, .9
	}
	commit := func(s *Store, e *store.Entry, ask store.Ask) store.Outcome {
		found, err := s.Lookup(t.Context(), []store.Ask{ask})
		if err != nil {
			t.Fatal(err)
		}
		e.Basis = found[0].Basis(ask)
		outcomes, err := s.Commit(t.Context(), []*store.Entry{e})
		if err != nil {
			t.Fatal(err)
		}
		return outcomes[0]
	}
	commitJudged(t, one, leader)
	follow(member)
	if got := commit(one, member, store.Ask{ID: member.Record.ID, Keys: leader.Keys, Limit: 10}); got != store.Written {
		t.Fatalf("a member is %v, want written", got)
	}

	copyOf := func(n int) (*store.Entry, store.Ask) {
		e := pageOf(fmt.Sprintf("https://example.com/copy%d", n), 2)
		follow(e)
		return e, store.Ask{ID: e.Record.ID, Hashes: []dedup.Hash{e.Hash}, Limit: 10}
	}
	e, ask := copyOf(1)
	if got := commit(other, e, ask); got != store.Written {
		t.Errorf("a copy whose leader is where it was is %v, want written", got)
	}

	again := pageOf("https://example.com/leader", 1)
	again.Revisit, again.Replaces = true, leader.Record.Began()
	commitJudged(t, one, again)
	e, ask = copyOf(2)
	if got := commit(other, e, ask); got != store.Stale {
		t.Errorf("a copy whose leader was visited again is %v, want stale", got)
	}
	if got := commit(other, e, ask); got != store.Written {
		t.Errorf("judged again it is %v, want written", got)
	}
	third := openNamed(t, server.Addr, name)
	e, ask = copyOf(3)
	if got := commit(third, e, ask); got != store.Written {
		t.Errorf("a copy whose leader is read anew is %v, want written", got)
	}
}

// A text that a worker met is not looked up again. If its page was visited again since, by another
// worker, and has other words, a verdict that names it is refused, and the text is looked up.
func TestATextThatWasMet(t *testing.T) {
	server := redistest.Start(t)
	name := newName()
	one, other := openNamed(t, server.Addr, name), openNamed(t, server.Addr, name)
	var counter tripCounter
	one.flown = counter.flown
	ask := func(e *store.Entry) store.Ask {
		return store.Ask{ID: e.Record.ID, Hashes: []dedup.Hash{e.Hash}, Keys: e.Keys, Meet: 2, Limit: 10}
	}
	lookup := func(e *store.Entry, trips bool) (basis store.Basis, of string) {
		t.Helper()
		counter.since()
		found, err := one.Lookup(t.Context(), []store.Ask{ask(e)})
		if err != nil {
			t.Fatal(err)
		}
		if n := counter.since(); n > 0 != trips {
			t.Errorf("the look-up of %s takes %d trips, want some: %v", e.Record.URL, n, trips)
		}
		if found[0].Copy != nil {
			of = found[0].Copy.URL
		}
		return found[0].Basis(ask(e)), of
	}
	commit := func(e *store.Entry, basis store.Basis, leader *store.Entry) store.Outcome {
		t.Helper()
		copied := *e
		copied.Keys, copied.Sketch, copied.Hash, copied.Basis = nil, nil, dedup.Hash{}, basis
		copied.Record.Verdict, copied.Record.Leader, copied.Record.Resemblance = dedup.Exact, leader.Record.ID, 1
		outcomes, err := one.Commit(t.Context(), []*store.Entry{&copied})
		if err != nil {
			t.Fatal(err)
		}
		return outcomes[0]
	}
	first, second, third := pageOf("https://example.com/1", 1), pageOf("https://example.com/2", 1), pageOf("https://example.com/3", 1)

	commitJudged(t, one, first)
	basis, of := lookup(second, false)
	if got := commit(second, basis, first); of != first.Record.URL || got != store.Written {
		t.Fatalf("a copy of %q is %v, want one of %s to be written", of, got, first.Record.URL)
	}
	again := pageOf(first.Record.URL, 2)
	again.Revisit, again.Replaces = true, first.Record.Began()
	commitJudged(t, other, again)
	if basis, of = lookup(third, false); of != first.Record.URL {
		t.Errorf("it is a copy of %q, as far as the worker knows; want %s", of, first.Record.URL)
	}
	if got := commit(third, basis, first); got != store.Stale {
		t.Errorf("a copy of a page that has other words now is %v, want stale", got)
	}
	if _, of = lookup(third, true); of != "" {
		t.Errorf("judged again it is a copy of %q, want none", of)
	}
}
