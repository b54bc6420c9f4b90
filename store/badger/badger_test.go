package badger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/store"
	"skink/store/badger/postings"
)

// openTest opens a store and closes it at the end of the test.
func openTest(t testing.TB, dir string) *Store {
	t.Helper()
	return openTestWith(t, dir, Options{})
}

// openTestWith is openTest with options.
func openTestWith(t testing.TB, dir string, opt Options) *Store {
	t.Helper()
	// A store with a small memtable opens faster, and splits more operations into several
	// transactions.
	opt.Create, opt.Reserve, opt.tune = true, -1, func(o *badgerdb.Options) { o.MemTableSize = 4 << 20 }
	s, err := Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// long skips a test that takes seconds of processor time unless SKINK_LONG is set, as .ci/run sets it.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("SKINK_LONG") == "" {
		t.Skip("a long test: SKINK_LONG=short runs it")
	}
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return openTest(t, t.TempDir()) })
}

// A temporary store keeps the same promises until it is closed.
func TestTemporaryStore(t *testing.T) {
	long(t)
	storetest.Run(t, func(t *testing.T) store.Store { return openTestWith(t, t.TempDir(), Options{Temporary: true}) })
}

// A temporary store is not synced, because syncing takes time, and it deletes its texts when it is
// closed.
func TestTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{Create: true, Temporary: true, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	s.syncFile = func(f *os.File) error { return fmt.Errorf("%s is synced", f.Name()) }
	if err := s.Sync(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "texts")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of texts after Close: %v, want none", err)
	}
}

func TestDurableStore(t *testing.T) {
	storetest.RunDurable(t, func(t *testing.T, dir string) store.Store { return openTest(t, dir) })
}

// commit writes entries and fails the test if one is stale.
func commit(t testing.TB, s *Store, entries ...*store.Entry) {
	t.Helper()
	outcomes, err := s.Commit(context.Background(), entries)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(outcomes, store.Stale) {
		t.Fatalf("outcomes are %d", outcomes)
	}
}

// commitError returns the error of a commit.
func commitError(t testing.TB, s *Store, entries ...*store.Entry) error {
	_, err := s.Commit(t.Context(), entries)
	return err
}

// placesUnder returns the numbers of the visits that are indexed under a key, at most limit of
// them.
func placesUnder(t testing.TB, s *Store, key uint64, limit int) (places []uint64, more bool) {
	t.Helper()
	places, more, err := s.index.Find(t.Context(), key, postings.Band, limit, nil)
	if err != nil {
		t.Fatal(err)
	}
	return places, more
}

// placeOfText returns the lowest number of a visit with a text, or 0 if there is none.
func placeOfText(t testing.TB, s *Store, h dedup.Hash) (place uint64) {
	t.Helper()
	err := s.view(t.Context(), func(txn *badgerdb.Txn) (err error) {
		place, err = s.posted(t.Context(), txn, h, func(value []byte) (bool, error) { return bytes.HasPrefix(value, h[:]), nil })
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return place
}

// recordOf returns the record of page n, or nil if there is none.
func recordOf(t testing.TB, s *Store, n int) *store.Record {
	t.Helper()
	pages, err := s.Pages(t.Context(), []dedup.Hash{entry(n).Record.ID}, store.WantRecord)
	if err != nil {
		t.Fatal(err)
	}
	if pages[0] == nil {
		return nil
	}
	return &pages[0].Record
}

// A named value may be larger than a value that badger keeps in its tables. It survives a reopening
// and a copy, a later value replaces it without leaving pieces, and a process that is killed while it
// writes leaves the old value.
func TestLargeMeta(t *testing.T) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(1, 2))
	dir := filepath.Join(t.TempDir(), "store")
	s := openAt(t, dir, true)
	var want []byte
	for _, size := range []int{100, partSize - 100, 2 * partSize, 3 << 20, 1 << 20, 3 << 20, 0, 5 * partSize} {
		want = randomBytes(r, size)
		if err := s.SetMeta(ctx, "large", want); err != nil {
			t.Fatalf("set %d bytes: %v", size, err)
		}
		pieces := 0
		err := s.scan(ctx, []byte{keyMeta}, func(item *badgerdb.Item) error {
			if isPiece(string(item.Key()[1:])) {
				pieces++
			}
			return nil
		})
		if most := size/partSize + 1; err != nil || pieces > most {
			t.Errorf("%d bytes: %d pieces, error %v; want at most %d", size, pieces, err, most)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openAt(t, dir, false)
		if got, err := s.Meta(ctx, "large"); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, error %v; want the %d bytes that were set", len(got), err, size)
		}
	}
	names := 0
	for p, err := range s.Dump(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if p.Value != nil {
			names++
			if p.Value.Name != "large" || !bytes.Equal(p.Value.Value, want) {
				t.Errorf("the dump has %q with %d bytes", p.Value.Name, len(p.Value.Value))
			}
		}
	}
	if names != 1 {
		t.Errorf("%d names in the dump, want 1", names)
	}

	flushes := 0
	s.beforeFlush = func() error {
		if flushes++; flushes == 3 {
			return errors.New("killed")
		}
		return nil
	}
	if err := s.SetMeta(ctx, "large", randomBytes(r, 3<<20)); err == nil {
		t.Error("the write was not stopped")
	}
	_ = s.Close()
	s = openAt(t, dir, false)
	defer s.Close()
	if got, err := s.Meta(ctx, "large"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("after a kill: %d bytes, error %v; want the old value", len(got), err)
	}
}

func openAt(t *testing.T, dir string, create bool) *Store {
	t.Helper()
	s, err := Open(dir, Options{Create: create, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
