package redis

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// urlsOf are n URLs of a host.
func urlsOf(host string, n int) (items []frontier.Item) {
	for i := range n {
		items = append(items, frontier.Item{URL: fmt.Sprintf("https://%s/%d", host, i)})
	}
	return items
}

func discover(t *testing.T, s *Store, want int, items []frontier.Item) {
	t.Helper()
	if found, err := s.Discover(t.Context(), items); err != nil || found != want {
		t.Fatalf("Discover found %d, %v; want %d", found, err, want)
	}
}

// levelNow is the level of a directory in a partition, and how many fields are counted there.
func levelNow(t *testing.T, s *Store, d directory, p partition) (l level, fields int) {
	t.Helper()
	sums, err := s.do(t.Context(), s.B().Hgetall().Key(s.key(p, "s")).Build())[0].AsStrMap()
	if err != nil {
		t.Fatal(err)
	}
	l.bits, _ = strconv.Atoi(sums[string(d)+"L"])
	l.splitting = sums[string(d)+"T"] == "1"
	fields, _ = strconv.Atoi(sums[string(d)+"N"])
	return l, fields
}

// What is known stays known while its buckets double under several workers, each of which
// believes something else about them.
func TestBucketsGrow(t *testing.T) {
	onReal(t, func(t *testing.T, servers string) {
		const workers, urls = 3, 5000
		name, all := newName(), urlsOf("example.com", urls)
		var stores [workers]*Store
		for w := range stores {
			stores[w] = openNamed(t, servers, name)
		}
		var found [workers]int
		var wg sync.WaitGroup
		for w, s := range stores {
			wg.Go(func() {
				for some := range slices.Chunk(all, 40+w) {
					n, err := s.Discover(t.Context(), some)
					if err != nil {
						t.Error(err)
						return
					}
					found[w] += n
				}
			})
		}
		wg.Wait()
		if sum := found[0] + found[1] + found[2]; sum != urls {
			t.Errorf("%d URLs were new, want %d", sum, urls)
		}
		p := partOf(all[0].URL)
		for _, s := range stores {
			s.growing.Wait()
		}
		l, fields := levelNow(t, stores[0], known, p)
		if l.splitting || 100<<l.bits < urls || fields != urls {
			t.Errorf("%d fields at level %+v, want %d of which no bucket has more than 100 on average", fields, l, urls)
		}
		if n := bucketed(t, stores[0], known, p, l); n != urls {
			t.Errorf("%d fields are in the buckets of that level, want %d", n, urls)
		}
		discover(t, openNamed(t, servers, name), 0, all)
	})
}

// bucketed counts the fields in the buckets of a level.
func bucketed(t *testing.T, s *Store, d directory, p partition, l level) (n int) {
	t.Helper()
	for i := range 1 << l.bits {
		fields, err := s.do(t.Context(), s.B().Hlen().Key(s.bucket(d, p, l.bits, i)).Build())[0].AsInt64()
		if err != nil {
			t.Fatal(err)
		}
		n += int(fields)
	}
	return n
}

// Who splits buckets may die in the middle: others go on finding and adding, and the first
// who looks over all partitions twice completes it.
func TestBucketsHalfSplit(t *testing.T) {
	onReal(t, func(t *testing.T, servers string) {
		name, all := newName(), urlsOf("example.com", 90)
		s := openNamed(t, servers, name)
		discover(t, s, 90, all)
		p := partOf(all[0].URL)
		hset := s.B().Hset().Key(s.key(p, "s")).FieldValue().FieldValue("UL", "1").FieldValue("UT", "1").Build()
		if err := s.do(t.Context(), hset)[0].Error(); err != nil {
			t.Fatal(err)
		}
		other := openNamed(t, servers, name)
		discover(t, other, 0, all)
		discover(t, other, 10, urlsOf("example.com", 100))
		for range 2 {
			other.outlook.expire()
			all, _ := other.outlook.toLook(0, time.Now())
			if err := other.look(t.Context(), 0, all); err != nil {
				t.Fatal(err)
			}
			for _, d := range other.outlook.halfSplit() {
				other.grow(d.dir, d.part)
			}
		}
		other.growing.Wait()
		if l, _ := levelNow(t, s, known, p); l != (level{bits: 1}) {
			t.Errorf("level is %+v", l)
		}
		if n := bucketed(t, s, known, p, level{bits: 1}); n != 100 {
			t.Errorf("%d fields are in two buckets, want 100", n)
		}
		discover(t, openNamed(t, servers, name), 0, urlsOf("example.com", 100))
	})
}

// The links of a page whose worker died before he delivered them are delivered by another, who has
// seen them wait for a while.
func TestLinksOfTheDeadAreDelivered(t *testing.T) {
	onEach(t, func(t *testing.T, servers string) {
		name := newName()
		dead, other := openNamed(t, servers, name), openNamed(t, servers, name)
		leads := []lead{
			{ifNew, frontier.Item{URL: "https://a.example/", Depth: 3, ETag: "e"}},
			{ifNew, frontier.Item{URL: "https://b.example/", Via: "https://via.example/"}},
			{asOutside, frontier.Item{URL: "https://out.example/"}},
		}
		p := partOf("https://example.com/")
		hset := dead.B().Hset().Key(dead.key(p, "o")).FieldValue().FieldValue("7", packLeads(leads)).Build()
		if err := dead.do(t.Context(), hset)[0].Error(); err != nil {
			t.Fatal(err)
		}
		g, err := other.Claim(t.Context(), "other", 9, time.Hour)
		if g.Waiting == 0 || len(g.Hosts) > 0 || g.Next.IsZero() {
			t.Errorf("the first Claim = %+v; want something that is waited for", g)
		}
		for err == nil && len(g.Hosts) == 0 {
			time.Sleep(50 * time.Millisecond)
			g, err = other.Claim(t.Context(), "other", 9, time.Hour)
		}
		if err != nil || len(g.Hosts) != 2 || g.Waiting != 0 {
			t.Fatalf("Claim = %+v, %v; want two hosts, and nothing waiting", g, err)
		}
		items, err := other.Take(t.Context(), g.Hosts[1].Claim, 9)
		if err != nil || len(items) != 1 || items[0] != leads[0].item {
			t.Errorf("Take = %+v, %v; want %+v", items, err, leads[0].item)
		}
		if n, err := other.Counts(t.Context()); err != nil || n != (frontier.Counts{Pending: 2, Outside: 1}) {
			t.Errorf("Counts = %+v, %v", n, err)
		}
	})
}

// A worker that leaves gives back what it holds, and others need not wait for it.
func TestClaimsEndWithTheirStore(t *testing.T) {
	onEach(t, func(t *testing.T, servers string) {
		name := newName()
		leaving, staying := openNamed(t, servers, name), openNamed(t, servers, name)
		discover(t, staying, 3, urlsOf("example.com", 3))
		g, err := leaving.Claim(t.Context(), "leaving", 1, time.Hour)
		if err != nil || len(g.Hosts) != 1 {
			t.Fatalf("Claim = %+v, %v", g, err)
		}
		if _, err := leaving.Take(t.Context(), g.Hosts[0].Claim, 2); err != nil {
			t.Fatal(err)
		}
		if err := leaving.Close(); err != nil {
			t.Fatal(err)
		}
		g, err = staying.Claim(t.Context(), "staying", 1, time.Hour)
		if err != nil || len(g.Hosts) != 1 {
			t.Fatalf("Claim after the other left = %+v, %v", g, err)
		}
		items, err := staying.Take(t.Context(), g.Hosts[0].Claim, 9)
		if err != nil || !slices.Equal(items, urlsOf("example.com", 3)) {
			t.Errorf("Take = %+v, %v", items, err)
		}
	})
}

// The same script twice, as when its answer is lost, writes once.
func TestACommitAnsweredTwice(t *testing.T) {
	onEach(t, func(t *testing.T, servers string) {
		s := openNew(t, servers)
		url := "https://example.com/0"
		discover(t, s, 1, urlsOf("example.com", 1))
		e := &store.Entry{
			Record: store.Record{ID: dedup.HashOf([]byte(url)), URL: url, Kind: store.Page, Verdict: dedup.Unique},
			State:  frontier.Fetched, Text: store.Pack([]byte("a text")), Links: urlsOf("other.example", 2),
		}
		c := &commit{store: s, entry: e, part: partOf(url), field: fieldOf(frontier.ID(url))}
		if err := c.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		var places [2]string
		for i := range places {
			answer, err := c.finish(t.Context())
			if err != nil || text(answer[0]) != "written" {
				t.Fatalf("finish = %v, %v", answer, err)
			}
			places[i] = text(answer[1])
		}
		if number, _ := strconv.ParseUint(places[1], 10, 64); places[0] != strconv.FormatUint(number, 10) {
			t.Errorf("places are %v", places)
		}
		tally, err := s.Tally(t.Context())
		if err != nil || tally.Unique != 1 {
			t.Errorf("Tally = %+v, %v", tally, err)
		}
	})
}

// What a holder has spent of a host's budget and told nobody, because it died, the next one hears.
// What it tells when it returns the host is all there is to know.
func TestTheDeadHaveSpent(t *testing.T) {
	onEach(t, func(t *testing.T, addrs string) {
		s := openNew(t, addrs)
		discover(t, s, 3, urlsOf("example.com", 3))
		claim := func(ttl time.Duration) frontier.Held {
			for {
				g, err := s.Claim(t.Context(), "w", 1, ttl)
				if err != nil {
					t.Fatal(err)
				}
				if len(g.Hosts) == 1 {
					return g.Hosts[0]
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
		held := claim(time.Hour)
		items, err := s.Take(t.Context(), held.Claim, 2)
		if err != nil || len(items) != 2 {
			t.Fatal(items, err)
		}
		for i, it := range items {
			e := pageOf(it.URL, i)
			e.Claim = held.Claim
			commitJudged(t, s, e)
		}
		// The host's claim is made to run out, as if its holder had not been heard of for long.
		if _, err := s.Renew(t.Context(), []frontier.Claim{held.Claim}, time.Microsecond); err != nil {
			t.Fatal(err)
		}
		next := claim(time.Hour)
		if want := (frontier.Spent{Pages: 2, Bytes: 30000}); next.Host.Rest.Spent != want {
			t.Errorf("after its holder died the host has spent %v, want %v", next.Host.Rest.Spent, want)
		}
		told := frontier.Spent{Pages: 5, Bytes: 6}
		if err := s.Return(t.Context(), next.Claim, frontier.Rest{Spent: told}); err != nil {
			t.Fatal(err)
		}
		if last := claim(time.Hour); last.Host.Rest.Spent != told {
			t.Errorf("after it was returned the host has spent %v, want %v", last.Host.Rest.Spent, told)
		}
	})
}

// A worker that leaves has no share of the hosts from then on: the others need not wait until it
// has not been heard of for long.
func TestWhoLeavesHasNoShare(t *testing.T) {
	onEach(t, func(t *testing.T, addrs string) {
		s := openNew(t, addrs)
		leaves := openNamed(t, addrs, string(s.keyspace))
		for worker, s := range map[string]*Store{"stays": s, "leaves": leaves} {
			if _, err := s.Claim(t.Context(), worker, 0, time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		if err := leaves.Close(); err != nil {
			t.Fatal(err)
		}
		there, err := s.Do(t.Context(), s.B().Zrange().Key(s.global("a")).Min("0").Max("-1").Build()).AsStrSlice()
		if err != nil || !slices.Equal(there, []string{"stays"}) {
			t.Errorf("after one has left there are %q, %v", there, err)
		}
	})
}
