package badger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/store"
	"skink/store/disk"
)

// # Large named values
//
// A named value, such as the seeds of a crawl, may be too large for badger to keep in its tables.
// Such a value is cut into pieces of [partSize] bytes, each with its own key. The key of the name
// then holds a metaHead. The pieces of a new value are written under a different slot from those of
// the old one, and the head is written after them. So a process that is killed in between leaves
// the old value intact.
//
// Each key is written twice, under letters that are far apart, so that one damaged block does not
// destroy both copies. The newest copy counts. Values that are learned again if they are lost are written once:
// they are large, and change all the time.

// A metaHead says where the pieces of a large named value are. The zero value means that the value
// has no pieces. It is stored as [store.AppendStruct] writes it, so its first byte is 1.
type metaHead struct {
	Slot   byte // 1 or 2
	Pieces int
}

const largeMeta = 1 // first byte of a metaHead; a value from store.Pack begins with another byte

// headOf decodes a metaHead. It returns the zero value for a named value without pieces.
func headOf(value []byte) (metaHead, error) {
	if len(value) == 0 || value[0] != largeMeta {
		return metaHead{}, nil
	}
	return store.UnpackStruct[metaHead](value)
}

// copiesOf returns the letters of the keys under which a named value is written.
func copiesOf(name string) []byte {
	if strings.HasPrefix(name, store.Learned) {
		return []byte{keyMeta}
	}
	return []byte{keyMeta, keyMetaCopy}
}

func (h metaHead) key(letter byte, name string, piece int) []byte {
	key := append(key1(letter, name), 0, h.Slot)
	return binary.BigEndian.AppendUint16(key, uint16(piece))
}

// isPiece reports whether the name in a key is that of a piece.
func isPiece(name string) bool { return strings.Contains(name, "\x00") }

func meta(txn *badgerdb.Txn, name string) (value []byte, err error) {
	var h metaHead
	_, err = newest(txn, name, func(b []byte) error {
		if h, err = headOf(b); err == nil && h == (metaHead{}) {
			value, err = unpackMeta(b)
		}
		return err
	})
	if err != nil || h == (metaHead{}) {
		return value, err
	}
	var packed []byte
	for i := range h.Pieces {
		found, err := newest(txn, string(h.key(keyMeta, name, i)[1:]), func(b []byte) error {
			packed = append(packed, b...)
			return nil
		})
		if err == nil && !found {
			err = fmt.Errorf("%w: a piece of the value %q is missing", store.ErrCorrupt, name)
		}
		if err != nil {
			return nil, err
		}
	}
	return unpackMeta(packed)
}

// newest calls fn with the newest copy of the value of a name or piece, and reports whether there is
// one.
func newest(txn *badgerdb.Txn, name string, fn func(value []byte) error) (found bool, err error) {
	var item *badgerdb.Item
	for _, letter := range copiesOf(name) {
		copied, err := txn.Get(key1(letter, name))
		switch {
		case errors.Is(err, badgerdb.ErrKeyNotFound):
		case err != nil:
			return false, err
		case item == nil || copied.Version() > item.Version():
			item = copied
		}
	}
	if item == nil {
		return false, nil
	}
	return true, item.Value(fn)
}

// unpackMeta decodes a named value packed by [store.Pack]. It never returns nil without an error,
// because nil would mean that the value was never set.
func unpackMeta(packed []byte) ([]byte, error) {
	value, err := store.Unpack(packed)
	if value == nil {
		value = []byte{}
	}
	return value, err
}

func (b *batch) setMeta(name string, value []byte) {
	var old metaHead
	b.get(key1(keyMeta, name), func(value []byte) (err error) {
		old, err = headOf(value)
		return err
	})
	packed := store.Pack(value)
	if len(packed) > partSize {
		h := metaHead{Slot: 3 - max(old.Slot, 1), Pieces: (len(packed) + partSize - 1) / partSize}
		for _, letter := range copiesOf(name) {
			b.cut(packed, func(piece int) []byte { return h.key(letter, name, piece) })
		}
		packed = store.AppendStruct(nil, &h)
	}
	b.room(2, 2*len(packed))
	for _, letter := range copiesOf(name) {
		b.set(key1(letter, name), packed, 0)
	}
	for i := range old.Pieces {
		for _, letter := range copiesOf(name) {
			b.drop(old.key(letter, name, i))
		}
	}
}

// Cached values are files in the store's folder; see package disk. They are not in badger, because
// a read-only process must not write to badger.

// Kept returns the value cached under a name.
func (r reader) Kept(ctx context.Context, name string) ([]byte, error) {
	return disk.Cache(r.s.name).Kept(ctx, name)
}

// Keep caches a value in the store's folder, even if the store is read-only.
func (r reader) Keep(ctx context.Context, name string, value []byte) error {
	return disk.Cache(r.s.name).Keep(ctx, name, value)
}
