package badger

import (
	"testing"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/store"
	"skink/store/storetest"
)

// openTest opens a store and closes it at the end of the test.
func openTest(t testing.TB, dir string) *Store {
	t.Helper()
	// A small memtable opens faster, and more operations have to be cut in two.
	s, err := Open(dir, Options{Create: true, Reserve: -1, tune: func(o *badgerdb.Options) { o.MemTableSize = 4 << 20 }})
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

func TestDurableStore(t *testing.T) {
	storetest.RunDurable(t, func(t *testing.T, dir string) store.Store { return openTest(t, dir) })
}
