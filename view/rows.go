package view

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"

	"skink/base/segment"
	"skink/crawler/learn"
	"skink/dedup"
	"skink/store"
)

// # The rows
//
// A store can find a page by its ID, and list the pages committed after a cursor. It does not sort,
// filter or search. So the view keeps a row in memory for each record. A row has the fields that
// lists are sorted and filtered by, and the beginning of its URL and title, which can be searched.
// It also has a fingerprint, to find similar pages. Lists are built from the rows, and only the
// records in the shown part of a list are read from the store.
//
// A row takes about 280 bytes. Rows are in chunks that are never moved, so adding rows copies none.
// A search runs over the strings of a whole chunk at once. A page that was visited again gets a new
// row, and its old row is marked as dead.

const chunkRows = 4096

// These are the maximum numbers of bytes of the URL and the title in a row. Searching and sorting
// ignore further bytes.
const (
	urlKept   = 200
	titleKept = 100
)

// maxRows limits the memory for the rows to about a gigabyte. Lists of a larger store say that
// they are incomplete.
const maxRows = 4 << 20

type row struct {
	id          dedup.Hash
	host        uint32 // index in rows.hosts
	shape       uint32 // index in rows.shapes
	cluster     uint32 // index in rows.clusters of the cluster in which the page is a duplicate; 0 means none
	words       uint32
	size        uint32 // in bytes, or math.MaxUint32 if larger
	fetched     uint32 // Unix time in seconds
	resemblance float32
	text        uint32 // offset of the row's URL and title in chunk.texts
	first       uint32 // number of the first row of the same page
	status      uint16
	depth       uint16
	lang        uint16 // index in rows.langs
	segment     uint16 // index in rows.segments
	kind        uint8
	verdict     uint8
	flags       uint8
}

const (
	dead     = 1 << iota // the page has a newer row
	sketched             // the row has a fingerprint
)

type chunk struct {
	rows   [chunkRows]row
	prints [chunkRows]fingerprint
	n      int
	texts  []byte // for each row its URL, byte 0, its title, and byte 1; in lower case
}

// kinds and verdicts list the values that a row stores as an index. Index 0 means that the row has
// no kind or verdict.
var (
	kinds    = []string{"", string(store.Page), string(store.Other), string(store.Redirect), string(store.Error), string(store.Blocked), string(store.Skipped), string(store.Sitemap), string(store.Later), string(store.Outside)}
	verdicts = []string{"", string(dedup.Unique), string(dedup.Exact), string(dedup.Near), string(dedup.Thin)}
)

// placeIn returns the index of word in words, or 0 if it is not there.
func placeIn(words []string, word string) uint8 {
	return uint8(max(slices.Index(words, word), 0))
}

// A fingerprint holds the low four bits of the first 80 minima of a page's sketch. Two pages agree
// in one of the 80 numbers if the minima are equal, and by chance in one of 16 cases if they are
// not. So the share of equal numbers estimates the resemblance (b-bit minwise hashing: Li and
// König, 2010). The estimate is a little less precise than with whole sketches: its standard error
// is .028 at resemblance 0, and .05 at .5. Comparing a million fingerprints takes about 20 ms, so
// the most similar pages are found without an index, even at a low resemblance.
type fingerprint [5]uint64

const fingerprintLen = 80 // number of minima in a fingerprint

func newFingerprint(s *dedup.Sketch) (f fingerprint) {
	for i := range fingerprintLen {
		f[i/16] |= uint64(s[i]&15) << (4 * (i % 16))
	}
	return f
}

// alike estimates the resemblance, 0 to 1, of two pages from their fingerprints.
func (f *fingerprint) alike(g *fingerprint) float64 {
	const lowest = 0x1111111111111111
	differ := 0
	for i := range f {
		x := f[i] ^ g[i]
		differ += bits.OnesCount64((x | x>>1 | x>>2 | x>>3) & lowest)
	}
	return (float64(fingerprintLen-differ)/fingerprintLen - 1.0/16) / (15.0 / 16)
}

// A host holds counts of one host's records. Dead rows are not counted.
type host struct {
	name    string
	records int64
	tally   store.Tally // numbers of records by kind and verdict
}

type cluster struct {
	leader  dedup.Hash
	members int32
}

// rows holds all rows and counts of them. Only one goroutine may add rows. Readers must hold the
// lock of [index].
type rows struct {
	chunks   []*chunk
	n        int // number of rows, including the old rows of pages that were visited again
	live     int
	places   map[dedup.Hash]uint32 // number of the last row of each page
	hosts    []host
	hostAt   map[string]uint32
	shapes   names // URL patterns
	langs    names
	segments names
	divided  segment.List // segments by which rows are divided
	clusters []cluster
	ledBy    map[dedup.Hash]uint32
	root     string // lowest folder that has all pages; see [common]
	unread   int64  // number of records beyond maxRows, which have no row

	pairs func() []placePair // result of countPairs, which is counted once for these rows
}

// maxNames is the maximum number of strings that get a number in names. All others have the number 0.
const maxNames = 1 << 16

// A names numbers strings. The number 0 is that of "".
type names struct {
	all []string
	at  map[string]int
}

func newNames() names { return names{[]string{""}, map[string]int{"": 0}} }

// of returns the number of a string. It adds the string if it is new and there is room for it.
func (n *names) of(name string) int {
	at, known := n.at[name]
	if !known && len(n.all) < maxNames {
		at, name = len(n.all), strings.Clone(name)
		n.all, n.at[name] = append(n.all, name), at
	}
	return at
}

// find returns the number of a string, or noPlace if it has none.
func (n *names) find(name string) int {
	if at, known := n.at[name]; known {
		return at
	}
	return noPlace
}

func newRows(divided segment.List) *rows {
	t := &rows{
		places: map[dedup.Hash]uint32{}, hostAt: map[string]uint32{}, shapes: newNames(), langs: newNames(), segments: newNames(), divided: divided,
		clusters: make([]cluster, 1), ledBy: map[dedup.Hash]uint32{},
	}
	t.pairs = sync.OnceValue(t.countPairs)
	return t
}

func (t *rows) at(i int) *row { return &t.chunks[i/chunkRows].rows[i%chunkRows] }

// strings returns the URL and the title of a row in lower case, cut to urlKept and titleKept bytes.
func (t *rows) strings(i int) (url, title []byte) {
	url, rest, _ := bytes.Cut(t.chunks[i/chunkRows].texts[t.at(i).text:], []byte{0})
	title, _, _ = bytes.Cut(rest, []byte{1})
	return url, title
}

// add adds a row for a record. If the page already has a row, that row becomes dead.
func (t *rows) add(c *store.Content) {
	r := &c.Record
	first := uint32(t.n)
	if old, ok := t.find(r.ID); ok {
		first = t.at(old).first
		t.kill(old)
	}
	if t.n >= maxRows {
		t.unread++
		return
	}
	if t.n%chunkRows == 0 {
		t.chunks = append(t.chunks, new(chunk))
	}
	in := t.chunks[len(t.chunks)-1]
	at := &in.rows[in.n]
	*at = row{
		id: r.ID, host: t.hostOf(store.HostOf(r.URL)), shape: uint32(t.shapes.of(store.HostOf(r.URL) + learn.Shape(r.URL))), words: clamp(int64(r.Words)), size: clamp(r.Size),
		fetched: clamp(r.FetchedAt.Unix()), resemblance: float32(r.Resemblance), text: uint32(len(in.texts)), first: first,
		status: uint16(min(max(r.Status, 0), math.MaxUint16)), depth: uint16(min(max(r.Depth, 0), math.MaxUint16)),
		lang: uint16(t.langs.of(r.Lang)), segment: uint16(t.segments.of(t.divided.Of(r.URL))),
		kind: placeIn(kinds, string(r.Kind)), verdict: placeIn(verdicts, string(r.Verdict)),
	}
	if c.Sketch != nil {
		at.flags |= sketched
		in.prints[in.n] = newFingerprint(c.Sketch)
	}
	if r.Follows() {
		at.cluster = t.clusterOf(r.Leader)
		t.clusters[at.cluster].members++
	}
	in.texts = append(append(in.texts, searchable(r.URL, urlKept)...), 0)
	in.texts = append(append(in.texts, searchable(r.Title, titleKept)...), 1)
	if r.Kind == store.Page {
		t.root = common(cmp.Or(t.root, r.URL), r.URL)
	}
	h := &t.hosts[at.host]
	h.records++
	h.tally.Add(r)
	in.n++
	t.n++
	t.live++
	t.places[r.ID] = uint32(t.n - 1)
}

// kill marks a row as dead and removes it from all counts.
func (t *rows) kill(i int) {
	at := t.at(i)
	if at.flags&dead != 0 {
		return
	}
	at.flags |= dead
	t.live--
	h := &t.hosts[at.host]
	h.records--
	was := store.Record{Kind: store.RecordKind(kinds[at.kind]), Judged: store.Judged{Verdict: dedup.VerdictKind(verdicts[at.verdict])}, Fetch: store.Fetch{Size: int64(at.size)}}
	h.tally.Remove(&was)
	if at.cluster != 0 {
		t.clusters[at.cluster].members--
	}
}

func clamp(n int64) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

// searchable returns the first n bytes of s in lower case, with control characters replaced by
// spaces.
func searchable(s string, n int) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return unicode.ToLower(r)
	}, s[:min(len(s), n)])
}

// hostOf returns the index of a host in t.hosts. It adds the host if it is new.
func (t *rows) hostOf(name string) uint32 {
	at, ok := t.hostAt[name]
	if !ok {
		at = uint32(len(t.hosts))
		name = strings.Clone(name)
		t.hosts, t.hostAt[name] = append(t.hosts, host{name: name}), at
	}
	return at
}

// clusterOf returns the index in t.clusters of the cluster with the given leader. It adds the
// cluster if it is new.
func (t *rows) clusterOf(leader dedup.Hash) uint32 {
	at, ok := t.ledBy[leader]
	if !ok {
		at = uint32(len(t.clusters))
		t.clusters, t.ledBy[leader] = append(t.clusters, cluster{leader: leader}), at
	}
	return at
}

func (t *rows) find(id dedup.Hash) (i int, ok bool) {
	at, ok := t.places[id]
	return int(at), ok
}
