package badger

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/s2"

	"skink/dedup"
	"skink/store"
)

// # Stored records
//
// A record is stored as HASH16, followed by the JSON of the [store.Record] as one S2 block. HASH is
// the text hash under which copies find the page, or zero. A record has about 600 bytes, half of
// which are names and values that nearly all records contain. So the blocks share a dictionary of
// such names and values. With this dictionary, a record of a large manual takes 300 bytes. Zstd
// with the same dictionary would need 240 bytes, but eight times as much CPU time, which is more
// than 1% of the CPU time of a crawl.

// recordWords is the dictionary of the blocks. S2 copies equal bytes from the dictionary, so each
// line lists fields in the order that they have in a record. A block can only be decoded with the
// dictionary that it was encoded with, so a change to the dictionary requires a new layoutVersion.
const recordWords = `"https://www.","kind":"redirect","fetched_at":"2026-11-25T14:34:54.6","status":301,"location":"https://` +
	`","kind":"error","problem":"status 404","fetched_at":"2026-","status":404,"content_type":"text/html; charset=utf-8","took":1` +
	`,"checked":true,"requisite":true,"sitemap":true,"canonical_url":"https://` +
	`,"description":"","author":"","published_at":"2026-01-01T00:00:00Z","modified_at":"2026-","site_name":"","root":"article` +
	`,"alternates":[{"lang":"de","url":"https://"},{"lang":"en","url":"https://"}],"other_lang":true,"listed":true` +
	`,"faults":2664,"faulty":["0 https://","1 https://","11 ","12 #"],"dead_end":"scripts","needs_scripts":"` +
	`,"archive":{"file":".warc.gz","offset":1,"length":1,"digest":"sha256:"},"etag":"\"","visit":"unchanged","visited_at":"2026-` +
	`,"since":"2026-","restless":[{"earlier":[{"` +
	`{"id":"","url":"https://www.","kind":"page","fetched_at":"2026-11-25T14:34:54.6Z","status":200,"content_type":"text/html","took":2` +
	`,"depth":4,"size":5,"lang":"en","title":"","h1":[""],"root":"descent","faults":2662,"words":1` +
	`,"hash":"","left_words":1,"left_hash":"","verdict":"exact","leader":"","duplicate_of":"https://` +
	`","resemblance":1,"found":"text","no_text":true,"verdict":"unique","etag":"","modified":"Wed, 25 Nov 2026 10:00:00 GMT"}`

var recordDict = s2.MakeDict([]byte(recordWords), nil)

// encodeRecord returns the stored form of a record. hash is the text hash under which copies find
// the page. A temporary store keeps records as [store.Record.AppendFast] encodes them, without
// compression. Their first byte is 0, which never begins the S2 block of a record.
func (s *Store) encodeRecord(hash dedup.Hash, r *store.Record) ([]byte, error) {
	if s.texts != nil {
		return r.AppendFast(append(make([]byte, 0, 256), hash[:]...))
	}
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	value := make([]byte, hashSize+s2.MaxEncodedLen(len(b)))
	copy(value, hash[:])
	return value[:hashSize+len(recordDict.Encode(value[hashSize:], b))], nil
}

// packedRecord returns the JSON of a stored record, or its form from [store.Record.AppendFast].
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
