package redis

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/klauspost/compress/s2"

	"skink/dedup"
	"skink/store"
)

// # Records
//
// Most of a record is the names of its members. So its JSON is packed by S2 with a dictionary that
// knows them, which makes less than half of it, in a microsecond; zstd makes nothing of so short a
// text. A record of another dictionary cannot be read: whoever changes it changes layoutVersion.

var recordDict = s2.MakeDict([]byte(
	// What stands nearest to the end costs least, so the rare comes first.
	`","location":"https","problem":"status 404","detail":"404 Not Found","problem":"timeout","detail":"`+
		`,"hops":1,"tries":1,"truncated":true,"checked":true,"alternates":[{"lang":"en","url":"http`+
		`","shared_only":true,"author":"","published_at":"20","modified_at":"20","site_name":"","noindex":true,"bounds":"`+
		`,"elected":true,"capped":true,"no_text":true,"archive":{"file":"","offset":,"answered":{"file":"`+
		`","etag":"\"","visit":"changed","visit":"unchanged","visited_at":"20","judged_at":"20","first":"20`+
		`","missed":1,"added":"","removed":"","earlier":[{"kind":"redirect","kind":"error","kind":"other`+
		`"https://www.","title_from":"h1","root":"article","root":"main","verdict":"exact","verdict":"thin`+
		`","modified":"Mon, Tue, Wed, Thu, Fri, Sat, Sun, 01 Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec 20`+
		` 00:00:00 GMT"},"words":1,"hash":"0","verdict":"near","leader":"0","duplicate_of":"http://","resemblance":0.9,"found":"`+
		`{"id":"0","url":"https://www.example.com/index.html","via":"https://","kind":"page","fetched_at":"20`+
		`Z","status":200,"content_type":"text/html","content_type":"text/html; charset=utf-8","took":1,"depth":1,"size":1`+
		`,"canonical_url":"https://","canonicals":["https://"],"lang":"en","title":"","h1":[""],"description":"`+
		`","root":"descent","words":1,"hash":"0","verdict":"unique","modified":"`), nil)

// mostRecord is the most bytes that a record may unpack to. It keeps a damaged store from taking all
// memory.
const mostRecord = 1 << 28

// packRecord is the text hash under which the page is posted, and the visit of its leader, then the
// record. Before it the script writes the place.
func packRecord(hash dedup.Hash, follows ticket, r *store.Record) (string, error) {
	b, err := r.AppendJSON(nil)
	if err != nil {
		return "", err
	}
	return string(hash[:]) + follows.posting() + string(recordDict.Encode(nil, b)), nil
}

// readRecord is the inverse of packRecord, of what the script wrote.
func (c *content) readRecord(value string) (err error) {
	const head = placeSize + len(dedup.Hash{}) + postingSize
	if len(value) < head {
		return store.ErrCorrupt
	}
	if c.place, err = strconv.ParseUint(value[:placeSize], 10, 64); err != nil {
		return fmt.Errorf("%w: %v", store.ErrCorrupt, err)
	}
	copy(c.hash[:], value[placeSize:])
	c.follows = postingsIn(value[head-postingSize : head])[0].visit()
	packed := []byte(value[head:])
	if n, err := s2.DecodedLen(packed); err != nil || n > mostRecord {
		return fmt.Errorf("%w: a record", store.ErrCorrupt)
	}
	b, err := recordDict.Decode(nil, packed)
	if err != nil {
		return fmt.Errorf("%w: %v", store.ErrCorrupt, err)
	}
	if err := json.Unmarshal(b, &c.Record); err != nil {
		return fmt.Errorf("%w: %v", store.ErrCorrupt, err)
	}
	return nil
}
