package badger

import (
	"bytes"
	"fmt"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"
	"github.com/klauspost/compress/s2"

	"skink/dedup"
	"skink/store"
)

// # Stored records
//
// The record of a visit is written once. A later visit that finds the page unchanged writes an update
// under a key of its own: the fields that differ; see [store.Record.AppendUpdate]. Updates are
// neighbors, so a crawl that finds ten million pages unchanged rewrites these keys, and no block of old
// visits.
//
// A record is stored as HASH16, the text hash under which copies find the page, or zero, and then
// the packed form of the [store.Record] as one S2 block. The blocks share a dictionary of values
// that many records contain, together with the bytes around these values. So the record of a page
// in a large manual takes 300 bytes.

// recordDict is the dictionary of the blocks: some packed records. A block can only be decoded with
// the dictionary that it was encoded with, so any change here requires a new layoutVersion.
var recordDict = s2.MakeDict(usualRecords(), nil)

func usualRecords() (b []byte) {
	at := time.Date(2026, 11, 25, 14, 34, 54, 0, time.UTC)
	html := store.Record{
		URL: "https://www.", Kind: store.Page, Status: 200, ContentType: "text/html; charset=utf-8", Lang: "en", Title: " ", H1: []string{" "}, Root: "article",
		Fetch: store.Fetch{FetchedAt: at, Took: 2, Depth: 4, Size: 20000, Words: 600}, Judged: store.Judged{Verdict: dedup.Unique},
	}
	plain, near, exact := html, html, html
	plain.ContentType, plain.Root, plain.CanonicalURL, plain.Description = "text/html", "descent", "https://www.", " "
	plain.SiteName, plain.PublishedAt, plain.ModifiedAt, plain.Modified = " ", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00+00:00", "Wed, 25 Nov 2026 10:00:00 GMT"
	near.Verdict, near.DuplicateOf, near.Found, near.Resemblance = dedup.Near, "https://www.", dedup.ByBands, .9
	exact.Verdict, exact.DuplicateOf, exact.Found, exact.Resemblance = dedup.Exact, "https://www.", dedup.ByText, 1
	for _, r := range []*store.Record{
		{URL: "https://www.", Kind: store.Error, Fetch: store.Fetch{Problem: "status 404", FetchedAt: at}, Status: 404, ContentType: "text/html; charset=utf-8"},
		{URL: "https://www.", Kind: store.Redirect, Fetch: store.Fetch{FetchedAt: at}, Status: 301, Location: "https://www.", Checked: true},
		&exact, &near, &plain, &html, // the most frequent last: S2 prefers near matches
	} {
		b = r.AppendPacked(b)
	}
	return b
}

// encodeRecord returns the stored form of a record. hash is the text hash under which copies find
// the page. A temporary store does not compress its records. The first byte after their hash is 0,
// and the S2 block of a record never begins with 0.
func (s *Store) encodeRecord(hash dedup.Hash, r *store.Record) []byte {
	if s.texts != nil {
		return r.AppendPacked(append(make([]byte, 0, 256), hash[:]...))
	}
	b := r.AppendPacked(make([]byte, 0, 512))
	value := make([]byte, hashSize+s2.MaxEncodedLen(len(b)))
	copy(value, hash[:])
	return value[:hashSize+len(recordDict.Encode(value[hashSize:], b))]
}

// packedRecord returns the packed form of a stored record.
func packedRecord(value []byte) ([]byte, error) {
	if len(value) <= hashSize {
		return nil, store.ErrCorrupt
	}
	if value[hashSize] == 0 {
		return bytes.Clone(value[hashSize:]), nil
	}
	b, err := recordDict.Decode(nil, value[hashSize:])
	if err != nil {
		return nil, fmt.Errorf("%w: record: %v", store.ErrCorrupt, err)
	}
	return b, nil
}

func decodeRecord(value []byte) (*store.Record, error) {
	b, err := packedRecord(value)
	if err != nil {
		return nil, err
	}
	return store.UnpackRecord(b)
}

// updateAt calls fn with the update of the record of visit num, which is empty if there is none. The
// update is valid until fn returns.
func updateAt(txn *badgerdb.Txn, num uint64, fn func(update []byte) error) error {
	found, err := get(txn, numKey(keyUpdate, num), fn)
	if err != nil || found {
		return err
	}
	return fn(nil)
}

// packedRecordAt returns the packed form of the record of visit num with its update. value is the
// stored record.
func packedRecordAt(txn *badgerdb.Txn, num uint64, value []byte) (packed []byte, err error) {
	if packed, err = packedRecord(value); err != nil {
		return nil, err
	}
	err = updateAt(txn, num, func(update []byte) error {
		packed = store.Updated(packed, update)
		return nil
	})
	return packed, err
}

// stored is a record as it is stored. It is not changed.
type stored struct {
	packed  []byte        // with its update
	written *store.Record // as the visit wrote it
	record  *store.Record // with its update
}

// storedAt returns the record of visit num. It is empty if there is none.
func storedAt(txn *badgerdb.Txn, num uint64) (r stored, err error) {
	_, err = get(txn, pageKey(keyRecord, num), func(value []byte) (err error) {
		if r.packed, err = packedRecord(value); err == nil {
			r.written, err = store.UnpackRecord(r.packed)
		}
		return err
	})
	if err != nil || r.written == nil {
		return r, err
	}
	record := *r.written
	r.record = &record
	err = updateAt(txn, num, func(update []byte) error {
		r.packed = store.Updated(r.packed, update)
		return record.Update(update)
	})
	return r, err
}

// updating returns two functions. update returns the update of the record of a visit in txn, or nil;
// it must be called with ascending visit numbers, and the result is valid until the next call. stop
// must be called at the end.
func updating(txn *badgerdb.Txn) (update func(num uint64) ([]byte, error), stop func()) {
	it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: []byte{keyUpdate}})
	begun := false
	var value []byte
	return func(num uint64) (_ []byte, err error) {
		if !begun {
			it.Seek(numKey(keyUpdate, num))
			begun = true
		}
		for it.Valid() && lastNum(it.Item().Key()) < num { // nearly all visits have an update, or none has
			it.Next()
		}
		if !it.Valid() || lastNum(it.Item().Key()) > num {
			return nil, nil
		}
		value, err = it.Item().ValueCopy(value)
		return value, err
	}, it.Close
}
