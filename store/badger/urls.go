package badger

import (
	"context"
	"encoding/binary"
	"sync"
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
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// start begins filling the filter from the store. The store may add URLs at the same time.
func (f *urlFilter) start(s *Store) {
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	f.ended.Go(func() {
		err := s.scan(ctx, []byte{keyURL}, func(item *badgerdb.Item) error {
			f.keys.Add(binary.BigEndian.Uint64(item.Key()[1:])) // the same bytes as in filterKey
			return nil
		})
		f.filled.Store(err == nil) // after an error the store still works, but each lookup reads the disk
	})
}

// stop stops filling the filter. It must be called before the database is closed.
func (f *urlFilter) stop() {
	if f.cancel != nil {
		f.cancel()
		f.ended.Wait()
		f.cancel = nil
	}
}

func (f *urlFilter) add(id dedup.Hash) { f.keys.Add(filterKey(id)) }

// mayHave reports whether the URL with the given id may be known. If it returns false, the URL is
// certainly unknown.
func (f *urlFilter) mayHave(id dedup.Hash) bool {
	return !f.filled.Load() || f.keys.Has(filterKey(id))
}
