package redis

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
	"skink/store/redis/redistest"
)

// What a primary says of its cluster: one of its replicas may take its place, one that is suspected to
// have failed may, one that has failed may not, and those of others may not.
func TestAPrimaryCountsItsReplicas(t *testing.T) {
	const nodes = `07c37df a:1@11 master - 0 1426238317239 4 connected 0-99 [93-<-292f8b3]
67ed2db a:2@12,host myself,master - 0 1426238316232 2 connected 100-199 300
292f8b3 a:3@13 master - 0 0 3 connected 200-299
6ec2392 a:4@14 master,fail - 0 1426238317741 1 disconnected
824fe11 a:5@15 slave 67ed2db 0 1426238317741 6 connected
824fe12 a:8@18 slave 292f8b3 0 1426238317741 6 connected
e7d1eec a:6@16 slave,fail 67ed2db 0 1426238316232 5 connected
e7d1eed a:7@17 slave,fail? 67ed2db 0 1426238316232 5 connected
`
	got := readShards(nodes, []uint16{150, 250, 50, 300, 10})
	slices.Sort(got)
	if want := []partition{0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("partitions %v are on different primaries, want %v", got, want)
	}
	lines := strings.SplitAfter(nodes, "\n")
	for at := range lines { // each may be the first, and begins with what kind of text the answer is
		turned := "txt:" + strings.Join(slices.Concat(lines[at:], lines[:at]), "")
		if n := replicasOf(turned); n != 2 {
			t.Errorf("%d replicas may take the place, want 2, of\n%s", n, turned)
		}
	}
	if !hasReplicas(nodes) || hasReplicas(nodes[:strings.Index(nodes, "824fe11")]) {
		t.Error("a cluster has replicas if one of its servers is one")
	}
	if n := replicasOf(""); n != 0 {
		t.Errorf("%d replicas may take the place of a server that is in no cluster", n)
	}
}

// A replica that is out of step for long is not waited for, until it has been in step again.
func TestAReplicaIsWaitedForWithPatience(t *testing.T) {
	for _, tt := range []struct {
		name  string
		knows bool
		bound time.Duration
	}{
		{"a replica that is known to be there", true, patience},
		{"one that is said to be gone", false, hearsay},
	} {
		s, now := &Store{}, time.Now()
		last := time.Duration(0)
		for i, step := range []struct {
			at    time.Duration
			asked bool // all the time since the step before
			syncs string
			has   bool
			want  bool
		}{
			{0, true, "1", false, true},
			{tt.bound, true, "1", false, true},
			{tt.bound + 1, true, "1", false, false},
			{tt.bound + 2, true, "2", false, true}, // it had come back meanwhile
			{2*tt.bound + 2, true, "2", false, true},
			{2*tt.bound + 3, true, "2", false, false},
			{2*tt.bound + 4, true, "2", true, false},
			{2*tt.bound + 5, true, "2", false, true},
			{4*tt.bound + 5, false, "2", false, true}, // it may have been in step meanwhile
			{5*tt.bound + 5, true, "2", false, true},
			{5*tt.bound + 6, true, "2", false, false},
		} {
			standings := []standing{{history: "one", has: true}, {"two", step.syncs, step.has, tt.knows}}
			for at := last + hearsay/2; step.asked && at < step.at; at += hearsay / 2 {
				s.outOfStep(standings, now.Add(at))
			}
			last = step.at
			if got := s.outOfStep(standings, now.Add(step.at)); got != step.want {
				t.Errorf("%s, %d: after %v it is waited for: %v, want %v", tt.name, i, step.at, got, step.want)
			}
		}
	}
}

// A replica that comes back is in step before its primary's cluster knows it. If the link breaks then,
// it can take the primary's place, and lacks what the primary is told from there on.
func TestAReplicaThatIsCutOffMayTakeOver(t *testing.T) {
	primary := redistest.Start(t)
	s := openNamed(t, primary.Addr, newName())
	if s.replicated {
		t.Fatal("a server that no replica ever followed has none")
	}
	redistest.StartReplica(t, primary)
	s = openNamed(t, primary.Addr, newName())
	if _, err := s.copied(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := primary.CutReplicas(); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Store{"who knew the replica": s, "who comes later": openNamed(t, primary.Addr, newName())} {
		if _, err := s.copied(t.Context()); !errors.Is(err, errNotCopied) {
			t.Errorf("%s: copied = %v, want %v", name, err, errNotCopied)
		}
	}
}

// A claim whose answer never came, or whose return a server has lost, is held by nobody. The worker
// whose name it has waits until it runs out, as all others do, and fetches what is left.
func TestAClaimThatNobodyKnowsOfRunsOut(t *testing.T) {
	onEach(t, func(t *testing.T, servers string) {
		s := openNew(t, servers)
		discover(t, s, 3, urlsOf("example.com", 3))
		g, err := s.Claim(t.Context(), "w", 1, 300*time.Millisecond)
		if err != nil || len(g.Hosts) != 1 || g.Others != 0 {
			t.Fatalf("Claim = %+v, %v; want one host", g, err)
		}
		s.holding.remove(g.Hosts[0].Claim)
		s.outlook.expire()
		for g, err = s.Claim(t.Context(), "w", 1, time.Hour); err == nil && len(g.Hosts) == 0; g, err = s.Claim(t.Context(), "w", 1, time.Hour) {
			if g.Others+g.Waiting == 0 {
				t.Fatal("nothing is left, says a Claim, and three URLs are")
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err != nil {
			t.Fatal(err)
		}
		if items, err := s.Take(t.Context(), g.Hosts[0].Claim, 9); err != nil || len(items) != 3 {
			t.Errorf("Take = %v, %v; want three URLs", items, err)
		}
	})
}

// A claim is given, lost by a server, and given again: one host is held.
func TestAClaimGivenAgainIsOne(t *testing.T) {
	h := newHolding()
	first, again := frontier.Claim{Host: "a", Worker: "w", Token: 7}, frontier.Claim{Host: "a", Worker: "w", Token: 6}
	h.add(first)
	h.add(again)
	if n := h.count("w", partOfHost("a")); n != 1 || h.has(first) || !h.has(again) {
		t.Errorf("%d hosts are held, by the first claim: %v, by the second: %v", n, h.has(first), h.has(again))
	}
	h.remove(first)
	h.remove(again)
	h.remove(again)
	if n := h.count("w", partOfHost("a")); n != 0 || !h.none() {
		t.Errorf("%d hosts are held when both have ended", n)
	}
}

// A server has lost that the run has begun, so those that come wait for the session that begins it,
// which has. They wait until that says once more that it is there.
func TestThatARunHasBegunIsSaidAgain(t *testing.T) {
	onEach(t, func(t *testing.T, servers string) {
		s := openNew(t, servers)
		lose := s.B().Hset().Key(s.global("g")).FieldValue().FieldValue("beginner", s.session).Build()
		if err := s.do(t.Context(), lose)[0].Error(); err != nil {
			t.Fatal(err)
		}
		other := &Store{client: s.client, keyspace: s.keyspace, session: "other"}
		if answer, err := other.say(t.Context(), "join"); err != nil || answer != "wait" {
			t.Fatalf("who joins is told %q, %v; want that it waits", answer, err)
		}
		if _, err := s.say(t.Context(), "stay"); err != nil {
			t.Fatal(err)
		}
		if answer, err := other.say(t.Context(), "join"); err != nil || answer == "wait" {
			t.Errorf("who joins is told %q, %v; want how many others are there", answer, err)
		}
		if _, err := other.say(t.Context(), "leave"); err != nil {
			t.Fatal(err)
		}
	})
}

// inOutbox puts leads into an outbox, as a worker that is dead has.
func inOutbox(t *testing.T, s *Store, v visit, leads ...lead) {
	t.Helper()
	hset := s.B().Hset().Key(s.key(v.part, "o")).FieldValue().FieldValue(decimal(v.n), packLeads(leads)).Build()
	if err := s.do(t.Context(), hset)[0].Error(); err != nil {
		t.Fatal(err)
	}
}

// A primary said that a replica had what it had not, and died: a page is in the store, nothing of it is
// in an outbox any more, and where it is and whom it follows is gone. Who sees the new era writes it again,
// also who has nothing to do.
func TestWhereRecentPagesAreIsWrittenAgain(t *testing.T) {
	s := openNew(t, engines[2].at(t))
	leader, member := pageOf("https://example.com/leader", 1), pageOf("https://example.com/member", 2)
	commitJudged(t, s, leader)
	(&visitor{t, s, map[dedup.Hash]bool{}}).visit(linked(member.Record.URL, frontier.Claim{}, 2, 1, 0, 1))
	reader := beside(t, s, Options{ReadOnly: true})
	lost := s.membersKey(leader.Record.ID)
	for _, e := range []*store.Entry{leader, member} {
		id := e.Record.ID
		own, _ := s.bucketsOf(located, partOfID(id), s.levels.get(located, partOfID(id)), fieldOf(id))
		if err := firstError(s.do(t.Context(), s.B().Del().Key(own).Build(), s.B().Del().Key(lost).Build())); err != nil {
			t.Fatal(err)
		}
		if pages, err := reader.Pages(t.Context(), []dedup.Hash{id}, store.WantRecord); err != nil || pages[0] != nil {
			t.Fatalf("%s is found, %v", e.Record.URL, err)
		}
	}
	awaitConfirmed(t, s)
	s.copying.Lock()
	s.histories = []string{"that of a dead primary"}
	s.copying.Unlock()
	for deadline := time.Now().Add(40 * time.Second); ; time.Sleep(50 * time.Millisecond) { // a session says that it lives
		pages, err := reader.Pages(t.Context(), []dedup.Hash{leader.Record.ID, member.Record.ID}, store.WantRecord)
		if err != nil {
			t.Fatal(err)
		}
		var members []string
		for m, err := range reader.Members(t.Context(), []dedup.Hash{leader.Record.ID}) {
			if err != nil {
				t.Fatal(err)
			}
			members = append(members, m.URL)
		}
		if pages[0] != nil && pages[1] != nil && slices.Equal(members, []string{member.Record.URL}) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("by their ids is found %v, and of members %q", pages, members)
		}
	}
}

// A server has lost a visit with what was in its outbox, and has given its number to another's. The
// worker that brought the links of the one does not take those of the other for brought.
func TestTheNumberOfALostVisitIsAnothers(t *testing.T) {
	s := openNew(t, engines[2].at(t))
	if _, err := s.copied(t.Context()); err != nil {
		t.Fatal(err)
	}
	reused, lost := visit{partOf("https://example.com/"), 7}, visit{partOf("https://example.com/"), 8}
	inOutbox(t, s, reused, lead{ifNew, frontier.Item{URL: "https://a.example/"}})
	c := s.courier
	c.mu.Lock()
	for _, v := range []visit{reused, lost} {
		c.own[v] = true
		c.owned[v.part]++
		c.brought = append(c.brought, delivery{visit: v, era: s.era.Load() - 1})
	}
	c.mu.Unlock()
	for deadline := time.Now().Add(30 * time.Second); s.unconfirmed(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("what was brought is never confirmed")
		}
		if err := s.bring(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.clear(t.Context())
	}
	if n, err := s.Counts(t.Context()); err != nil || n.Pending != 1 {
		t.Errorf("Counts = %+v, %v; want one URL pending", n, err)
	}
	if n, err := s.do(t.Context(), s.B().Hlen().Key(s.key(reused.part, "o")).Build())[0].AsInt64(); err != nil || n != 0 || c.owns() != [partitions]int{} {
		t.Errorf("%d entries are left, %v", n, err)
	}
}

// A worker reads what another left in an outbox. Before it brings that, the server has lost the visit,
// and has given its number to another's: what that one left is brought, too.
func TestTheNumberOfAVisitThatWasReadIsAnothers(t *testing.T) {
	s := openNew(t, engines[2].at(t))
	if _, err := s.copied(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := visit{partOf("https://example.com/"), 7}
	s.courier.bringing.Lock()
	inOutbox(t, s, v, lead{ifNew, frontier.Item{URL: "https://a.example/"}})
	if err := s.takeOver(t.Context(), []visit{v}); err != nil {
		t.Fatal(err)
	}
	beginEra(t, s)
	inOutbox(t, s, v, lead{ifNew, frontier.Item{URL: "https://b.example/"}})
	s.courier.bringing.Unlock()
	awaitConfirmed(t, s)
	if state, err := s.State(t.Context(), "https://b.example/"); err != nil || state != frontier.Pending {
		t.Errorf("what the other left is %v, %v; want pending", state, err)
	}
}

// While it is asked whether replicas have what was brought, nobody takes the crawl for over.
func TestNothingIsOverWhileReplicasAreAsked(t *testing.T) {
	s := openNew(t, engines[2].at(t))
	commitJudged(t, s, pageOf("https://example.com/0", 0))
	s.copying.Lock()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		s.courier.mu.Lock()
		asked := len(s.courier.brought)+len(s.courier.waiting) == 0
		s.courier.mu.Unlock()
		if asked {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody asks")
		}
	}
	open := s.unconfirmed()
	s.copying.Unlock()
	if !open {
		t.Error("nothing is unconfirmed, and no replica was asked yet")
	}
}

// A server takes over that has lost some of what was done to double the buckets of a directory. All
// that it knows of is found.
func TestASplitThatIsLost(t *testing.T) {
	onReal(t, func(t *testing.T, servers string) {
		for _, tt := range []struct {
			name string
			sums []string // what the server knows, and the worker believes otherwise
		}{
			{"all of it", nil},
			{"but that it begins", []string{"UL", "1", "UT", "1"}},
		} {
			t.Run(tt.name, func(t *testing.T) {
				s := openNew(t, servers)
				all := urlsOf("example.com", 90)
				discover(t, s, 90, all)
				p := partOf(all[0].URL)
				for i := 0; i+1 < len(tt.sums); i += 2 {
					hset := s.B().Hset().Key(s.key(p, "s")).FieldValue().FieldValue(tt.sums[i], tt.sums[i+1]).Build()
					if err := s.do(t.Context(), hset)[0].Error(); err != nil {
						t.Fatal(err)
					}
				}
				calls := []call{
					{splitScript, s.hostKeys(p, s.bucket(known, p, 1, 0), s.bucket(known, p, 2, 0), s.bucket(known, p, 2, 2)), []string{"U", "2", "0"}},
					{grownScript, s.hostKeys(p), []string{"U", "1"}},
				}
				if tt.sums == nil { // the call to split the only bucket comes late
					calls[0] = call{splitScript, s.hostKeys(p, s.bucket(known, p, 0, 0), s.bucket(known, p, 1, 0), s.bucket(known, p, 1, 1)), []string{"U", "1", "0"}}
				}
				if err := firstError(s.eval(t.Context(), calls...)); err != nil {
					t.Fatal(err)
				}
				if l, _ := levelNow(t, s, known, p); l.splitting != (tt.sums != nil) {
					t.Errorf("at level %+v, when %s is lost", l, tt.name)
				}
				if err := s.splitAll(t.Context(), known, p); err != nil {
					t.Fatal(err)
				}
				for _, it := range all {
					if state, err := s.State(t.Context(), it.URL); err != nil || state != frontier.Pending {
						t.Fatalf("the state of %s is %v, %v; want pending", it.URL, state, err)
					}
				}
				if l, _ := levelNow(t, s, known, p); l.splitting || bucketed(t, s, known, p, l) != 90 {
					t.Errorf("at level %+v %d URLs are found", l, bucketed(t, s, known, p, l))
				}
			})
		}
	})
}
