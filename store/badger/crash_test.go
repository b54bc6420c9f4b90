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

// killed copies the folder of an open store and opens the copy, which is what
// the next process finds when this one is killed.
func killed(t *testing.T, s *Store) *Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	copyDir(t, s.dir, dir)
	return openTest(t, dir)
}

func TestKilled(t *testing.T) {
	ctx := t.Context()
	s := openTest(t, t.TempDir())
	var last uint64
	var err error
	for range 3 {
		if last, err = s.Next(ctx); err != nil { // given, and not committed
			t.Fatal(err)
		}
	}
	urls := []frontier.Item{{URL: "https://example.com/1"}, {URL: "https://example.com/2"}, {URL: "https://example.com/3"}}
	if _, err := s.Discover(ctx, urls); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lease(ctx, "example.com", 2, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(ctx, []*store.Entry{entry(1)}); err != nil {
		t.Fatal(err)
	}

	again := killed(t, s)
	num, err := again.Next(ctx)
	if err != nil || num <= last || num > last+numberBlock {
		t.Errorf("Next = %d, %v; want one after %d, and not far", num, err, last)
	}
	if r, err := again.RecordAt(ctx, 1); err != nil || r == nil {
		t.Errorf("the committed record: %v, %v", r, err)
	}
	counts, err := again.Counts(ctx)
	if want := (frontier.Counts{Pending: 2, Fetched: 1}); err != nil || counts != want {
		t.Errorf("Counts = %+v, %v; want %+v", counts, err, want)
	}
	items, err := again.Lease(ctx, "example.com", 9, time.Hour)
	if err != nil || len(items) != 2 || items[0] != urls[1] || items[1] != urls[2] {
		t.Errorf("Lease = %v, %v; want the leased one again and the other", items, err)
	}
}

// A large entry takes several transactions. Whichever is the last before the
// end, the store is whole, the page is still to be fetched or has its record,
// and committing it again gives what one commit would have given.
func TestKilledInTheMiddleOfACommit(t *testing.T) {
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
		err := s.Commit(ctx, []*store.Entry{large})
		if err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		finished := err == nil
		if !finished {
			if err := s.Commit(ctx, []*store.Entry{entry(2)}); !errors.Is(err, errKilled) {
				t.Errorf("a store that could not write goes on: %v", err)
			}
		}

		again := killed(t, s)
		state, err := again.State(ctx, large.Record.URL)
		if err != nil {
			t.Fatal(err)
		}
		r, err := again.Record(ctx, large.Record.ID)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]frontier.State{false: frontier.Pending, true: frontier.Fetched}[r != nil]; state != want || (r != nil) != finished {
			t.Errorf("stopped at %d: record %v, state %d", stop, r != nil, state)
		}
		second := *large
		second.Record.Num = 7
		if err := again.Commit(ctx, []*store.Entry{&second}); err != nil {
			t.Fatal(err)
		}
		checkCounts(t, again, frontier.Counts{Pending: 7_000, Fetched: 1})
		num, _, err := again.ByHash(ctx, large.Hash)
		if want := map[bool]uint64{true: 1, false: 7}[finished]; err != nil || num != want {
			t.Errorf("stopped at %d: ByHash = %d, %v; want %d", stop, num, err, want)
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

var errKilled = errors.New("killed")

func links(n int) []frontier.Item {
	var list []frontier.Item
	for i := range n {
		list = append(list, frontier.Item{URL: fmt.Sprintf("https://h%d.example/%d", i%10, i), Depth: 1})
	}
	return list
}

// checkCounts compares the counters with what a scan of the store says.
func checkCounts(t *testing.T, s *Store, want frontier.Counts) {
	t.Helper()
	got, err := s.Counts(t.Context())
	if err != nil || got != want {
		t.Errorf("Counts = %+v, %v; want %+v", got, err, want)
	}
	var scanned frontier.PerState
	err = s.scan(t.Context(), []byte{keyURL}, nil, func(item *badgerdb.Item) error {
		return item.Value(func(value []byte) error {
			u, err := decodeKnown(value)
			scanned[u.state]++
			return err
		})
	})
	if err != nil || scanned != s.counters.URLs {
		t.Errorf("a scan counts %v, %v; the counters say %v", scanned, err, s.counters.URLs)
	}
	var queued int64
	err = s.scan(t.Context(), []byte{keyQueue}, nil, func(*badgerdb.Item) error { queued++; return nil })
	if err != nil || queued != want.Pending {
		t.Errorf("%d URLs are queued, %v; want %d", queued, err, want.Pending)
	}
}
