package badger

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/base/field"
	"skink/store"
	"skink/store/badger/postings"
)

// A journalEntry holds the postings that one transaction adds to the index. Entries are numbered
// from 1 without gaps. The value of a j key has three fields for each visit:
//
//	the number of the visit times 2, plus the kind of the keys (varint)
//	the number of keys (varint)
//	the keys, 8 bytes each, little-endian
type journalEntry struct {
	posted []postings.Posted
	keys   []uint64 // backing array for the Keys of all elements of posted
	size   int      // upper bound on the size of the encoded entry, in bytes
}

// entryBound is the maximum size of a journal entry in bytes. A transaction is committed when its
// entry reaches this size, because a larger value would not be kept in badger's tables; see
// [partSize].
const entryBound = partSize

func (e *journalEntry) post(num uint64, kind postings.Kind, key uint64) {
	e.begin(num, kind)
	e.add(key)
}

// begin adds visit num to the entry, without keys. Call add for each key.
func (e *journalEntry) begin(num uint64, kind postings.Kind) {
	e.posted = append(e.posted, postings.Posted{Num: postings.WithKind(num, kind)})
	e.size += postedSize(0)
}

// add adds a key to the visit most recently passed to begin.
func (e *journalEntry) add(key uint64) {
	e.keys = append(e.keys, key)
	p := &e.posted[len(e.posted)-1]
	n := len(p.Keys) + 1
	p.Keys = e.keys[len(e.keys)-n:]
	e.size += 8
}

// postedSize returns the maximum number of bytes that a visit with the given number of keys takes
// in an encoded journal entry.
func postedSize(keys int) int { return 2*binary.MaxVarintLen64 + 8*keys }

func (e *journalEntry) empty() bool { return len(e.posted) == 0 }

func (e *journalEntry) reset() {
	*e = journalEntry{posted: e.posted[:0], keys: e.keys[:0]}
}

func (e *journalEntry) encode() []byte {
	b := make([]byte, 0, e.size)
	for _, p := range e.posted {
		b = binary.AppendUvarint(b, p.Num)
		b = binary.AppendUvarint(b, uint64(len(p.Keys)))
		for _, key := range p.Keys {
			b = binary.LittleEndian.AppendUint64(b, key)
		}
	}
	return b
}

func decodeEntry(b []byte) (*journalEntry, error) {
	d := field.Reader{Rest: b}
	e := &journalEntry{}
	for len(d.Rest) > 0 {
		p := postings.Posted{Num: d.Varint()}
		keys := d.Bytes(8 * min(d.Varint(), math.MaxUint64/8))
		p.Keys = make([]uint64, len(keys)/8)
		for i := range p.Keys {
			p.Keys[i] = binary.LittleEndian.Uint64(keys[8*i:])
		}
		e.posted = append(e.posted, p)
	}
	return e, whole(d)
}

// replay calls fn with each journal entry whose number is greater than after, in ascending order.
// It returns the number of the last entry, or after if there is none.
func (s *Store) replay(after uint64, fn func(seq uint64, e *journalEntry) error) (last uint64, err error) {
	last = after
	err = s.view(context.Background(), func(txn *badgerdb.Txn) error {
		return scanJournal(context.Background(), txn, after+1, func(seq uint64, e *journalEntry) error {
			if seq != last+1 {
				return fmt.Errorf("%w: entry %d of the journal is missing", store.ErrCorrupt, last+1)
			}
			last = seq
			return fn(seq, e)
		})
	})
	return last, err
}
