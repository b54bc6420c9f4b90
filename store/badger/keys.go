package badger

import (
	"encoding/binary"
	"math"
	"time"

	"skink/base/field"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # The layout on disk
//
// The head of badger's MANIFEST contains a number for the application. Its high byte identifies
// skink, and its low byte is the version of the layout. So the first eight bytes of that file show
// which program the folder belongs to, before anything is written into it. See [checkHead].
//
// A key begins with one letter. All integers in keys are big-endian, so that byte order is numeric
// order. In values, "varint" is an unsigned varint as in encoding/binary. Later versions may add
// fields to the JSON values.
//
//	c                          → [counters], as [store.AppendStruct] writes them
//	d NUM8                     → empty; a later visit of the page replaced visit NUM,
//	                             whose postings may be dropped
//	e NUM8                     → empty; visit NUM is obsolete, and its data is not yet
//	                             deleted; see obsolete.go
//	f HOST                     → a [frontier.Rest], as [store.AppendStruct] writes it, with
//	                             the fields that outlive a run, and the last slot
//	i                          → a [postings.Manifest], as [store.AppendStruct] writes it: the
//	                             files of the index
//	k LEADER16 RANK8 NUM8      → empty; a member of the cluster of the page with
//	                             id LEADER. RANK is the complement of the bits of
//	                             the resemblance, a float64 of at least 0, so that the
//	                             highest resemblance comes first
//	l HOST 00 DUE8 SEQ8        → a pending URL that must not be fetched before DUE,
//	                             nanoseconds since 1970: the same value as in q, with the
//	                             priority and the depth
//	m NAME                     → a named value, as [store.Pack] makes it, or a [metaHead]
//	m NAME 00 SLOT1 PART2      → a piece of a large named value; see meta.go
//	v NAME                     → a copy of m NAME, far from it, so that the loss of
//	                             one block does not lose the settings; see [copiesOf]
//	q HOST 00 PRIO1 DEPTH4 SEQ8 → a pending URL, as [store.AppendStruct] writes it. PRIO is
//	                             its priority plus 128. SEQ numbers the URLs in the
//	                             order of arrival. If the key has the user metadata
//	                             [runMeta], the value is a [run]: several URLs to visit
//	                             again, with successive numbers up to SEQ
//	u ID16                     → the state of a URL that was discovered: a byte for the
//	                             state, PRIO (a byte), NUM of its record or 0, its DEPTH,
//	                             the SEQ of its q or l key, its DUE (varints), and the URL.
//	                             A URL that is not pending has no priority, SEQ and DUE. A URL
//	                             that is pending because it is in a run has the state from before. If its q, l or z keys are lost,
//	                             the URL is fetched again; see [remains]. The index
//	                             finds the record of a URL that was never discovered,
//	                             by its ID
//	w NUM8                     → what later visits have changed in the record of visit NUM, as
//	                             [store.Record.AppendUpdate] writes it; see record.go
//	z BLOCK8 o NUM8 PART2      → the page's links as [store.PackLinks] made them, cut
//	                             into pieces
//	z BLOCK8 r NUM8            → a [store.Record] as [Store.encodeRecord] writes it. The
//	                             key has the user metadata [aloneMeta] if the URL was never
//	                             discovered
//	z BLOCK8 s NUM8            → the page's id, the hash of its canonical text, the number of
//	                             its index keys (a varint), the keys, 8 bytes each, and its
//	                             84 minima, 4 bytes each, or nothing; all little-endian
//	z BLOCK8 t NUM8 PART2      → the text as [store.Pack] or [store.PackMarked] made
//	                             it, cut into pieces. In a temporary store, the place
//	                             of the text in a file; see [textFile]
//
// NUM is the number of a visit. Visits are numbered from 1 in the order of their commits. A page
// that is visited again gets a new number, and the data under the old number becomes obsolete. A page
// with noindex must not become the leader of a page that may be indexed. So the caller changes the
// text hash and the index keys of such a page. The store does not know about this.
//
// BLOCK is the complement of NUM / [pagesInBlock]. The order of keys decides how much badger has to
// rewrite. Badger moves a table down a level by merging it with all tables there that overlap it,
// and some table always contains the last keys of one letter and the first keys of the next. If the
// keys of each letter were ordered by number, that table would extend from the new rows of one
// letter across all old rows of the next. All of those would be rewritten each time, so the cost
// would grow with the store. To avoid that, all data that grows by number is in one list after all
// other keys, with its newest block first. No old key lies between a new block and the keys before
// it. Within a block, the keys of each letter are together, so a scan of all records does not read
// texts.
//
// The folder also contains the files of the index, NUMBER.postings; see package postings. They can
// be rebuilt from the visits. readers.sock belongs to package store/remote, through
// which the process that has the store open serves other processes. NAME.kept is a cached value that
// can be computed again from the pages; see kept.go. None of these files is part of the store.
//
// The values of o and t keys are cut into pieces of [partSize] bytes for two reasons. A transaction
// of badger can take at most 15% of a memtable. A value of more than 1 MiB would go to the value
// log, which would then need garbage collection.
//
// A URL's state and the number of its record share one key. The last writes for a page are its
// record and one write to u, in the same transaction. So the record is the commit point.
// The keys written before it (t, s, o, and the u and q of links) may exist without it after a
// crash. Such texts, sketches and links are never read.
const (
	layoutVersion = 24
	skinkMagic    = 0x5C

	keyCounters byte = 'c'
	keyGone     byte = 'd'
	keyObsolete byte = 'e'
	keyHost     byte = 'f'
	keyIndex    byte = 'i'
	keyMember   byte = 'k'
	keyLater    byte = 'l'
	keyMeta     byte = 'm'
	keyQueue    byte = 'q'
	keyURL      byte = 'u'
	keyMetaCopy byte = 'v'
	keyUpdate   byte = 'w'
	keyBlock    byte = 'z' // the greatest of these letters, so that blocks come after all other keys

	// The letters of keys inside a block.
	keyOut    byte = 'o'
	keyRecord byte = 'r'
	keySketch byte = 's'
	keyText   byte = 't'
)

// pagesInBlock is the number of visits in a block. With this number, a block is as large as a few
// of badger's tables. If a table contains keys with two letters of one block, badger rewrites no
// more than that block.
const pagesInBlock = 4096

// partSize is the maximum size in bytes of one piece of a text or of links. Ten such pieces would
// fit into one badger transaction.
const partSize = 256 << 10

func key1[T ~string | ~[]byte](letter byte, rest T) []byte {
	return append(append(make([]byte, 0, 1+len(rest)), letter), rest...)
}

func numKey(letter byte, num uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{letter}, num)
}

// blockKey returns the common prefix of the keys in a block. It sorts before all keys of that block
// and of older blocks, and after all keys of newer blocks.
func blockKey(block uint64) []byte { return numKey(keyBlock, ^block) }

func blockOf(key []byte) uint64 { return ^binary.BigEndian.Uint64(key[1:]) }

func letterKey(block uint64, letter byte) []byte { return append(blockKey(block), letter) }

func pageKey(letter byte, num uint64) []byte {
	return binary.BigEndian.AppendUint64(letterKey(num/pagesInBlock, letter), num)
}

func partKey(letter byte, num uint64, part int) []byte {
	return binary.BigEndian.AppendUint16(pageKey(letter, num), uint16(part))
}

func memberKey(leader dedup.Hash, resemblance float64, num uint64) []byte {
	k := key1(keyMember, leader[:])
	k = binary.BigEndian.AppendUint64(k, ^math.Float64bits(max(resemblance, 0)))
	return binary.BigEndian.AppendUint64(k, num)
}

func hostPrefix(letter byte, host string) []byte {
	k := make([]byte, 0, 1+len(host)+1+laterTail)
	k = append(k, letter)
	k = append(k, host...)
	return append(k, 0)
}

// These are the numbers of bytes after the host and the zero byte in a q key and an l key.
const (
	queueTail = 1 + 4 + 8
	laterTail = 8 + 8
)

func lanePrefix(host string, l level) []byte {
	k := append(hostPrefix(keyQueue, host), l.prio())
	return binary.BigEndian.AppendUint32(k, uint32(l.depth()))
}

func queueKey(host string, p position) []byte {
	if p.due != 0 {
		k := binary.BigEndian.AppendUint64(hostPrefix(keyLater, host), uint64(p.due))
		return binary.BigEndian.AppendUint64(k, p.seq)
	}
	return binary.BigEndian.AppendUint64(lanePrefix(host, p.level), p.seq)
}

// splitQueueKey is the inverse of queueKey. The key of a URL that is due later does not contain the
// level; the value does.
func splitQueueKey(key []byte) (host []byte, p position, ok bool) {
	tail := queueTail
	if len(key) > 0 && key[0] == keyLater {
		tail = laterTail
	}
	end := len(key) - tail - 1
	if end < 1 || key[end] != 0 {
		return nil, position{}, false
	}
	if rest := key[end+1:]; tail == laterTail {
		p.due = int64(binary.BigEndian.Uint64(rest))
	} else {
		p.level = levelAt(rest[0], uint64(binary.BigEndian.Uint32(rest[1:])))
	}
	p.seq = lastNum(key)
	return key[1:end], p, true
}

// lastNum returns the number in the last 8 bytes of a key: that of a visit or a queued URL.
func lastNum(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }

// known is the value of a u key. The zero value means that nothing is known about the URL.
type known struct {
	state frontier.State
	num   uint64   // visit number of the URL's record; 0 means that there is no record
	place position // position in the host's queue while the URL is pending; afterwards only the depth is valid
	url   string   // "" if only the record of the URL is known

	again bool           // whether the URL is pending because it is in a run; not stored
	was   frontier.State // if again is set, the stored state
}

func (k known) encode() []byte {
	p := k.place
	if k.state != frontier.Pending {
		p = position{level: levelAt(usualPrio, uint64(p.level.depth()))}
	}
	b := append(make([]byte, 0, 32+len(k.url)), byte(k.state), p.level.prio())
	for _, n := range []uint64{k.num, uint64(p.level.depth()), p.seq, uint64(p.due)} {
		b = binary.AppendUvarint(b, n)
	}
	return append(b, k.url...)
}

func (k *known) decode(b []byte) error {
	d := field.Reader{Rest: b}
	k.state = frontier.State(d.Byte())
	prio := d.Byte()
	k.num = d.Varint()
	k.place = position{levelAt(prio, d.Varint()), d.Varint(), int64(d.Varint())}
	k.url = string(d.Rest)
	return whole(d)
}

// encodeQueued returns the value of a q or l key. It leaves out the priority and depth of a q key,
// which are part of the key.
func encodeQueued(it frontier.Item, p position) []byte {
	it.Place = 0
	if p.due == 0 {
		it.Priority, it.Depth = 0, 0
	}
	return store.AppendStruct(make([]byte, 0, 32+len(it.Via)+len(it.From)+len(it.ETag)+len(it.Modified)+len(it.URL)), &it)
}

// decodeQueued is the inverse of encodeQueued. p is the position found in the key. If the key does
// not contain the level, decodeQueued adds the level from the value.
func decodeQueued(b []byte, p position) (frontier.Item, position, error) {
	it, err := store.UnpackStruct[frontier.Item](b)
	if p.due != 0 {
		p.level = levelOf(&it)
	}
	it.Priority, it.Depth = p.level.priority(), p.level.depth()
	return it, p, err
}

// nanoseconds returns the stored form of a time: nanoseconds since 1970, or 0 for the zero time.
// Times before 1970 become 1, and times after 2262 the maximum int64.
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

// An indexed is the value of an s key.
type indexed struct {
	id, hash dedup.Hash
	keys     []uint64
	sketch   *dedup.Sketch // nil means that there is none
}

func encodeIndexed(e *store.Entry) []byte {
	b := make([]byte, 0, 2*hashSize+binary.MaxVarintLen64+8*len(e.Keys)+dedup.SketchSize)
	b = append(append(b, e.Record.ID[:]...), e.Record.Hash[:]...)
	b = binary.AppendUvarint(b, uint64(len(e.Keys)))
	for _, key := range e.Keys {
		b = binary.LittleEndian.AppendUint64(b, key)
	}
	if e.Sketch == nil {
		return b
	}
	return e.Sketch.Append(b)
}

func (x *indexed) decode(value []byte) error {
	d := field.Reader{Rest: value}
	copy(x.id[:], d.Bytes(uint64(hashSize)))
	copy(x.hash[:], d.Bytes(uint64(hashSize)))
	for keys := d.Bytes(8 * min(d.Varint(), math.MaxUint64/8)); len(keys) > 0; keys = keys[8:] {
		x.keys = append(x.keys, binary.LittleEndian.Uint64(keys))
	}
	if len(d.Rest) > 0 {
		if x.sketch, _ = dedup.SketchOf(d.Rest); x.sketch == nil {
			d.Fail()
		}
	}
	return whole(d)
}

// whole returns [store.ErrCorrupt] if the value ended inside a field.
func whole(r field.Reader) error {
	if r.Bad {
		return store.ErrCorrupt
	}
	return nil
}
