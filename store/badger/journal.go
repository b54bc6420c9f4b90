package badger

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/internal/field"
	"skink/store"
	"skink/store/badger/postings"
)

// A journalEntry holds the additions of one transaction to the part of the store that is in memory:
// URLs that were not known before, and postings. Entries are numbered from 1 without gaps. The
// value of a j key is as follows. Its numbers are varints unless their size is given.
//
//	how many URLs, then the first 8 bytes of each one's id
//	for each page: its number with the kind of what is posted as the low bit,
//	how many keys, then the keys, 8 bytes each, little-endian
type journalEntry struct {
	urls   []uint64
	posted []postings.Posted
	keys   []uint64 // the keys of posted, one after another
	size   int      // of the encoded entry, or a little more
}

// entryBound is the size of an entry at which its transaction ends. Values must stay small enough
// for the tables, see [partSize].
const entryBound = partSize

func (e *journalEntry) addURL(key uint64) {
	e.urls = append(e.urls, key)
	e.size += 8
}

// post posts a page under a key.
func (e *journalEntry) post(num uint64, kind postings.Kind, key uint64) {
	e.begin(num, kind)
	e.add(key)
}

// begin begins the postings of a page. add adds the keys to them.
func (e *journalEntry) begin(num uint64, kind postings.Kind) {
	e.posted = append(e.posted, postings.Posted{Num: postings.WithKind(num, kind)})
	e.size += postedSize(0)
}

// add posts the page of the last begin under a key.
func (e *journalEntry) add(key uint64) {
	e.keys = append(e.keys, key)
	p := &e.posted[len(e.posted)-1]
	n := len(p.Keys) + 1
	p.Keys = e.keys[len(e.keys)-n:]
	e.size += 8
}

// postedSize returns the most bytes that the postings of one page take.
func postedSize(keys int) int { return 2*binary.MaxVarintLen64 + 8*keys }

func (e *journalEntry) empty() bool { return len(e.urls) == 0 && len(e.posted) == 0 }

// reset empties an entry and keeps its memory for the next one.
func (e *journalEntry) reset() {
	*e = journalEntry{urls: e.urls[:0], posted: e.posted[:0], keys: e.keys[:0]}
}

func (e *journalEntry) encode() []byte {
	b := make([]byte, 0, binary.MaxVarintLen64+e.size)
	b = binary.AppendUvarint(b, uint64(len(e.urls)))
	b = appendWords(b, e.urls)
	for _, p := range e.posted {
		b = binary.AppendUvarint(b, p.Num)
		b = binary.AppendUvarint(b, uint64(len(p.Keys)))
		b = appendWords(b, p.Keys)
	}
	return b
}

func appendWords(b []byte, words []uint64) []byte {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

func decodeEntry(b []byte) (*journalEntry, error) {
	d := field.Reader{Rest: b}
	e := &journalEntry{urls: words(&d)}
	for len(d.Rest) > 0 {
		num := d.Varint()
		e.posted = append(e.posted, postings.Posted{Num: num, Keys: words(&d)})
	}
	return e, whole(d)
}

// words reads how many words there are, and then the words.
func words(d *field.Reader) []uint64 {
	b := d.Bytes(8 * min(d.Varint(), math.MaxUint64/8))
	words := make([]uint64, len(b)/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return words
}

// replay calls fn with all entries of the journal after the one numbered after, in order. It
// returns the number of the last entry.
func (s *Store) replay(after uint64, fn func(seq uint64, e *journalEntry) error) (last uint64, err error) {
	last = after
	err = s.scanJournal(context.Background(), after+1, func(item *badgerdb.Item) error {
		seq := lastNum(item.Key())
		if seq != last+1 {
			return fmt.Errorf("%w: entry %d of the journal is missing", store.ErrCorrupt, last+1)
		}
		last = seq
		return item.Value(func(value []byte) error {
			e, err := decodeEntry(value)
			if err != nil {
				return fmt.Errorf("entry %d of the journal: %w", seq, err)
			}
			return fn(seq, e)
		})
	})
	return last, err
}
