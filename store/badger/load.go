package badger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"skink/dedup"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/frontier"
	"skink/store"
	"skink/store/badger/postings"
)

// load reads the data that a store keeps in memory: the counters, the index with the latest postings,
// and, unless the store is open for reading, the frontier.
func (s *Store) load() error {
	found := false
	err := s.db.View(func(txn *badgerdb.Txn) (err error) {
		found, err = get(txn, []byte{keyCounters}, s.counters.decode)
		return err
	})
	if err != nil {
		return err
	}
	s.last = s.counters.Numbers
	s.visible.Store(s.last)
	s.discovered.Store(s.counters.URLs != frontier.PerState{})
	err = s.scan(context.Background(), []byte{keyGone}, func(item *badgerdb.Item) error {
		s.index.Forget([]uint64{lastNum(item.Key())})
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.loadIndex(); err != nil {
		return err
	}
	s.index.KnownSince(s.last)
	if s.reading == nil {
		if err := s.loadFrontier(); err != nil {
			return err
		}
	}
	if found {
		return nil
	}
	if len(s.queue.hosts) > 0 {
		return fmt.Errorf("%w: the counters are missing", store.ErrCorrupt)
	}
	if s.reading != nil {
		return nil
	}
	return s.write(context.Background(), func(b *batch) { b.counters() }) // a new store
}

// loadIndex opens the files named in the manifest, and adds the visits that are not in these files. If
// one of them is damaged, the index is rebuilt from all visits.
func (s *Store) loadIndex() error {
	m, err := s.readManifestKey()
	if err != nil {
		return err
	}
	x := s.index
	if err := x.Open(m); err != nil {
		if !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		m.Segments, m.Last = nil, 0
	}
	if err := x.Start(m); err != nil {
		return err
	}
	return s.in(context.Background(), func(r reader) error {
		sketches := readSketches(r.txn)
		defer sketches.close()
		return r.scanRecords(context.Background(), m.Last+1, func(v visitValue) error {
			list, err := v.postings(sketches)
			if err == nil {
				err = x.Post(list)
			}
			return err
		})
	})
}

func readSketches(txn *badgerdb.Txn) *cursor {
	return &cursor{txn: txn, key: func(num uint64) []byte { return pageKey(keySketch, num) }}
}

// postings returns the postings of a visit. The argument sketches reads s keys.
func (v *visitValue) postings(sketches *cursor) (list []postings.Posted, err error) {
	var x indexed
	if _, err = sketches.get(v.num, x.decode); err == nil && v.alone && x.id.IsZero() {
		var r *store.Record
		if r, err = decodeRecord(v.value); err == nil {
			x.id = r.ID
		}
	}
	if err != nil || len(v.value) < hashSize {
		return nil, cmp.Or(err, store.ErrCorrupt)
	}
	hash, found := dedup.Hash(v.value), []uint64{}
	if !hash.IsZero() {
		found = append(found, filterKey(hash))
	}
	if v.alone {
		found = append(found, filterKey(x.id))
	}
	return []postings.Posted{{Num: v.num, Kind: postings.Band, Keys: x.keys}, {Num: v.num, Kind: postings.Hash, Keys: found}}, nil
}

// loadFrontier reads the positions of all pending URLs, which takes about 0.3 s for each million. A
// store that is open for reading needs them only to list the hosts.
func (s *Store) loadFrontier() error {
	if err := s.loadQueue(); err != nil {
		return err
	}
	if err := s.loadAllRuns(); err != nil {
		return err
	}
	if err := s.loadHosts(); err != nil {
		return err
	}
	for _, h := range s.queue.hosts {
		s.queue.offer(h)
	}
	s.queued = true
	return nil
}

func (s *Store) loadQueue() error {
	for _, letter := range []byte{keyQueue, keyLater} {
		err := s.scan(context.Background(), []byte{letter}, func(item *badgerdb.Item) error {
			host, p, ok := splitQueueKey(item.Key())
			if !ok {
				return fmt.Errorf("%w: invalid key %q", store.ErrCorrupt, item.Key())
			}
			if item.UserMeta() == runMeta {
				s.queue.seq = max(s.queue.seq, p.seq)
				return nil
			}
			s.queue.load(string(host), p)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// loadAllRuns reads the runs. It reads them again if they have more URLs than the counters: in some of
// them, the record of a URL has been replaced since its revisit.
func (s *Store) loadAllRuns() error {
	if _, err := s.loadRuns(false); err != nil {
		return err
	}
	pending := int64(0)
	for _, h := range s.queue.hosts {
		pending += int64(h.pending)
	}
	if pending <= s.counters.URLs[frontier.Pending] {
		return nil
	}
	s.queue = newQueue()
	if err := s.loadQueue(); err != nil {
		return err
	}
	empty, err := s.loadRuns(true)
	if err != nil || s.reading != nil {
		return err
	}
	return s.db.Update(func(txn *badgerdb.Txn) (err error) {
		for _, key := range empty {
			err = errors.Join(err, txn.Delete(key))
		}
		return err
	})
}

// readManifestKey returns the manifest of the index, which is empty in a new store.
func (s *Store) readManifestKey() (postings.Manifest, error) {
	m := postings.Manifest{Next: 1}
	err := s.db.View(func(txn *badgerdb.Txn) error {
		_, err := get(txn, []byte{keyIndex}, func(value []byte) (err error) {
			m, err = store.UnpackStruct[postings.Manifest](value)
			return err
		})
		return err
	})
	return m, err
}

// SaveManifest writes the manifest of the index. Only the index's own goroutine calls it, so it
// needs no lock.
func (s *Store) SaveManifest(m postings.Manifest) error {
	return s.db.Update(func(txn *badgerdb.Txn) error { return txn.Set([]byte{keyIndex}, store.AppendStruct(nil, &m)) })
}

// mayGrow returns an error if the store must not write, because the disk is nearly full or the
// process could not open the files that the store may add soon.
func (s *Store) mayGrow() error { return cmp.Or(s.space.Check(), s.files.CheckGrowth()) }

func (s *Store) RoomFor(bytes int64) bool { return s.space.HasRoom(bytes) }

// loadHosts reads the stored politeness state of the hosts in the queue, such as when the next
// request to a host is allowed.
func (s *Store) loadHosts() error {
	return s.scan(context.Background(), []byte{keyHost}, func(item *badgerdb.Item) error {
		h := s.queue.hosts[string(item.Key()[1:])]
		if h == nil {
			return nil
		}
		return item.Value(decodeRest(&h.rest))
	})
}

func (s *Store) scan(ctx context.Context, prefix []byte, fn func(*badgerdb.Item) error) error {
	return s.view(ctx, func(txn *badgerdb.Txn) error { return scan(ctx, txn, prefix, fn) })
}

// scan calls fn with each item whose key begins with prefix, until fn returns an error. Values are
// read only on demand.
func scan(ctx context.Context, txn *badgerdb.Txn, prefix []byte, fn func(*badgerdb.Item) error) error {
	it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: prefix})
	defer it.Close()
	for it.Seek(prefix); it.Valid(); it.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(it.Item()); err != nil {
			return err
		}
	}
	return nil
}

// scanValues is like scan for the keys with the given letter, and reads their values. key and value
// are valid until fn returns.
func scanValues(ctx context.Context, txn *badgerdb.Txn, letter byte, fn func(key, value []byte) error) error {
	return scan(ctx, txn, []byte{letter}, func(item *badgerdb.Item) error {
		return item.Value(func(value []byte) error { return fn(item.Key(), value) })
	})
}

// Free returns the number of bytes of the store's file system that this process may still use, or 0
// if that is unknown.
func (s *Store) Free() int64 {
	free, _, err := s.space.Left()
	if err != nil {
		return 0
	}
	return free
}
