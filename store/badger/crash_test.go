package badger

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/frontier"
	"skink/store"
)

// killed copies the folder of an open store and opens the copy. The copy has the files that the
// next process would find if this process were killed now.
func killed(t *testing.T, s *Store) *Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	copyDir(t, s.dir, dir)
	return openTest(t, dir)
}

func TestKilled(t *testing.T) {
	ctx := t.Context()
	s := openTest(t, t.TempDir())
	urls := []frontier.Item{{URL: "https://example.com/1"}, {URL: "https://example.com/2"}, {URL: "https://example.com/3"}}
	if _, err := s.Discover(ctx, urls); err != nil {
		t.Fatal(err)
	}
	if items := takeAll(t, s, 2); len(items) != 2 {
		t.Fatalf("took %v", items)
	}
	commit(t, s, entry(1))

	again := killed(t, s)
	if recordOf(t, again, 1) == nil {
		t.Error("the committed record is gone")
	}
	counts, err := again.Counts(ctx)
	if want := (frontier.Counts{Pending: 2, Fetched: 1}); err != nil || counts != want {
		t.Errorf("Counts = %+v, %v; want %+v", counts, err, want)
	}
	if items := takeAll(t, again, 9); len(items) != 2 || items[0] != urls[1] || items[1] != urls[2] {
		t.Errorf("Take = %v; want the one that was taken again and the other", items)
	}
}

// A large entry takes several transactions. Whichever of them is the last before the process is
// killed, the store is consistent, and the page either has its record or is still pending.
// Committing the entry again has the same result as a single commit.
func TestKilledInTheMiddleOfACommit(t *testing.T) {
	long(t)
	ctx := t.Context()
	large := entry(1)
	large.Text = store.Pack(make([]byte, 100))
	large.Hash = large.Record.ID
	large.Links = links(7_000)
	for stop := 1; ; stop++ {
		s := openTest(t, t.TempDir())
		if _, err := s.Discover(ctx, []frontier.Item{{URL: large.Record.URL}}); err != nil {
			t.Fatal(err)
		}
		flushes := 0
		s.beforeFlush = func() error {
			if flushes++; flushes == stop {
				return errKilled
			}
			return nil
		}
		err := commitError(t, s, large)
		if err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		finished := err == nil
		if !finished {
			if err := commitError(t, s, entry(2)); !errors.Is(err, errKilled) {
				t.Errorf("a store that could not write goes on: %v", err)
			}
		}

		again := killed(t, s)
		state, err := again.State(ctx, large.Record.URL)
		if err != nil {
			t.Fatal(err)
		}
		r := recordOf(t, again, 1)
		if want := map[bool]frontier.State{false: frontier.Pending, true: frontier.Fetched}[r != nil]; state != want || (r != nil) != finished {
			t.Errorf("stopped at %d: record %v, state %d", stop, r != nil, state)
		}
		first := s.visible.Load()
		commit(t, again, large)
		checkCounts(t, again, frontier.Counts{Pending: 7_000, Fetched: 1})
		if place := placeOfText(t, again, large.Hash); place == 0 || finished && place != first {
			t.Errorf("stopped at %d: the text is at place %d", stop, place)
		}
		tally, err := again.Tally(ctx)
		if err != nil || tally.Unique != 1 {
			t.Errorf("stopped at %d: tally %+v, %v", stop, tally, err)
		}
		if finished {
			if stop < 4 {
				t.Errorf("the commit took %d transactions, too few to test anything", stop-1)
			}
			return
		}
	}
}

// takeAll claims the one host that is due and takes up to n of its URLs.
func takeAll(t *testing.T, s *Store, n int) []frontier.Item {
	t.Helper()
	g, err := s.Claim(t.Context(), "me", 1, time.Hour)
	if err != nil || len(g.Hosts) != 1 {
		t.Fatalf("Claim = %+v, %v", g, err)
	}
	items, err := s.Take(t.Context(), g.Hosts[0].Claim, n)
	if err != nil {
		t.Fatal(err)
	}
	return items
}

var errKilled = errors.New("killed")

func links(n int) []frontier.Item {
	var list []frontier.Item
	for i := range n {
		list = append(list, frontier.Item{URL: fmt.Sprintf("https://h%d.example/%d", i%10, i), Depth: 1})
	}
	return list
}

// checkCounts compares the counters with the counts of a scan of the store.
func checkCounts(t *testing.T, s *Store, want frontier.Counts) {
	t.Helper()
	got, err := s.Counts(t.Context())
	if err != nil || got != want {
		t.Errorf("Counts = %+v, %v; want %+v", got, err, want)
	}
	var scanned frontier.PerState
	err = s.scan(t.Context(), []byte{keyURL}, func(item *badgerdb.Item) error {
		return item.Value(func(value []byte) error {
			var u known
			err := u.decode(value)
			scanned[u.state]++
			return err
		})
	})
	if err != nil || scanned != s.counters.URLs {
		t.Errorf("a scan counts %v, %v; the counters say %v", scanned, err, s.counters.URLs)
	}
	var queued int64
	err = s.scan(t.Context(), []byte{keyQueue}, func(*badgerdb.Item) error { queued++; return nil })
	if err != nil || queued != want.Pending {
		t.Errorf("%d URLs are queued, %v; want %d", queued, err, want.Pending)
	}
}
