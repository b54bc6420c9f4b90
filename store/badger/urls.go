package badger

import (
	"context"
	"encoding/binary"
	"sync/atomic"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/store/badger/postings"
)

// A urlFilter proves in memory that a URL is unknown, so looking up a new URL need not read the
// disk. A goroutine fills it from the u keys, which takes 0.7 s per million keys. Until that is
// done, the filter cannot rule out any URL.
type urlFilter struct {
	keys   postings.Filter
	filled atomic.Bool
}

// fill fills the filter from the store. The store may add URLs at the same time.
func (f *urlFilter) fill(ctx context.Context, s *Store) {
	err := s.scan(ctx, []byte{keyURL}, func(item *badgerdb.Item) error {
		f.keys.Add(binary.BigEndian.Uint64(item.Key()[1:])) // the same bytes as in filterKey
		return nil
	})
	f.filled.Store(err == nil) // after an error the store still works, but each lookup reads the disk
}

func (f *urlFilter) add(id dedup.Hash) { f.keys.Add(filterKey(id)) }

// mayHave reports whether the URL with the given id may be known. If it returns false, the URL is
// certainly unknown.
func (f *urlFilter) mayHave(id dedup.Hash) bool {
	return !f.filled.Load() || f.keys.Has(filterKey(id))
}
