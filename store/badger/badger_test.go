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
	"skink/store"
	"skink/store/badger/postings"
	"skink/store/storetest"
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

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return openTest(t, t.TempDir()) })
}

// A temporary store keeps the same promises until it is closed.
func TestTemporaryStore(t *testing.T) {
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
		place, _, err = s.posted(t.Context(), txn, h, func(value []byte) (*store.Record, error) {
			if !bytes.HasPrefix(value, h[:]) {
				return nil, nil
			}
			return decodeRecord(value)
		})
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

// The largest named value is the evidence of package learn about a hostile host: random characters
// of a URL, which zstd does not compress. A value that the store would lose is an error.
func TestLargestMeta(t *testing.T) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	r := rand.New(rand.NewPCG(1, 2))
	value := make([]byte, 2*partSize)
	for i := range value {
		value[i] = letters[r.IntN(len(letters))]
	}
	dir := filepath.Join(t.TempDir(), "store")
	s, err := Open(dir, Options{Create: true, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetMeta(t.Context(), "larger", value); err == nil {
		t.Error("a value larger than badger's threshold is accepted")
	}
	value = value[:2*partSize-1000]
	for range 3 {
		if err := s.SetMeta(t.Context(), "large", value); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := s.Meta(t.Context(), "large"); err != nil || !bytes.Equal(got, value) {
		t.Errorf("%d bytes, error %v; want the %d bytes that were set", len(got), err, len(value))
	}
}
