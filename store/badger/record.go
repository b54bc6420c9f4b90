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

// packedRecordAt returns the packed form of the record of visit num with its update. value is the
// stored record.
func packedRecordAt(txn *badgerdb.Txn, num uint64, value []byte) (packed []byte, err error) {
	if packed, err = packedRecord(value); err != nil {
		return nil, err
	}
	_, err = get(txn, numKey(keyUpdate, num), func(update []byte) error {
		packed = store.Updated(packed, update)
		return nil
	})
	return packed, err
}

// stored is a record as it is stored. It is not changed.
type stored struct {
	written *store.Record // as the visit wrote it
	record  *store.Record // with its update
}

// A visitReader reads records and updates. In a transaction that writes, it may read only one visit.
type visitReader struct{ records, updates, obsolete cursor }

func readVisits(txn *badgerdb.Txn) *visitReader {
	return &visitReader{
		records:  cursor{txn: txn, key: func(num uint64) []byte { return pageKey(keyRecord, num) }},
		updates:  cursor{txn: txn, key: func(num uint64) []byte { return numKey(keyUpdate, num) }},
		obsolete: cursor{txn: txn, key: func(num uint64) []byte { return numKey(keyObsolete, num) }},
	}
}

// exists is passed to functions that read a value to find out whether it exists.
func exists([]byte) error { return nil }

func (r *visitReader) close() {
	r.records.close()
	r.updates.close()
	r.obsolete.close()
}

// stored returns the record of visit num. It is empty if there is none.
func (r *visitReader) stored(num uint64) (s stored, err error) {
	_, err = r.records.get(num, func(value []byte) (err error) {
		s.written, err = decodeRecord(value)
		return err
	})
	if err != nil || s.written == nil {
		return s, err
	}
	record := *s.written
	s.record = &record
	_, err = r.updates.get(num, record.Update)
	return s, err
}

// A cursor reads values by visit number. If a number is close to the one before, a step to the next key
// finds its value, which costs less than a search.
type cursor struct {
	txn  *badgerdb.Txn
	key  func(num uint64) []byte
	last uint64             // number that was read last; 0 means none
	it   *badgerdb.Iterator // at the first key from the key "from" on; nil until it is needed
	from []byte
}

const cursorSteps = 8

// get calls fn with the value of a number, and reports whether it exists. The value is valid until fn
// returns.
func (c *cursor) get(num uint64, fn func(value []byte) error) (bool, error) {
	key, far := c.key(num), c.last == 0 || num < c.last || num-c.last > cursorSteps
	if c.last = num; far {
		return get(c.txn, key, fn)
	}
	c.moveTo(key)
	if !c.it.Valid() || !bytes.Equal(c.it.Item().Key(), key) {
		return false, nil
	}
	return true, c.it.Item().Value(fn)
}

func (c *cursor) moveTo(key []byte) {
	if c.it == nil {
		c.it = c.txn.NewIterator(badgerdb.IteratorOptions{Prefix: key[:1]})
	}
	before := func() bool { return c.it.Valid() && bytes.Compare(c.it.Item().Key(), key) < 0 }
	if c.from == nil || bytes.Compare(key, c.from) < 0 {
		c.it.Seek(key)
	}
	for steps := 0; steps < cursorSteps && before(); steps++ {
		c.it.Next()
	}
	if before() {
		c.it.Seek(key)
	}
	c.from = key
}

func (c *cursor) close() {
	if c.it != nil {
		c.it.Close()
	}
}
