// Package postings implements an index on disk. It finds the visits of pages that were added under
// a key: a band of a sketch, a text hash, or a page id. It uses its store only through
// [ManifestStore].
//
// Start with [New], [Index.Open] and [Index.Start]. Then use [Index.Post] and [Index.Find].
//
// # The index
//
// The lookup of a unique page searches for its text hash and some fourteen keys, and finds
// nothing. Then the page is added under all of them. As badger keys, these would be fifteen random
// writes per page, each rewritten in every level, and their cost would rise with the size of the
// index. So postings have their own log-structured merge tree (O'Neil et al., 1996), with rows of
// 16 bytes instead of badger's 40:
//
//   - Each posting follows from what the store keeps of its visit, and is added when the transaction
//     with the record of the visit has been committed. So the index can be rebuilt from the visits.
//   - In memory, postings go into a table (table.go). When the table has tablePostings postings, a
//     new table replaces it, and a goroutine writes it as a segment (segment.go): a file of sorted
//     postings, with a filter for its keys.
//   - When there are mergeAt segments of one level, the goroutine merges them into one segment of
//     the next level (merge.go). So a posting is written once per level, and a lookup reads at most
//     mergeAt-1 segments per level.
//   - The badger key i contains the manifest: the names of the existing segments, and the last
//     visit whose postings are in them. It is changed in one transaction after a
//     new file has been synced. Files that the manifest does not name are removed when a store is
//     opened.
//
// After a power failure, the manifest may be an older one, whose files have since been removed. That is
// handled like a damaged file; see below.
//
// When a store is opened, the visits that are in no segment are read. They fill at most
// two tables: some 45,000 pages with 14 keys each, in 6 MB. This is true even after a clean close,
// which writes no segment. The heads of all segments, some 25 bytes per page, are read once to
// verify their checksums. If a segment is missing or has a damaged head or end, all segments are
// rebuilt from the visits: 300,000 pages in 1.4 s. A damaged block inside a segment is found
// when it is read. The lookup then returns an error, the file is removed, and the next opening
// rebuilds the index.
//
// All keys are hashed first (see [Mixed]), so that they are spread evenly and a segment's filter
// can be filled in order. Text hashes are indexed like keys of sketches: the first half of the hash
// is the key. The caller compares the other half with the record. The ids of pages whose URL was never in the frontier are indexed
// in the same way. If they were badger keys, in random order, their cost would grow with their
// number.
//
// # Comparison with plain keys
//
// A simpler design keeps postings as plain keys of badger: for each key a list of visits, and a
// Bloom filter of all keys in memory, so that the lookups of a unique page read nothing from disk.
// It would save some 650 lines. Both were measured alternately, on two processors that were also
// doing other work: crawls of 3,907 pages of a manual (16 crawls with each), dedup of a million
// texts of 100 words (63% of them unique), and TestIndex with a million pages. Processor time is
// user and system time.
//
//	                                  this package   plain keys
//	crawl, processor time a page      1.30 ms        1.40 ms
//	dedup, processor time a text      0.22 ms        0.43 ms
//	dedup, bytes a text on disk       1,340          1,532
//	dedup, peak memory                690 MB         756 MB
//	TestIndex, processor time a page  33 µs          144 µs
//	the same, for the last quarter    39 µs          194 µs
//	TestIndex, pages a second         8,000          1,800
//	TestIndex, bytes a page on disk   923            1,215
//	TestIndex, peak memory            500 MB         601 MB
//
// Plain keys are random, so each compaction rewrites all of them, and their cost grows with the
// index. This is why this package exists.
package postings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"skink/base/splitmix"
)

// Options configures an index. The zero value uses the defaults.
type Options struct {
	Table int // number of postings in memory that are written as one segment; 0 means 360,000
	Fan   int // number of segments of one level that are merged into one; 0 means 8
	// ReadOnly means that the index writes nothing. Postings that are in no segment stay in memory.
	ReadOnly bool
	// Step, if not nil, is called with the name of each step that has changed files. A test may
	// kill the process in Step.
	Step func(step string)
}

// An Index finds the visits that were added under a key.
type Index struct {
	dir   string
	store ManifestStore
	opt   Options

	mu       sync.RWMutex  // guards the fields up to err, but not the content of segments
	changed  sync.Cond     // signaled when the full table has been written or err has been set
	fresh    *postingTable // the table that Post adds postings to
	full     *postingTable // the full table that is being written as a segment, or nil
	spare    *postingTable // an empty table, which becomes fresh when fresh is full
	segments []*segment    // all segments; the slice is replaced as a whole and never modified
	floor    uint64        // last visit whose postings may be only in segments; the postings of all later visits are in fresh or full
	err      error         // error that ended the index's goroutine

	manifest Manifest // as last stored in badger; after Start only the index's goroutine uses it

	goneMu sync.RWMutex
	gone   map[uint64]bool // guarded by goneMu: visits that Find skips, because later visits replaced them

	wake    chan struct{} // tells the goroutine to look for a full table or for segments to merge
	closing chan struct{}
	ended   sync.WaitGroup
}

// A ManifestStore is the part of a store that an index uses.
type ManifestStore interface {
	SaveManifest(Manifest) error // stores the manifest so that it survives if the process is killed
	RoomFor(bytes int64) bool    // reports whether the disk has room for an optional file of the given size
}

const (
	// tablePostings is the default number of postings in memory at which they are written as a
	// segment. It is enough for 22,500 pages with 16 postings each. The table then takes 13 MB: 16
	// bytes for each of 2^19 slots, of which 70% are used, and 12 bytes for each posting.
	tablePostings = 360_000
	// mergeAt is the default number of segments of one level that are merged into one segment of
	// the next level. With a larger number, postings are rewritten less often, but a lookup reads
	// more segments. At five million pages, a value of 8 gives three levels and ten segments on
	// average, so each posting is written three times. A value of 4 gives four levels and six
	// segments, and was slower: the fifth million pages took 42 µs per page instead of 38.
	mergeAt = 8
)

// A Kind is the kind of a posting's key.
type Kind uint64

const (
	Band Kind = iota // the key is an index key of a sketch; see dedup.Scheme.Keys
	Hash             // the key is the first half of a text hash or page id
)

// Mixed returns a hash of a key and its kind. The index stores and looks up these hashes, because
// they are evenly distributed even if the keys are not. Keys of different kinds rarely have the same hash,
// and the caller compares what it finds with the record or the text.
func Mixed(key uint64, k Kind) uint64 { return splitmix.Mix(key ^ uint64(k)*0x9E3779B97F4A7C15) }

// File returns the path of the segment file with the given id.
func (x *Index) File(id uint64) string {
	return filepath.Join(x.dir, fmt.Sprintf("%06d%s", id, SegmentExt))
}

// SegmentExt is the extension of the files of an index.
const SegmentExt = ".postings"

// A Manifest names the segment files that make up an index. The store keeps it; see
// [ManifestStore].
type Manifest struct {
	Last     uint64 // last visit whose postings are in the segments
	Next     uint64 // id for the next new segment
	Segments []SegmentEntry
}

// A SegmentEntry identifies one segment file.
type SegmentEntry struct {
	ID    uint64
	Level int
}

// New returns an index whose files are in dir.
func New(dir string, s ManifestStore, opt Options) *Index {
	opt.Table, opt.Fan = cmp.Or(opt.Table, tablePostings), cmp.Or(opt.Fan, mergeAt)
	x := &Index{
		dir: dir, store: s, opt: opt,
		fresh: newPostingTable(), spare: newPostingTable(),
		manifest: Manifest{Next: 1}, gone: map[uint64]bool{},
		wake: make(chan struct{}, 1), closing: make(chan struct{}),
	}
	x.changed.L = &x.mu
	return x
}

// Open opens the segments named in a manifest. If one cannot be opened, Open closes the others and
// returns the error.
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
		s.close()
	}
}

// removeOrphans removes the segment files that the manifest does not name. They were left by a
// process that was killed while writing a segment or after merging segments.
func (x *Index) removeOrphans() error {
	named := map[string]bool{}
	for _, e := range x.manifest.Segments {
		named[x.File(e.ID)] = true
	}
	entries, err := os.ReadDir(x.dir)
	for _, e := range entries {
		name := filepath.Join(x.dir, e.Name())
		if filepath.Ext(name) == SegmentExt && !named[name] {
			err = errors.Join(err, os.Remove(name))
		}
	}
	return err
}

// Close stops the goroutine and closes the files.
func (x *Index) Close() error {
	close(x.closing)
	x.ended.Wait()
	closeSegments(x.segments)
	return x.err
}

// Posted is a visit and the keys under which Post adds it.
type Posted struct {
	Num  uint64 // number of the visit
	Kind Kind   // of the keys
	Keys []uint64
}

// Post adds all postings of some visits to the table in memory. Each visit comes after those of earlier
// calls. If the table is full and the previous table is still being written to disk, Post waits.
func (x *Index) Post(list []Posted) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range list {
		for _, key := range p.Keys {
			x.fresh.add(posting{Mixed(key, p.Kind), p.Num})
		}
	}
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

// KnownSince tells the index that the mark in later calls to PostedSince will be at least place.
func (x *Index) KnownSince(place uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.floor = max(x.floor, place)
}

// PostedSince reports whether a visit with a number above mark was added under key, a hash from
// [Mixed]. It looks only at postings in memory. If mark is so old that later postings may be only
// on disk, it returns true. The caller then judges its page a second time, perhaps unnecessarily.
func (x *Index) PostedSince(key, mark uint64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return mark < x.floor || x.fresh.last(key) > mark || x.full != nil && x.full.last(key) > mark
}

// Forget makes Find skip the visits whose numbers are in places, because later visits replaced
// them.
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
	default: // a wake-up is already pending
	}
}

// Find appends to dst the numbers of up to limit visits that were added under a key of the given
// kind, lowest first. more reports whether there are further visits. Visits passed to Forget are
// left out. If that leaves too few, Find reads again with a higher limit.
func (x *Index) Find(ctx context.Context, key uint64, kind Kind, limit int, dst []uint64) (nums []uint64, more bool, err error) {
	if err := ctx.Err(); err != nil {
		return dst, false, err
	}
	key = Mixed(key, kind)
	limit = max(limit, 0)
	had := len(dst)
	for want := limit + 1; ; want *= 4 {
		if nums, err = x.collect(key, want, dst[:had]); err != nil {
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

// Among appends to dst the index i of each keys[i] that may be in the index with the given kind.
// The other keys are certainly not in the index, so the caller need not call Find for them.
//
// Among checks all keys under one lock, because each key is in a different cache line of a filter,
// and the processor can fetch these lines in parallel. If the lock were taken for each key, the
// processor would fetch one line after another.
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

// maybe reports whether the index may contain key, a hash from [Mixed]. If the result is false, the
// index certainly does not contain it. The caller holds mu.
func (x *Index) maybe(key uint64) bool {
	if x.fresh.slot(key).first != 0 || x.full != nil && x.full.slot(key).first != 0 {
		return true
	}
	g := splitmix.Mix(key)
	for some := range slices.Chunk(x.segments, 64) {
		for maybe := firstBits(some, key, g); maybe != 0; maybe &= maybe - 1 {
			if some[bits.TrailingZeros64(maybe)].filter.has(key, g) {
				return true
			}
		}
	}
	return false
}

// collect appends to dst the numbers of the first want visits that were added under key, a hash
// from [Mixed]. It includes visits passed to Forget.
func (x *Index) collect(key uint64, want int, dst []uint64) (nums []uint64, err error) {
	had := len(dst)
	x.mu.RLock()
	nums = x.fresh.find(key, want, dst)
	if x.full != nil {
		nums = x.full.find(key, want, nums)
	}
	segments := x.segments
	x.mu.RUnlock()
	g := splitmix.Mix(key)
	for some := range slices.Chunk(segments, 64) {
		for maybe := firstBits(some, key, g); maybe != 0; maybe &= maybe - 1 {
			s := some[bits.TrailingZeros64(maybe)]
			if !s.filter.has(key, g) {
				continue
			}
			if nums, err = s.find(key, want, nums); err != nil {
				return dst, err
			}
		}
	}
	runtime.KeepAlive(segments) // a merge may have replaced the segments, and an unreferenced segment is unmapped
	got := nums[had:]
	if len(got) == 0 {
		return dst, nil
	}
	slices.Sort(got)
	got = slices.Compact(got)
	return nums[:had+min(len(got), want)], nil
}

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

// firstBits checks one bit of the filter of each of up to 64 segments. Bit i of the result is set
// if segment i may contain the key. key is a hash from [Mixed], and g is splitmix.Mix(key). The loop has no
// branch, so the processor fetches the filters' cache lines in parallel.
func firstBits(some []*segment, key, g uint64) (maybe uint64) {
	for i, s := range some {
		maybe |= s.filter.firstBit(key, g) << i
	}
	return maybe
}
