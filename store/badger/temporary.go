package badger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/store"
)

// # Texts of a temporary store
//
// Badger writes each value at least three times: into its log, into the memtable, and into a table.
// These copies protect the data, which a temporary store does not need. So its texts are stored one
// after another in a single file. The value of a t key is the text's offset in the file and its
// length, in 8 bytes each.

type textFile struct {
	file *os.File
	size int64  // number of bytes in file and next; guarded by Store.mu
	next []byte // texts to write before the transaction is committed; guarded by Store.mu
}

func newTextFile(dir string) (*textFile, error) {
	f, err := os.Create(filepath.Join(dir, "texts"))
	return &textFile{file: f}, err
}

// add appends a text and returns the value for its t key.
func (t *textFile) add(text []byte) (value []byte) {
	value = binary.BigEndian.AppendUint64(value, uint64(t.size))
	value = binary.BigEndian.AppendUint64(value, uint64(len(text)))
	t.next = append(t.next, text...)
	t.size += int64(len(text))
	return value
}

func (t *textFile) flush() error {
	_, err := t.file.WriteAt(t.next, t.size-int64(len(t.next)))
	t.next = t.next[:0]
	return err
}

// remove closes and deletes the file. The system takes some time to delete a large file, so the
// store deletes it while badger closes its own files.
func (t *textFile) remove() error { return errors.Join(t.file.Close(), os.Remove(t.file.Name())) }

// read returns the text for which add returned value.
func (t *textFile) read(value []byte) ([]byte, error) {
	if len(value) != 16 {
		return nil, store.ErrCorrupt
	}
	text := make([]byte, binary.BigEndian.Uint64(value[8:]))
	if _, err := t.file.ReadAt(text, int64(binary.BigEndian.Uint64(value))); err != nil {
		return nil, fmt.Errorf("read the text file: %w", err)
	}
	return text, nil
}

func (s *Store) packedText(txn *badgerdb.Txn, num uint64) (packed []byte, found bool, err error) {
	packed, found, err = packedParts(txn, keyText, num)
	if err == nil && found && s.texts != nil {
		packed, err = s.texts.read(packed)
	}
	return packed, found, err
}
