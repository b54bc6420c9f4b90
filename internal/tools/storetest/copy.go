package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

var copyPromises = []promise{
	{"a_copy_has_everything", func(t *testing.T, s store.Store) {
		from := NewMemory()
		fillStore(t, from)
		copyTo(t, s, from)
		wantSame(t, s, from)
		again := NewMemory()
		copyTo(t, again, s)
		wantSame(t, again, from)
	}},
	{"a_copy_goes_on", func(t *testing.T, s store.Store) {
		from := NewMemory()
		fillStore(t, from)
		end := must(from.End(ctx))(t)
		copyTo(t, s, from)
		equal(t, "end", must(s.End(ctx))(t), end)
		wantChanges(t, s, end) // cursors of the old store are valid in the copy

		leader := urlOf(1)
		commit(t, s, copyOf(leader, "https://example.com/later", 0.95))
		wantChanges(t, s, end, "https://example.com/later")
		equal(t, "members", urlsOf(members(t, s, hashOf(leader))), []string{"https://example.com/later", urlOf(2)})

		stale := page("https://example.com/stale")
		found := lookup(t, s, store.Ask{Keys: []uint64{77}, Limit: 9})
		stale.Basis = store.Basis{Mark: found.Mark, Keys: []uint64{77}}
		other := page("https://example.com/first")
		other.Keys = []uint64{77}
		commit(t, s, other)
		wantOutcomes(t, s, []*store.Entry{stale}, store.Stale)

		again := page(urlOf(3))
		again.Revisit, again.Text = true, store.Pack([]byte("other words"))
		commit(t, s, again)
		wantText(t, s, urlOf(3), "other words")
		wantState(t, s, urlOf(3), frontier.GivenUp) // only finishing a pending URL changes its state

		discover(t, s, 1, items(1, "https://beyond.example/", urlOf(1), "https://queue.example/2"))
		c := claim(t, s, "queue.example").Claim
		equal(t, "queue", take(t, s, c, 9), []string{"https://queue.example/soon", "https://queue.example/1", "https://queue.example/2", "https://queue.example/deep"})
	}},
	{"a_copy_begins_empty", func(t *testing.T, s store.Store) {
		commit(t, s, page(urlOf(1)))
		if err := store.Copy(ctx, s, NewMemory(), func(int64) {}); err == nil {
			t.Error("a store with a page was copied to")
		}
	}},
	{"a_store_can_be_copied_while_it_changes", func(t *testing.T, s store.Store) {
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				e := full(urlOf(n), fmt.Sprint("text ", n))
				e.Record.Leader, e.Record.Verdict = dedup.Hash{}, dedup.Unique
				e.Links = items(1, urlOf(n), urlOf(n+1), urlOf(n+2))
				if _, err := s.Commit(ctx, []*store.Entry{e}); err != nil {
					t.Error(err)
					return
				}
			}
		}()
		for last := int64(-1); last < 20; {
			to := NewMemory()
			copyTo(t, to, s)
			counts := must(to.Counts(ctx))(t)
			tally := must(to.Tally(ctx))(t)
			last = tally.Records()
			// A store may write new URLs before the page that links to them.
			if counts.Fetched != last || last > 0 && (counts.Pending < 2 || counts.Pending > 3) {
				t.Errorf("a copy has %d pages and %+v, want as many fetched and 2 or 3 pending", last, counts)
			}
		}
		close(stop)
		<-stopped
	}},
}

func fillStore(t *testing.T, s store.Store) {
	check(t, s.SetMeta(ctx, "settings", []byte(`{"format":2}`)))
	check(t, s.SetMeta(ctx, "empty", nil))
	check(t, s.SetMeta(ctx, "large", noise(1, largeMeta)))
	check(t, store.BeginCrawl(ctx, s, time.Unix(1795000000, 0)))
	discover(t, s, 3, items(0, urlOf(1), urlOf(2), urlOf(3)))
	discover(t, s, 1, []frontier.Item{wholeItem("https://whole.example/")})

	leader := full(urlOf(1), "a text")
	leader.Record = fullRecord(urlOf(1))
	leader.Record.Verdict, leader.Record.Leader, leader.Record.DuplicateOf, leader.Record.Resemblance = dedup.Unique, dedup.Hash{}, "", 0
	leader.Record.Hash, leader.Hash = hashOf("a text"), hashOf("another hash")
	leader.Text = store.PackMarked([]byte("a text"), []byte("# a text"), []store.Heading{{Level: 1, ID: "a"}})
	leader.Links = []frontier.Item{
		{URL: "https://queue.example/deep", Depth: 2}, {URL: "https://queue.example/1", Depth: 1}, {URL: "https://queue.example/2", Depth: 1}, {URL: "https://queue.example/soon", Depth: 3, Priority: -1},
		{URL: "https://queue.example/far", Due: farOff},
	}
	leader.Beyond = []string{frontier.Leave("https://beyond.example/", "exclude: x"), "https://beyond.example/2"}
	commit(t, s, leader, copyOf(urlOf(1), urlOf(2), 0.9))
	third := full(urlOf(3), "third")
	third.State = frontier.GivenUp
	third.Record.Kind, third.Record.Problem, third.Record.Verdict = store.Error, "timeout", ""
	third.Text = nil
	commit(t, s, third)
	unqueued := page("file:a") // as skink dedup writes it: its name was never in the frontier
	unqueued.State = frontier.Unknown
	unqueued.Text = store.Pack(nil)
	commit(t, s, unqueued)
	first := *leader
	first.Revisit, first.Links, first.Beyond, first.Keys = true, nil, nil, []uint64{5, 6}
	commit(t, s, &first) // leaves a gap in the commit order
	if n := must(s.Requeue(ctx, items(1, urlOf(2))))(t); n != 1 {
		t.Errorf("%d URLs were queued again, want 1", n)
	}
	check(t, s.Return(ctx, claim(t, s, "whole.example").Claim, frontier.Rest{
		Blocked: time.Now().Add(50 * time.Minute).Round(0).UTC(), Delay: time.Minute, Spent: frontier.Spent{Pages: 3, Bytes: 4},
	}))
}

func copyTo(t tester, to, from store.Store) {
	t.Helper()
	var last int64
	check(t, store.Copy(ctx, to, from, func(pages int64) { last = pages }))
	if tally := must(to.Tally(ctx))(t); last != tally.Records() {
		t.Errorf("Copy told of %d pages, and the copy has %d records", last, tally.Records())
	}
}

func wantSame(t *testing.T, got, want store.Store) {
	t.Helper()
	type answers struct {
		changes  []*store.Change
		outside  []string
		pending  []string
		clusters []store.Cluster
		counts   frontier.Counts
		tally    store.Tally
		hosts    []frontier.Host
		end      store.Cursor
		settings []byte
		empty    []byte
		large    dedup.Hash
		crawl    store.Crawl
		lookups  []store.Found
	}
	of := func(s store.Store) (a answers) {
		a.changes = collect(t, s.Changes(ctx, "", store.WantText|store.WantSketch|store.WantLinks))
		a.outside, a.pending = collect(t, s.URLs(ctx, frontier.Outside)), collect(t, s.URLs(ctx, frontier.Pending))
		slices.Sort(a.outside)
		slices.Sort(a.pending)
		a.clusters = collect(t, s.Clusters(ctx))
		a.counts, a.tally, a.end = must(s.Counts(ctx))(t), must(s.Tally(ctx))(t), must(s.End(ctx))(t)
		a.hosts = collect(t, s.Hosts(ctx))
		slices.SortFunc(a.hosts, func(a, b frontier.Host) int { return strings.Compare(a.Name, b.Name) })
		for i := range a.hosts {
			a.hosts[i].Rest = a.hosts[i].Rest.Lasting()
			a.hosts[i].Rest.Blocked = a.hosts[i].Rest.Blocked.UTC()
		}
		a.large, a.crawl = dedup.HashOf(must(s.Meta(ctx, "large"))(t)), must(store.LastCrawl(ctx, s))(t)
		a.settings, a.empty = must(s.Meta(ctx, "settings"))(t), must(s.Meta(ctx, "empty"))(t)
		for _, ask := range []store.Ask{askKeys(5), askKeys(keyOf("a text")), askKeys(keyOf("third")), {Hashes: hashesOf("another hash")}, {Hashes: hashesOf("a text")}} {
			f := lookup(t, s, ask)
			f.Mark = ""
			f.Leaders, f.Full = append([]store.Leader{}, f.Leaders...), append([]bool{}, f.Full...)
			a.lookups = append(a.lookups, f)
		}
		return a
	}
	g, w := of(got), of(want)
	equal(t, "changes", len(g.changes), len(w.changes))
	for i := range min(len(g.changes), len(w.changes)) {
		equal(t, "change", *g.changes[i], *w.changes[i])
		url := w.changes[i].Record.URL
		wantState(t, got, url, must(want.State(ctx, url))(t))
	}
	g.changes, w.changes = nil, nil
	equal(t, "answers", g, w)
}
