package redis

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"skink/frontier"
	"skink/store"
)

// A field is the first eight bytes of a URL's id, by which buckets know it. In a partition
// that holds a million URLs the odds that two of them share one are 1 to 37 million.
type field string

const urlFieldSize = 8

func fieldOf(id [16]byte) field { return field(id[:urlFieldSize]) }

// An item of a queue is its field, a byte that says what follows, and the URL. What is
// not usual of an item stands between: (varints, texts with their length before them)
// hops and tries, via, kind, due in nanoseconds, ETag and Last-Modified. Depth and
// priority are those of its lane.
const (
	hasHops byte = 1 << iota
	hasVia
	hasKind
	hasDue
	hasValidators
)

func packItem(it frontier.Item) string {
	id := frontier.ID(it.URL)
	b := make([]byte, 0, urlFieldSize+1+len(it.Via)+len(it.URL)+len(it.ETag)+len(it.Modified)+16)
	b = append(b, id[:urlFieldSize]...)
	b = append(b, 0)
	flags := &b[urlFieldSize]
	if it.Hops != 0 || it.Tries != 0 {
		*flags |= hasHops
		b = binary.AppendUvarint(b, uint64(max(it.Hops, 0)))
		b = binary.AppendUvarint(b, uint64(max(it.Tries, 0)))
	}
	if it.Via != "" {
		b[urlFieldSize] |= hasVia
		b = appendText(b, it.Via)
	}
	if it.Kind != frontier.Page {
		b[urlFieldSize] |= hasKind
		b = append(b, byte(it.Kind))
	}
	if !it.Due.IsZero() {
		b[urlFieldSize] |= hasDue
		b = binary.AppendVarint(b, it.Due.UnixNano())
	}
	if it.ETag != "" || it.Modified != "" {
		b[urlFieldSize] |= hasValidators
		b = appendText(b, it.ETag)
		b = appendText(b, it.Modified)
	}
	return string(append(b, it.URL...))
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// unpackItem reads an item that was in a lane.
func unpackItem(lane, packed string) (it frontier.Item, err error) {
	number, err := strconv.ParseInt(lane, 10, 64)
	if err != nil || len(packed) <= urlFieldSize {
		return it, fmt.Errorf("%w: an item of a queue", store.ErrCorrupt)
	}
	it.Priority, it.Depth = int(number>>32), int(uint32(number))
	d := unpacker{b: packed[urlFieldSize+1:]}
	flags := packed[urlFieldSize]
	if flags&hasHops != 0 {
		it.Hops, it.Tries = int(d.uvarint()), int(d.uvarint())
	}
	if flags&hasVia != 0 {
		it.Via = d.text()
	}
	if flags&hasKind != 0 {
		it.Kind = frontier.Kind(d.byte())
	}
	if flags&hasDue != 0 {
		it.Due = time.Unix(0, d.varint()).UTC()
	}
	if flags&hasValidators != 0 {
		it.ETag, it.Modified = d.text(), d.text()
	}
	it.URL = d.b
	return it, d.err
}

// An unpacker takes a packed value apart. After the first thing that is missing err is set
// and everything else is zero.
type unpacker struct {
	b   string
	err error
}

func (d *unpacker) cut(n int) string {
	if n <= 0 || n > len(d.b) {
		d.fail()
		return ""
	}
	head := d.b[:n]
	d.b = d.b[n:]
	return head
}

func (d *unpacker) fail() {
	d.b, d.err = "", fmt.Errorf("%w: a packed value ends too early", store.ErrCorrupt)
}

func (d *unpacker) uvarint() uint64 {
	n, size := binary.Uvarint([]byte(d.b[:min(len(d.b), binary.MaxVarintLen64)]))
	d.cut(size)
	return n
}

func (d *unpacker) varint() int64 {
	n, size := binary.Varint([]byte(d.b[:min(len(d.b), binary.MaxVarintLen64)]))
	d.cut(size)
	return n
}

func (d *unpacker) byte() byte {
	if b := d.cut(1); b != "" {
		return b[0]
	}
	return 0
}

func (d *unpacker) text() string {
	n := d.uvarint()
	if n == 0 || d.err != nil {
		return ""
	}
	return d.cut(int(min(n, 1<<31)))
}

// laneOf is where in its host's queue an item goes: a number that is in the order of
// priority, then depth.
func laneOf(it frontier.Item) string {
	priority := min(max(it.Priority, frontier.SoonestPriority), frontier.LatestPriority)
	return strconv.FormatInt(int64(priority)<<32+int64(min(max(it.Depth, 0), 1<<32-1)), 10)
}

// instant is a time as scripts compare it: nanoseconds since 1970 in 19 digits.
func instant(t time.Time) string {
	if t.IsZero() || t.Unix() < 0 {
		return "0000000000000000000"
	}
	if t.Year() >= 2262 {
		t = time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return fmt.Sprintf("%019d", t.UnixNano())
}

// timeOf is the inverse of instant, and the zero time for none.
func timeOf(instant string) time.Time {
	n, err := strconv.ParseInt(instant, 10, 64)
	if err != nil || n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}
