package badger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/dedup"
	"skink/store"
)

// Record returns what is known of a URL.
func (s *Store) Record(ctx context.Context, id dedup.Hash) (*store.Record, error) {
	var r *store.Record
	err := s.view(ctx, func(txn *badgerdb.Txn) error {
		u, err := s.known(txn, id)
		if err != nil || u.num == 0 {
			return err
		}
		r, err = recordAt(txn, u.num)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", id, err)
	}
	return r, nil
}

// RecordAt returns the record of a number.
func (s *Store) RecordAt(ctx context.Context, num uint64) (*store.Record, error) {
	var r *store.Record
	err := s.view(ctx, func(txn *badgerdb.Txn) (err error) {
		r, err = recordAt(txn, num)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("record %d: %w", num, err)
	}
	return r, nil
}

func recordAt(txn *badgerdb.Txn, num uint64) (*store.Record, error) {
	var r *store.Record
	_, err := get(txn, pageKey(keyRecord, num), func(value []byte) (err error) {
		r, err = decodeRecord(value)
		return err
	})
	return r, err
}

func decodeRecord(value []byte) (*store.Record, error) {
	r := new(store.Record)
	if len(value) < len(dedup.Hash{}) {
		return nil, store.ErrCorrupt
	}
	if err := json.Unmarshal(value[len(dedup.Hash{}):], r); err != nil {
		return nil, fmt.Errorf("%w: %v", store.ErrCorrupt, err)
	}
	return r, nil
}

// errStop ends a scan whose caller has seen enough.
var errStop = errors.New("stop")

// Records yields the records as they were when it began. If it reads them all
// and they are fewer than were counted, a table is damaged: badger passes over
// what it cannot read, and here it is noticed.
func (s *Store) Records(ctx context.Context, from uint64) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		s.mu.Lock()
		want := s.counters.Records
		s.mu.Unlock()
		var got int64
		err := s.scanRecords(ctx, from, func(item *badgerdb.Item) error {
			var r *store.Record
			err := item.Value(func(value []byte) (err error) {
				r, err = decodeRecord(value)
				return err
			})
			if err != nil {
				return fmt.Errorf("record %d: %w", lastNum(item.Key()), err)
			}
			got++
			if !yield(r, nil) {
				return errStop
			}
			return nil
		})
		if err == nil && from <= 1 && got < want {
			err = fmt.Errorf("store %s: %w: %d of %d records can be read", s.name, store.ErrCorrupt, got, want)
		}
		if err != nil && err != errStop {
			yield(nil, err)
		}
	}
}

// Sketch returns a page's minima.
func (s *Store) Sketch(ctx context.Context, num uint64) (sketch dedup.Sketch, found bool, err error) {
	err = s.view(ctx, func(txn *badgerdb.Txn) error {
		found, err = get(txn, pageKey(keySketch, num), func(value []byte) error {
			sketch, err = decodeSketch(value)
			return err
		})
		return err
	})
	if err != nil {
		return sketch, false, fmt.Errorf("sketch of page %d: %w", num, err)
	}
	return sketch, found, nil
}

// Text returns a page's main text.
func (s *Store) Text(ctx context.Context, num uint64) (string, bool, error) {
	text, found, err := s.parts(ctx, keyText, num)
	if err != nil {
		return "", false, fmt.Errorf("text of page %d: %w", num, err)
	}
	return string(text), found, nil
}

// Raw returns the exchange a page came from.
func (s *Store) Raw(ctx context.Context, num uint64) (*store.Raw, error) {
	b, found, err := s.parts(ctx, keyRaw, num)
	if err != nil {
		return nil, fmt.Errorf("exchange of page %d: %w", num, err)
	}
	if !found {
		return nil, nil
	}
	raw, err := decodeRaw(b)
	if err != nil {
		return nil, fmt.Errorf("exchange of page %d: %w", num, err)
	}
	return raw, nil
}

// parts returns what was written in parts, unpacked.
func (s *Store) parts(ctx context.Context, letter byte, num uint64) (b []byte, found bool, err error) {
	var packed []byte
	err = s.view(ctx, func(txn *badgerdb.Txn) error {
		for part := 0; ; part++ {
			n := 0
			ok, err := get(txn, partKey(letter, num, part), func(value []byte) error {
				n = len(value)
				packed = append(packed, value...)
				return nil
			})
			if err != nil || !ok {
				return err
			}
			found = true
			if n < partSize {
				return nil
			}
		}
	})
	if err != nil || !found {
		return nil, false, err
	}
	b, err = store.Unpack(packed)
	return b, true, err
}

// ByHash returns the lowest number with a text hash.
func (s *Store) ByHash(ctx context.Context, h dedup.Hash) (num uint64, found bool, err error) {
	nums, _, err := s.index.find(ctx, filterKey(h), hashKind, 1, nil)
	if err == nil && len(nums) > 0 { // nearly always there is none, and badger need not be asked
		err = s.view(ctx, func(txn *badgerdb.Txn) error {
			num, found, err = s.byHash(ctx, txn, h)
			return err
		})
	}
	if err != nil {
		return 0, false, fmt.Errorf("page of text %s: %w", h, err)
	}
	return num, found, nil
}

func (s *Store) byHash(ctx context.Context, txn *badgerdb.Txn, h dedup.Hash) (num uint64, found bool, err error) {
	num, err = s.posted(ctx, txn, h, func(record []byte) (bool, error) { return bytes.HasPrefix(record, h[:]), nil })
	return num, num != 0, err
}

// byID returns the number of a page that is posted under its id, or 0.
func (s *Store) byID(txn *badgerdb.Txn, id dedup.Hash) (uint64, error) {
	return s.posted(context.Background(), txn, id, func(record []byte) (bool, error) {
		r, err := decodeRecord(record)
		return err == nil && r.ID == id, err
	})
}

// posted returns the lowest number posted under the first half of h whose record
// says that it is the one, or 0. Hardly ever do two share that half, so few are
// asked for at first.
func (s *Store) posted(ctx context.Context, txn *badgerdb.Txn, h dedup.Hash, isIt func(record []byte) (bool, error)) (num uint64, err error) {
	var nums []uint64
	for limit, more := 4, true; more; limit *= 16 {
		seen := len(nums)
		if nums, more, err = s.index.find(ctx, filterKey(h), hashKind, limit, nums[:0]); err != nil {
			return 0, err
		}
		for _, num = range nums[min(seen, len(nums)):] {
			found := false
			_, err := get(txn, pageKey(keyRecord, num), func(value []byte) error {
				found, err = isIt(value)
				return err
			})
			if err != nil {
				return 0, err
			}
			if found {
				return num, nil
			}
		}
	}
	return 0, nil
}

// Leaders appends the numbers posted under key to dst.
func (s *Store) Leaders(ctx context.Context, key uint64, limit int, dst []uint64) (nums []uint64, more bool, err error) {
	nums, more, err = s.index.find(ctx, key, bandKind, limit, dst)
	if err != nil {
		return dst, false, fmt.Errorf("postings of %016x: %w", key, err)
	}
	return nums, more, nil
}

// Meta returns a named value.
func (s *Store) Meta(ctx context.Context, name string) (value []byte, err error) {
	err = s.view(ctx, func(txn *badgerdb.Txn) error {
		_, err := get(txn, key1(keyMeta, name), func(b []byte) error {
			value = append([]byte{}, b...) // never nil: an empty value was set
			return nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return value, nil
}

// SetMeta sets a named value.
func (s *Store) SetMeta(ctx context.Context, name string, value []byte) error {
	if err := s.disk.check(); err != nil {
		return err
	}
	return s.write(ctx, func(b *batch) error {
		return errors.Join(b.set(key1(keyMeta, name), bytes.Clone(value)), b.set(key1(keyMetaCopy, name), bytes.Clone(value)))
	})
}
