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
// the page's record, and nobody asks for it. If the leader was visited again since, the copy is
// refused once, and then the store is asked.
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
	third := openNamed(t, server.Addr, name)
	for n, s := range []*Store{other, third} {
		e, ask := copyOf(2 + n)
		if got := commit(s, e, ask); got != store.Stale {
			t.Errorf("a copy whose leader was visited again is %v, want stale", got)
		}
		if got := commit(s, e, ask); got != store.Written {
			t.Errorf("judged again it is %v, want written", got)
		}
	}
}
