package redis

import (
	"fmt"
	"testing"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// A leader that one worker remembers is visited again by another, and has other words. A verdict
// that names it is refused, and the next look-up does not meet it. Who asks anew does not meet it at all.
func TestARememberedLeaderIsVisitedAgain(t *testing.T) {
	onReal(t, func(t *testing.T, servers string) {
		one := openNew(t, servers)
		other := beside(t, one, Options{})
		leader := pageOf("https://example.com/leader", 1)
		commitJudged(t, one, leader)
		third := beside(t, one, Options{})
		lookup(t, third, store.Ask{Keys: leader.Keys, Limit: 10})

		again := pageOf("https://example.com/leader", 2)
		again.Revisit, again.Replaces = true, leader.Record.Began()
		commitJudged(t, other, again)
		for name, s := range map[string]*Store{"committed": one, "met": third} {
			if found := lookup(t, s, store.Ask{Keys: leader.Keys, Limit: 10}); len(found.Leaders) != 1 { // another worker's visit is not heard of before it matters
				t.Fatalf("who %s it meets %d leaders, want the one that it remembers", name, len(found.Leaders))
			}
		}
		if found := lookup(t, third, store.Ask{Keys: leader.Keys, Limit: 10, Anew: true}); len(found.Leaders) != 0 {
			t.Errorf("who asks anew meets %d leaders, want none", len(found.Leaders))
		}

		like := pageOf("https://example.com/like", 3)
		like.Keys = nil
		ask := store.Ask{ID: like.Record.ID, Keys: leader.Keys, Limit: 10}
		found, err := one.Lookup(t.Context(), []store.Ask{ask})
		if err != nil {
			t.Fatal(err)
		}
		like.Record.Verdict, like.Record.Leader, like.Record.Resemblance = dedup.Near, leader.Record.ID, .9
		like.Basis = found[0].Basis(ask)
		if outcomes, err := one.Commit(t.Context(), []*store.Entry{like}); err != nil || outcomes[0] != store.Stale {
			t.Errorf("a verdict that names a leader that is gone is %v, %v; want stale", outcomes, err)
		}
		if found, err = one.Lookup(t.Context(), []store.Ask{ask}); err != nil || len(found[0].Leaders) != 0 {
			t.Errorf("it still meets %d leaders, %v; want none", len(found[0].Leaders), err)
		}
	})
}

// A copy follows the leader of the page that it is a copy of. Which visit that leader is stands in
// the page's record. If the leader was visited again since, who remembers the leader is refused once,
// and then asks for it; who has to read it does not find it there, and asks at once.
func TestALeaderOfACopyWasVisitedAgain(t *testing.T) {
	onReal(t, func(t *testing.T, servers string) {
		one := openNew(t, servers)
		other := beside(t, one, Options{})
		leader, member := pageOf("https://example.com/leader", 1), pageOf("https://example.com/member", 2)
		follow := func(e *store.Entry) {
			e.Keys = nil
			e.Record.Verdict, e.Record.Leader, e.Record.Resemblance = dedup.Near, leader.Record.ID, .9
		}
		commit := func(s *Store, e *store.Entry, ask store.Ask) store.Outcome {
			found := lookup(t, s, ask)
			e.Basis = found.Basis(ask)
			return outcome(t, s, e)
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
		third := beside(t, one, Options{})
		e, ask = copyOf(3)
		if got := commit(third, e, ask); got != store.Written {
			t.Errorf("a copy whose leader is read anew is %v, want written", got)
		}
	})
}

// A text that a worker met is not looked up again. If its page was visited again since, by another
// worker, and has other words, a verdict that names it is refused, and the text is looked up.
func TestATextThatWasMet(t *testing.T) {
	onReal(t, func(t *testing.T, servers string) {
		one := openNew(t, servers)
		other := beside(t, one, Options{})
		var counter tripCounter
		one.flown = counter.flown
		ask := func(e *store.Entry) store.Ask {
			return store.Ask{ID: e.Record.ID, Hashes: []dedup.Hash{e.Hash}, Keys: e.Keys, Meet: 2, Limit: 10}
		}
		met := func(e *store.Entry, trips bool) (basis store.Basis, of string) {
			t.Helper()
			counter.since()
			found := lookup(t, one, ask(e))
			if n := counter.since(); n > 0 != trips {
				t.Errorf("the look-up of %s takes %d trips, want some: %v", e.Record.URL, n, trips)
			}
			if found.Copy != nil {
				of = found.Copy.URL
			}
			return found.Basis(ask(e)), of
		}
		commit := func(e *store.Entry, basis store.Basis, leader *store.Entry) store.Outcome {
			t.Helper()
			copied := *e
			copied.Keys, copied.Sketch, copied.Hash, copied.Basis = nil, nil, dedup.Hash{}, basis
			copied.Record.Verdict, copied.Record.Leader, copied.Record.Resemblance = dedup.Exact, leader.Record.ID, 1
			return outcome(t, one, &copied)
		}
		first, second, third := pageOf("https://example.com/1", 1), pageOf("https://example.com/2", 1), pageOf("https://example.com/3", 1)

		commitJudged(t, one, first)
		one.stumbles.Add(1) // as if a server had been away, which may have lost what it wrote last
		met(second, true)
		basis, of := met(second, false)
		if got := commit(second, basis, first); of != first.Record.URL || got != store.Written {
			t.Fatalf("a copy of %q is %v, want one of %s to be written", of, got, first.Record.URL)
		}
		again := pageOf(first.Record.URL, 2)
		again.Revisit, again.Replaces = true, first.Record.Began()
		commitJudged(t, other, again)
		if basis, of = met(third, false); of != first.Record.URL {
			t.Errorf("it is a copy of %q, as far as the worker knows; want %s", of, first.Record.URL)
		}
		if got := commit(third, basis, first); got != store.Stale {
			t.Errorf("a copy of a page that has other words now is %v, want stale", got)
		}
		if _, of = met(third, true); of != "" {
			t.Errorf("judged again it is a copy of %q, want none", of)
		}
	})
}

// A copy follows the leader of the page that it is a copy of. If that page was visited again since, by
// another worker, and has other words, a verdict that was taken over from it is refused, though the
// leader is what it was. Who asks anew is told what is so now.
func TestACopyThatWasMetIsVisitedAgain(t *testing.T) {
	onReal(t, func(t *testing.T, servers string) {
		one := openNew(t, servers)
		other := beside(t, one, Options{})
		leader := pageOf("https://example.com/leader", 1)
		commitJudged(t, one, leader)
		follows := func(e *store.Entry, kind dedup.Kind) *store.Entry {
			e.Keys = nil
			e.Record.Verdict, e.Record.Leader, e.Record.Resemblance = kind, leader.Record.ID, .9
			return e
		}
		judge := func(s *Store, e *store.Entry, ask store.Ask) store.Outcome {
			t.Helper()
			found := lookup(t, s, ask)
			e.Basis = found.Basis(ask)
			return outcome(t, s, e)
		}
		member := follows(pageOf("https://example.com/member", 2), dedup.Near)
		if got := judge(one, member, store.Ask{ID: member.Record.ID, Hashes: []dedup.Hash{member.Hash}, Keys: leader.Keys, Limit: 10}); got != store.Written {
			t.Fatalf("a member is %v, want written", got)
		}
		again := pageOf(member.Record.URL, 3)
		again.Revisit, again.Replaces = true, member.Record.Began()
		commitJudged(t, other, again)

		like := follows(pageOf("https://example.com/like", 2), dedup.Near)
		ask := store.Ask{ID: like.Record.ID, Hashes: []dedup.Hash{like.Hash}, Limit: 10}
		if found := lookup(t, one, ask); found.Copy == nil || found.Followed == nil {
			t.Fatalf("it is a copy of %v that follows %v, want the member that the worker remembers and its leader", found.Copy, found.Followed)
		}
		anew := ask
		anew.Anew = true
		if found := lookup(t, one, anew); found.Copy != nil {
			t.Errorf("asked anew it is a copy of %v, want none", found.Copy)
		}

		third := beside(t, one, Options{})
		newer := follows(pageOf("https://example.com/newer", 4), dedup.Near)
		if got := judge(third, newer, store.Ask{ID: newer.Record.ID, Hashes: []dedup.Hash{newer.Hash}, Keys: leader.Keys, Limit: 10}); got != store.Written {
			t.Fatalf("another member is %v, want written", got)
		}
		again = pageOf(newer.Record.URL, 5)
		again.Revisit, again.Replaces = true, newer.Record.Began()
		commitJudged(t, other, again)
		late := follows(pageOf("https://example.com/late", 4), dedup.Near)
		ask = store.Ask{ID: late.Record.ID, Hashes: []dedup.Hash{late.Hash}, Keys: leader.Keys, Limit: 10}
		for _, want := range []store.Outcome{store.Stale, store.Written} {
			if got := judge(third, late, ask); got != want {
				t.Errorf("a copy of a page that has other words now is %v, want %v", got, want)
			}
		}
	})
}

// A page that is about to follow a leader, and is not written yet when the leader is visited again and
// its members are listed, is called off: nobody would judge it again.
func TestAMemberOnItsWayIsCalledOff(t *testing.T) {
	onReal(t, func(t *testing.T, servers string) {
		one := openNew(t, servers)
		other := beside(t, one, Options{})
		leader, member := pageOf("https://example.com/leader", 1), pageOf("https://example.com/member", 2)
		commitJudged(t, one, leader)
		member.Keys = nil
		member.Record.Verdict, member.Record.Leader, member.Record.Resemblance = dedup.Near, leader.Record.ID, .9
		ask := store.Ask{ID: member.Record.ID, Keys: leader.Keys, Limit: 10}
		found := lookup(t, one, ask)
		member.Basis = found.Basis(ask)

		c := one.newCommit(member)
		if err := c.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ok, err := c.post(t.Context()); !ok || err != nil {
			t.Fatalf("post = %v, %v", ok, err)
		}
		again := pageOf(leader.Record.URL, 3)
		again.Revisit, again.Replaces = true, leader.Record.Began()
		commitJudged(t, other, again)
		reader := beside(t, one, Options{ReadOnly: true})
		for _, s := range []*Store{reader, other} {
			for m, err := range s.Members(t.Context(), []dedup.Hash{leader.Record.ID}) {
				t.Errorf("a member: %v, %v; want none", m, err)
			}
		}
		if answer, err := c.finish(t.Context()); err != nil || text(answer[0]) != "void" {
			t.Errorf("then it is %v, %v; want void", answer, err)
		}
		if got := outcome(t, one, member); got != store.Stale {
			t.Errorf("written again it is %v, want stale", got)
		}
	})
}

// A page whose URL was taken here is judged again by another worker. Only who fetches it is told what
// was known of it when it was taken.
func TestWhatWasKnownWhenTakenIsForWhoFetches(t *testing.T) {
	s := openNew(t, engines[2].at(t))
	pages := []*store.Entry{pageOf("https://example.com/a", 1), pageOf("https://example.com/b", 2)}
	var items []frontier.Item
	for _, e := range pages {
		commitJudged(t, s, e)
		items = append(items, frontier.Item{URL: e.Record.URL})
	}
	if n, err := s.Requeue(t.Context(), items); err != nil || n != 2 {
		t.Fatalf("Requeue = %d, %v; want 2", n, err)
	}
	g, err := s.Claim(t.Context(), "w", 1, time.Minute)
	if err != nil || len(g.Hosts) != 1 {
		t.Fatalf("Claim = %+v, %v; want a host", g, err)
	}
	if taken, err := s.Take(t.Context(), g.Hosts[0].Claim, 2); err != nil || len(taken) != 2 {
		t.Fatalf("Take = %v, %v; want 2 URLs", taken, err)
	}
	began := func(e *store.Entry, want store.Want) time.Time {
		t.Helper()
		found, err := s.Pages(t.Context(), []dedup.Hash{e.Record.ID}, want)
		if err != nil || found[0] == nil {
			t.Fatalf("Pages = %v, %v", found, err)
		}
		return found[0].Record.Began()
	}
	began(pages[0], store.AsTaken) // reads both
	was := pages[1].Record.Began()
	again := pageOf(pages[1].Record.URL, 2)
	again.Record.JudgedAt = was.Add(time.Hour)
	again.Revisit, again.Replaces = true, was
	commitJudged(t, beside(t, s, Options{}), again)
	if got := began(pages[1], store.WantRecord); !got.Equal(again.Record.Began()) {
		t.Errorf("its record began at %v, want %v, when it was judged again", got, again.Record.Began())
	}
	if got := began(pages[1], store.AsTaken); !got.Equal(was) {
		t.Errorf("as it was taken its record began at %v, want %v", got, was)
	}
}

// A leader is visited again while a look-up is on its way: the visit before is read, and the next is
// found to be committed. The look-up meets the page once, as it is.
func TestALeaderIsMetOnce(t *testing.T) {
	one := openNew(t, engines[2].at(t))
	leader := pageOf("https://example.com/leader", 1)
	commitJudged(t, one, leader)
	again := pageOf(leader.Record.URL, 2)
	again.Keys, again.Revisit, again.Replaces = leader.Keys, true, leader.Record.Began()
	c := one.newCommit(again)
	if err := c.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if holds, err := c.post(t.Context()); err != nil || !holds {
		t.Fatalf("its postings hold: %v, %v", holds, err)
	}
	other := beside(t, one, Options{})
	trips := 0
	other.flown = func(time.Time, time.Time) {
		if trips++; trips != 2 { // the first reads the lists, the second what is in them
			return
		}
		if answer, err := c.finish(t.Context()); err != nil || text(answer[0]) != "written" {
			t.Errorf("the next visit is %v, %v; want written", answer, err)
		}
	}
	found := lookup(t, other, store.Ask{Keys: leader.Keys, Limit: 10})
	met := unpack(found.Mark).leaders[leader.Record.ID].visit()
	if len(found.Leaders) != 1 || found.Leaders[0].Hash != again.Record.Hash || met != c.visit() {
		t.Errorf("it meets %d leaders, visit %v; want the page as it is, visit %v", len(found.Leaders), met, c.visit())
	}
}
