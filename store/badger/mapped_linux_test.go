package badger

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/store/disk"
)

// The memory of tables that were written and read is returned to the system, and their values can
// still be read. This test fails if a new version of badger renames the fields that the store reads
// by reflection.
func TestMapped(t *testing.T) {
	s := openTest(t, t.TempDir())
	s.end() // otherwise keepSmall may return the memory first
	s.background.Wait()
	value := bytes.Repeat([]byte("0123456789abcdef"), 1<<12)
	const values = 800 // large enough for a table of 50 MB
	key := func(i int) []byte { return fmt.Appendf([]byte{0xff}, "%04d", i) }
	for i := range values {
		if err := s.db.Update(func(txn *badgerdb.Txn) error { return txn.Set(key(i), value) }); err != nil {
			t.Fatal(err)
		}
	}
	read := func() {
		for i := range values {
			err := s.db.View(func(txn *badgerdb.Txn) error {
				_, err := get(txn, key(i), func(got []byte) error {
					if !bytes.Equal(got, value) {
						return errors.New("another value")
					}
					return nil
				})
				return err
			})
			if err != nil {
				t.Fatalf("value %d: %v", i, err)
			}
		}
	}
	read()
	before, ok := disk.Resident()
	if !ok {
		t.Skip("the system does not say what is resident")
	}
	giveTablesBack(s.db)
	if after, _ := disk.Resident(); before-after < 20<<20 {
		t.Errorf("%d MB of files were resident, and still %d", before>>20, after>>20)
	}
	read()
}
