// Package postings keeps lists of pages by key on disk: the pages that were posted under a band of
// a sketch, a text hash, or an id. It uses its store only through [Store].
//
// Start with [New], [Index.Open] and [Index.Start]; then use [Index.Post] and [Index.Find]. A
// [Filter] proves of other keys, here those of URLs, that they are not in the store.
//
// # The index
//
// A unique page looks up its text hash and some fourteen keys and finds nothing, and then posts as
// many. As keys of badger that is fifteen random writes a page, each moved through every level, and
// their cost rises with the index. So postings have a log-structured merge tree of our own (O'Neil
// et al., 1996), whose rows are 16 bytes instead of badger's 40:
//
//   - All postings of a transaction are one value in the journal, written in that transaction. The
//     journal is authoritative; everything else can be rebuilt from it.
//   - In memory, postings go into a table (table.go). When the table has tablePostings, another
//     replaces it, and a goroutine writes it out as a segment (segment.go): a file of sorted
//     postings, with a filter of its keys.
//   - When there are mergeAt segments of one level, the goroutine merges them into one of the next
//     (merge.go). So a posting is written once a level, and a look-up reads at most mergeAt-1
//     segments a level.
//   - A key i in badger names the existing segments, and the last entry of the journal that is in
//     them. It is changed in one transaction after a new file was synced. Files that it does not
//     name are removed when a store opens.
//
// A power cut can restore a manifest whose files were removed since. That is handled like a damaged
// file, below.
//
// After a kill, opening reads the journal after the last segment. That is at most two tables, some
// 45,000 pages of 14 keys in 6 MB. A regular close costs the same, because it writes no segment
// either. At five million pages opening took 0.7 s, mostly for the filters. If a segment is missing
// or has a damaged end, all segments are rebuilt from the journal: five million pages in 12 s. A
// damaged block inside a segment is found when it is read. That is an error, the file is removed,
// and the next opening rebuilds it.
//
// Keys are mixed before any other use, so that any keys are spread as evenly as hashes, and a
// segment's filter is filled in order. Text hashes are posted like keys: the first half of a hash,
// under a kind of its own, which is the low bit of the number. The other half is compared with the
// record's. The ids of pages whose URL was never in the frontier are posted in the same way. As
// keys of badger, in random order, their cost would grow with their number.
//
// # Comparison with plain keys
//
// A simpler design keeps postings as plain keys of badger: for each key its places, and a Bloom
// filter of all keys in memory, so that the look-ups of a unique page read nothing. It would save
// some 650 lines. Both were measured in turn on two processors that also did other work: crawls of
// 3,907 pages of a manual (16 of each), dedup of a million texts of 100 words of which 63 % are
// unique, and TestIndex with a million pages. Processor time is user and system time.
//
//	                                  this package   plain keys
//	crawl, processor time a page      1.30 ms        1.40 ms
//	dedup, processor time a text      0.22 ms        0.43 ms
//	dedup, bytes a text on disk       1,340          1,532
//	dedup, most memory                690 MB         756 MB
//	TestIndex, processor time a page  33 µs          144 µs
//	the same, for the last quarter    39 µs          194 µs
//	TestIndex, pages a second         8,000          1,800
//	TestIndex, bytes a page on disk   923            1,215
//	TestIndex, most memory            500 MB         601 MB
//
// Plain keys are random, so each compaction rewrites all of them, and their cost grows with the
// index. So this package stays.
package postings

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Options configures an index. The zero value uses the defaults.
type Options struct {
	Table int // postings in memory that become a segment; 0: 360,000
	Fan   int // segments of a level that are merged into one; 0: 8
	// ReadOnly writes nothing. Postings that are in no segment stay in memory.
	ReadOnly bool
	// Step is called with the name of each step on disk, at which a test may kill the process; nil:
	// not called.
	Step func(step string)
}

func (o Options) orDefault() Options {
	o.Table = cmp.Or(o.Table, tablePostings)
	o.Fan = cmp.Or(o.Fan, mergeAt)
	return o
}

// An Index finds the places that were posted under a key.
type Index struct {
	dir   string
	store ManifestStore
	opt   Options

	mu       sync.RWMutex  // guards everything up to err; not what a segment holds
	changed  sync.Cond     // when full is written, or err set
	fresh    *postingTable // what is posted goes in here
	full     *postingTable // what is being written as a segment; nil: nothing
	spare    *postingTable // an empty one
	segments []*segment    // replaced, never changed
	floor    uint64        // the last place whose postings may be in segments alone
	err      error         // what ended the goroutine

	manifest Manifest // what badger knows; the goroutine's, once it runs

	goneMu sync.RWMutex
	gone   map[uint64]bool // guarded by goneMu: places whose postings find nothing any more

	wake    chan struct{} // there may be something to do
	closing chan struct{}
	ended   sync.WaitGroup
}

// A ManifestStore is the part of a store that an index uses.
type ManifestStore interface {
	SaveManifest(Manifest) error // and makes it survive a kill
	RoomFor(bytes int64) bool    // whether so much may be written for tidiness' sake
}

const (
	// tablePostings are 22,500 pages of 14 keys, a hash and an id, in 13 MB of memory: 16 bytes for
	// each of 2^19 slots, of which they fill 0.7, and 12 a posting.
	tablePostings = 360_000
	// mergeAt is a balance: at five million pages 8 gives three levels, so each posting is written
	// three times, and ten segments on average. 4 gives four levels and six segments: the fifth
	// million took 42 µs a page instead of 38.
	mergeAt = 8
)

// A Kind is the kind of a posting's key.
type Kind uint64

const (
	Band Kind = iota // a key of a sketch
	Hash             // the first half of a text hash, or of the id of a page
)

// A posting's number has its kind as the low bit.
func KindOf(num uint64) Kind             { return Kind(num & 1) }
func NumOf(num uint64) uint64            { return num >> 1 }
func WithKind(num uint64, k Kind) uint64 { return num<<1 | uint64(k) }

// Mixed returns a key in the form that the index uses.
func Mixed(key uint64, k Kind) uint64 { return mix(key ^ uint64(k)*0x9E3779B97F4A7C15) }

// File returns the name of a file of postings.
func (x *Index) File(id uint64) string {
	return filepath.Join(x.dir, fmt.Sprintf("%06d%s", id, SegmentExt))
}

// SegmentExt is the extension of the files of an index.
const SegmentExt = ".postings"

// A Manifest names the files of an index. Its store keeps it, see [Store].
type Manifest struct {
	Seq      uint64         `json:"seq"`  // the last journal entry that is in segments
	Next     uint64         `json:"next"` // id of the next file
	Segments []SegmentEntry `json:"segments,omitempty"`
}

// A SegmentEntry is one file of postings.
type SegmentEntry struct {
	ID    uint64 `json:"id"`
	Level int    `json:"level"`
}

// New returns an index whose files are in dir.
func New(dir string, s ManifestStore, opt Options) *Index {
	x := &Index{
		dir: dir, store: s, opt: opt.orDefault(),
		fresh: newPostingTable(), spare: newPostingTable(),
		manifest: Manifest{Next: 1}, gone: map[uint64]bool{},
		wake: make(chan struct{}, 1), closing: make(chan struct{}),
	}
	x.changed.L = &x.mu
	return x
}

// Open opens the segments of a manifest. After an error none is open.
func (x *Index) Open(m Manifest) error {
	var list []*segment
	for _, e := range m.Segments {
		s, err := openSegment(x.File(e.ID))
		if err != nil {
			closeSegments(list)
			return err
		}
		s.id, s.level, s.readOnly = e.ID, e.Level, x.opt.ReadOnly
		list = append(list, s)
	}
	x.segments = list
	return nil
}

func closeSegments(list []*segment) {
	for _, s := range list {
		s.file.Close()
	}
}

// removeOrphans removes the files that the manifest does not name. A killed process was writing
// them, or had merged them.
func (x *Index) removeOrphans() error {
	named := map[string]bool{}
	for _, e := range x.manifest.Segments {
		named[x.File(e.ID)] = true
	}
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(x.dir, e.Name())
		if filepath.Ext(name) == SegmentExt && !named[name] {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close ends the goroutine and closes the files.
func (x *Index) Close() error {
	close(x.closing)
	x.ended.Wait()
	closeSegments(x.segments)
	return x.err
}

// Posted is a page and the keys it is posted under.
type Posted struct {
	Num  uint64 // its number with the kind, see [WithKind]
	Keys []uint64
}

// Post adds the postings of entry seq of the journal. If the table is full and the one before it is
// still being written, Post waits.
func (x *Index) Post(seq uint64, list []Posted) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range list {
		for _, key := range p.Keys {
			x.fresh.add(posting{Mixed(key, KindOf(p.Num)), p.Num})
		}
	}
	x.fresh.seq = seq
	if x.fresh.len() < x.opt.Table || x.opt.ReadOnly {
		return nil
	}
	for x.full != nil && x.err == nil {
		x.changed.Wait()
	}
	if x.err != nil {
		return x.err
	}
	x.full, x.fresh, x.spare = x.fresh, x.spare, nil
	x.wakeUp()
	return nil
}

// KnownSince promises that all later marks will be at least a place.
func (x *Index) KnownSince(place uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.floor = max(x.floor, place)
}

// PostedSince reports whether anything was posted under a mixed key since a mark. It only looks in
// memory. If the mark is older than that, it returns true, and the page is judged again.
func (x *Index) PostedSince(key, mark uint64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return mark < x.floor || x.fresh.last(key) > mark || x.full != nil && x.full.last(key) > mark
}

// Forget records that the postings of some places are superseded.
func (x *Index) Forget(places []uint64) {
	x.goneMu.Lock()
	defer x.goneMu.Unlock()
	for _, place := range places {
		x.gone[place] = true
	}
}

func (x *Index) isGone(place uint64) bool {
	x.goneMu.RLock()
	defer x.goneMu.RUnlock()
	return x.gone[place]
}

func (x *Index) wakeUp() {
	select {
	case x.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// Find appends the places of a kind posted under key to dst, lowest first, at most limit of them.
// more reports whether there are others. Find skips superseded places, which may take a second,
// longer read.
func (x *Index) Find(ctx context.Context, key uint64, kind Kind, limit int, dst []uint64) (nums []uint64, more bool, err error) {
	if err := ctx.Err(); err != nil {
		return dst, false, err
	}
	key = Mixed(key, kind)
	limit = max(limit, 0)
	had := len(dst)
	for want := limit + 1; ; want *= 4 {
		if nums, err = x.collect(key, kind, want, dst[:had]); err != nil {
			return dst[:had], false, err
		}
		got := nums[had:]
		all := len(got) < want
		got = x.living(got)
		if all || len(got) > limit {
			return nums[:had+min(len(got), limit)], len(got) > limit, nil
		}
	}
}

// Among appends to dst the indexes in keys of those keys of a kind that may have been posted. The
// other keys were never posted, which saves a Find for each.
//
// Each key is elsewhere in memory. Under one lock, their cache lines are fetched in parallel. With
// a lock for each key, each fetch would wait for the one before.
func (x *Index) Among(keys []uint64, kind Kind, dst []int) []int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i, key := range keys {
		if x.maybe(Mixed(key, kind)) {
			dst = append(dst, i)
		}
	}
	return dst
}

// maybe reports whether anything may have been posted under a mixed key. The caller holds mu.
func (x *Index) maybe(key uint64) bool {
	if x.fresh.slot(key).first != 0 || x.full != nil && x.full.slot(key).first != 0 {
		return true
	}
	g := mix(key)
	for some := range slices.Chunk(x.segments, 64) {
		for maybe := firstBits(some, key, g); maybe != 0; maybe &= maybe - 1 {
			if some[bits.TrailingZeros64(maybe)].filter.has(key, g) {
				return true
			}
		}
	}
	return false
}

// collect appends the lowest places of a kind under a mixed key to dst, at most want of them.
func (x *Index) collect(key uint64, kind Kind, want int, dst []uint64) (nums []uint64, err error) {
	had := len(dst)
	x.mu.RLock()
	nums = x.fresh.find(key, kind, want, dst)
	if x.full != nil {
		nums = x.full.find(key, kind, want, nums)
	}
	segments := x.segments
	x.mu.RUnlock()
	g := mix(key)
	for some := range slices.Chunk(segments, 64) {
		for maybe := firstBits(some, key, g); maybe != 0; maybe &= maybe - 1 {
			s := some[bits.TrailingZeros64(maybe)]
			if !s.filter.has(key, g) {
				continue
			}
			if nums, err = s.find(key, kind, want, nums); err != nil {
				return dst, err
			}
		}
	}
	got := nums[had:]
	if len(got) == 0 {
		return dst, nil
	}
	slices.Sort(got)
	got = slices.Compact(got)
	return nums[:had+min(len(got), want)], nil
}

// living removes the superseded places from a list.
func (x *Index) living(list []uint64) []uint64 {
	if len(list) == 0 {
		return list
	}
	x.goneMu.RLock()
	defer x.goneMu.RUnlock()
	if len(x.gone) == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(place uint64) bool { return x.gone[place] })
}

// firstBits returns which of up to 64 segments may have a key, after checking one bit of each
// filter. It has no branch, so the processor fetches the cache lines in parallel.
func firstBits(some []*segment, key, g uint64) (maybe uint64) {
	for i, s := range some {
		maybe |= s.filter.firstBit(key, g) << i
	}
	return maybe
}
