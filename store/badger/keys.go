package badger

import (
	"encoding/binary"
	"math"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/internal/field"
	"skink/store"
)

// # The layout on disk, version 7
//
// The head of badger's MANIFEST has a number for the application. Its high byte identifies skink,
// and its low byte is the version of the layout. So the first eight bytes of that file tell whose
// folder it is, before anything is written into it. See [checkHead].
//
// A key begins with one letter. All integers in keys are big-endian, so that the order of bytes is
// the order of numbers. In values, "varint" is an unsigned varint as in encoding/binary. JSON may
// gain fields.
//
//	c                          → JSON of [counters]
//	d NUM8                     → empty; the visit at that place gave way to a later
//	                             one, and its postings may be dropped
//	f HOST                     → JSON of [keptRest]: when HOST may be asked
//	i                          → JSON of [postings.Manifest]: the files of the index
//	k LEADER16 RANK8 NUM8      → empty; a member of the cluster of the page with
//	                             id LEADER. RANK is the complement of the bits of
//	                             the resemblance, a float64 of at least 0, so the
//	                             most alike is first
//	l HOST 00 DUE8 SEQ8        → a pending URL that is not to be taken before DUE,
//	                             nanoseconds since 1970: its priority as in q (a byte),
//	                             its depth (a varint), then as the value of q
//	m NAME                     → a named value, as it was given
//	v NAME                     → the same again, far from it: one lost block does not
//	                             cost the settings
//	q HOST 00 PRIO1 DEPTH4 SEQ8 → a pending URL, as [encodeItem] writes it. PRIO is its
//	                             priority and 128, SEQ the order of arrival
//	u ID16                     → what is known of a URL that was discovered: its
//	                             state (a byte, with bits for what follows), the
//	                             number of its record or 0, its DEPTH, if it is
//	                             pending the SEQ of its q or l (varints), PRIO (a byte)
//	                             if it is in q and not 0, DUE (8 bytes) if it is in l,
//	                             and the URL: where q, l or z lost it, it is to be
//	                             fetched again, see [mending]. The record of a URL
//	                             that was never discovered is found by its ID in
//	                             the index
//	z BLOCK8 j SEQ8            → what a transaction adds to the index, a [journalEntry]
//	z BLOCK8 o NUM8 PART2      → the page's links as [store.PackLinks] made them, in parts
//	z BLOCK8 r NUM8            → HASH16, the text hash under which the page is found
//	                             or zero, then JSON of [store.Record]
//	z BLOCK8 s NUM8            → the page's id, the hash of its canonical text, its
//	                             84 minima, 4 bytes each, little-endian
//	z BLOCK8 t NUM8 PART2      → the text as [store.Pack] or [store.PackMarked] made it, in
//	                             parts
//
// NUM is a place in the order of judging. A page that is visited again gets a new place, and the
// data of the old place is deleted. A page that must not be indexed must not lead a page that may
// be fed. So the caller changes the text hash of such a page and the keys under which it is posted.
// The store does not know of that.
//
// BLOCK is the complement of NUM / [pagesInBlock]. For a journal entry, NUM here is the last place
// that was given before it. The order of keys decides the cost of a store. Badger moves a table
// down a level by merging it with all tables there that overlap it, and some table always holds the
// end of one letter and the beginning of the next. If each letter were a list by number, that table
// would reach from a new row over all the old rows of its letter. All of those would be rewritten
// each time, so the cost would grow with the store. So everything that grows by number is one list,
// which is the last of all, and its newest block comes first. No old key lies between a new block
// and the keys before it. Inside a block each letter is a list of its own, so that reading all
// records skips no texts.
//
// The folder also has the files of the index, NUMBER.postings, see package postings. They can be
// rebuilt from the journal, j. READERS and readers.sock
// belong to package store/remote, through which the process that has the store answers other
// processes. NAME.kept is a cached value that can be computed again from the pages, see kept.go.
// None of these files is part of the store.
//
// Values of o and t are cut into parts of [partSize] for two reasons. One of badger's transactions
// takes at most 15 % of a memtable. A value of more than 1 MiB would go to the value log, which
// would then need garbage collection.
//
// A URL's state and the number of its record share one key. A page ends with one write to u or to
// j, which is in the transaction of its record. So the record is the commit point. The keys written
// before it (t, s, o, j, and the u and q of links) may exist without it after a crash. Such texts,
// sketches and links are never read, and such postings are ignored.
const (
	layoutVersion = 7
	skinkMagic    = 0x5C

	keyCounters byte = 'c'
	keyGone     byte = 'd'
	keyHost     byte = 'f'
	keyIndex    byte = 'i'
	keyMember   byte = 'k'
	keyLater    byte = 'l'
	keyMeta     byte = 'm'
	keyQueue    byte = 'q'
	keyURL      byte = 'u'
	keyMetaCopy byte = 'v'
	keyBlock    byte = 'z' // no other letter may come after it

	// Inside a block.
	keyJournal byte = 'j'
	keyOut     byte = 'o'
	keyRecord  byte = 'r'
	keySketch  byte = 's'
	keyText    byte = 't'
)

// pagesInBlock makes a block as large as a few of badger's tables. A table that straddles two
// letters of a block makes badger rewrite no more than that block.
const pagesInBlock = 4096

// partSize is the greatest size in bytes of one part of a text or of links. It is a tenth of what fits
// into one transaction of badger.
const partSize = 256 << 10

// key1 returns the key that consists of a letter and the bytes of rest.
func key1[T ~string | ~[]byte](letter byte, rest T) []byte {
	return append(append(make([]byte, 0, 1+len(rest)), letter), rest...)
}

// numKey makes a key of a letter and a number.
func numKey(letter byte, num uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{letter}, num)
}

// blockKey comes before all keys of a block and of older blocks, and after all keys of newer
// blocks.
func blockKey(block uint64) []byte { return numKey(keyBlock, ^block) }

// blockOf returns the block that a key is in.
func blockOf(key []byte) uint64 { return ^binary.BigEndian.Uint64(key[1:]) }

// letterKey returns the common prefix of the keys of one letter in a block.
func letterKey(block uint64, letter byte) []byte { return append(blockKey(block), letter) }

// pageKey returns the key of a letter and a number, in the block of that number.
func pageKey(letter byte, num uint64) []byte {
	return binary.BigEndian.AppendUint64(letterKey(num/pagesInBlock, letter), num)
}

// journalKey returns the key of an entry that was written when last was the last number given.
func journalKey(last, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(letterKey(last/pagesInBlock, keyJournal), seq)
}

func partKey(letter byte, num uint64, part int) []byte {
	return binary.BigEndian.AppendUint16(pageKey(letter, num), uint16(part))
}

func memberKey(leader dedup.Hash, resemblance float64, num uint64) []byte {
	k := key1(keyMember, leader[:])
	k = binary.BigEndian.AppendUint64(k, ^math.Float64bits(max(resemblance, 0)))
	return binary.BigEndian.AppendUint64(k, num)
}

// hostPrefix returns the common prefix of the keys of one host and letter.
func hostPrefix(letter byte, host string) []byte {
	k := make([]byte, 0, 1+len(host)+1+laterTail)
	k = append(k, letter)
	k = append(k, host...)
	return append(k, 0)
}

// The number of bytes that follow the host and its zero in a q key, and in an l key.
const (
	queueTail = 1 + 4 + 8
	laterTail = 8 + 8
)

// lanePrefix returns the common prefix of the q keys of one host and level.
func lanePrefix(host string, l level) []byte {
	k := append(hostPrefix(keyQueue, host), l.prio())
	return binary.BigEndian.AppendUint32(k, uint32(l.depth()))
}

// queueKey returns the key of a pending URL's item.
func queueKey(host string, p place) []byte {
	if p.due != 0 {
		k := binary.BigEndian.AppendUint64(hostPrefix(keyLater, host), uint64(p.due))
		return binary.BigEndian.AppendUint64(k, p.seq)
	}
	return binary.BigEndian.AppendUint64(lanePrefix(host, p.level), p.seq)
}

// splitQueueKey is the inverse of queueKey. The level of a URL that is due later is in its value.
func splitQueueKey(key []byte) (host []byte, p place, ok bool) {
	tail := queueTail
	if len(key) > 0 && key[0] == keyLater {
		tail = laterTail
	}
	end := len(key) - tail - 1
	if end < 1 || key[end] != 0 {
		return nil, place{}, false
	}
	if rest := key[end+1:]; tail == laterTail {
		p.due = int64(binary.BigEndian.Uint64(rest))
	} else {
		p.level = levelAt(rest[0], uint64(binary.BigEndian.Uint32(rest[1:])))
	}
	p.seq = lastNum(key)
	return key[1:end], p, true
}

// lastNum returns the number in the last 8 bytes of a key: a place, or the number of a journal entry.
func lastNum(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }

// known is the value of a u key. The zero value stands for a URL of which nothing is known.
type known struct {
	state frontier.State
	num   uint64 // of its record; 0: it has none
	place place  // in the queue, while the URL is pending; later only the depth is true
	url   string // "" if a record is all that is known
}

// The first byte of a known: the state, and two bits beside it.
const (
	stateBits  = 1<<6 - 1
	knownPrio  = 1 << 6 // the URL's priority is not 0
	knownLater = 1 << 7 // the URL is in l
)

func (k known) encode() []byte {
	first := byte(k.state)
	if k.state == frontier.Pending {
		if k.place.level.priority() != 0 {
			first |= knownPrio
		}
		if k.place.due != 0 {
			first |= knownLater
		}
	}
	b := make([]byte, 0, 24+len(k.url))
	b = append(b, first)
	b = binary.AppendUvarint(b, k.num)
	b = binary.AppendUvarint(b, uint64(k.place.level.depth()))
	if k.state == frontier.Pending {
		b = binary.AppendUvarint(b, k.place.seq)
	}
	if first&knownPrio != 0 {
		b = append(b, k.place.level.prio())
	}
	if first&knownLater != 0 {
		b = binary.BigEndian.AppendUint64(b, uint64(k.place.due))
	}
	return append(b, k.url...)
}

func decodeKnown(b []byte) (k known, err error) {
	d := field.Reader{Rest: b}
	first := d.Byte()
	k.state = frontier.State(first & stateBits)
	k.num = d.Varint()
	depth := d.Varint()
	if k.state == frontier.Pending {
		k.place.seq = d.Varint()
	}
	prio := byte(usualPrio)
	if first&knownPrio != 0 {
		prio = d.Byte()
	}
	k.place.level = levelAt(prio, depth)
	if first&knownLater != 0 {
		k.place.due = int64(d.Uint64())
	}
	k.url = string(d.Rest)
	return k, whole(d)
}

// Bits of the first byte of an item. They say which fields follow it, in this order.
const (
	itemHops     = 1 << iota // a varint
	itemTries                // a varint
	itemVia                  // a length (varint) and as many bytes
	itemKind                 // a byte
	itemDue                  // nanoseconds since 1970, 8 bytes
	itemETag                 // as via
	itemModified             // as via
)

// encodeItem encodes an item without its priority and depth, which are elsewhere. The URL comes
// last.
func encodeItem(it frontier.Item) []byte {
	b := make([]byte, 1, 24+len(it.Via)+len(it.ETag)+len(it.Modified)+len(it.URL))
	text := func(bit byte, s string) {
		if s != "" {
			b[0] |= bit
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
	}
	if it.Hops > 0 {
		b[0] |= itemHops
		b = binary.AppendUvarint(b, uint64(it.Hops))
	}
	if it.Tries > 0 {
		b[0] |= itemTries
		b = binary.AppendUvarint(b, uint64(it.Tries))
	}
	text(itemVia, it.Via)
	if it.Kind != frontier.Page {
		b[0] |= itemKind
		b = append(b, byte(it.Kind))
	}
	if due := nanoseconds(it.Due); due != 0 {
		b[0] |= itemDue
		b = binary.BigEndian.AppendUint64(b, uint64(due))
	}
	text(itemETag, it.ETag)
	text(itemModified, it.Modified)
	return append(b, it.URL...)
}

func decodeItem(b []byte) (it frontier.Item, err error) {
	d := field.Reader{Rest: b}
	has := d.Byte()
	text := func(bit byte) string {
		if has&bit == 0 {
			return ""
		}
		return string(d.Bytes(d.Varint()))
	}
	if has&itemHops != 0 {
		it.Hops = int(d.Varint())
	}
	if has&itemTries != 0 {
		it.Tries = int(d.Varint())
	}
	it.Via = text(itemVia)
	if has&itemKind != 0 {
		it.Kind = frontier.ItemKind(d.Byte())
	}
	if has&itemDue != 0 {
		it.Due = timeOf(int64(d.Uint64()))
	}
	it.ETag, it.Modified = text(itemETag), text(itemModified)
	it.URL = string(d.Rest)
	return it, whole(d)
}

// encodeQueued returns the value of a q or l key. The value of an l key begins with priority and
// depth, which q has in the key.
func encodeQueued(it frontier.Item, p place) []byte {
	if p.due == 0 {
		return encodeItem(it)
	}
	b := binary.AppendUvarint([]byte{p.level.prio()}, uint64(p.level.depth()))
	return append(b, encodeItem(it)...)
}

// decodeQueued is the inverse of encodeQueued. It completes the item and its place.
func decodeQueued(b []byte, p place) (frontier.Item, place, error) {
	if p.due != 0 {
		d := field.Reader{Rest: b}
		prio := d.Byte()
		p.level = levelAt(prio, d.Varint())
		if b = d.Rest; d.Bad {
			return frontier.Item{}, p, store.ErrCorrupt
		}
	}
	it, err := decodeItem(b)
	it.Priority, it.Depth = p.level.priority(), p.level.depth()
	return it, p, err
}

// nanoseconds returns a time as it is stored, or 0 for the zero time. A time out of range becomes
// the nearest time in range.
func nanoseconds(t time.Time) int64 {
	switch {
	case t.IsZero():
		return 0
	case t.Before(time.Unix(0, 1)):
		return 1
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// timeOf is the inverse of nanoseconds.
func timeOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

func encodeSketch(e *store.Entry) []byte {
	b := make([]byte, 0, 2*hashSize+dedup.SketchSize)
	b = append(b, e.Record.ID[:]...)
	b = append(b, e.Record.Hash[:]...)
	return e.Sketch.Append(b)
}

func decodeSketch(b []byte) (l store.Leader, err error) {
	if len(b) < 2*hashSize {
		return l, store.ErrCorrupt
	}
	s, ok := dedup.SketchOf(b[2*hashSize:])
	if !ok {
		return l, store.ErrCorrupt
	}
	return store.Leader{ID: dedup.Hash(b), Hash: dedup.Hash(b[hashSize:]), Sketch: *s}, nil
}

// whole returns [store.ErrCorrupt] if a field of the value was not whole.
func whole(r field.Reader) error {
	if r.Bad {
		return store.ErrCorrupt
	}
	return nil
}

// maxNum is the highest place that a page may have. The index stores a place in 63 bits and the kind of
// the key in the 64th.
const maxNum = 1<<63 - 1
