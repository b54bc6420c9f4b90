package badger

import (
	"context"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// # The index
//
// A unique page asks for its text hash and some fourteen keys and finds nothing,
// then posts as many. As keys of badger's that is fifteen random writes a page,
// each carried through every level, and their cost rises with the index. Here
// they go the way of a log-structured merge tree (O'Neil et al., 1996) of our
// own, whose rows are 16 bytes instead of badger's 40:
//
//   - All postings of a transaction are one value in the journal, written in
//     that transaction (journal.go). The journal is what is true; all the rest
//     can be made again from it.
//   - In memory, they go into a table (table.go). When that has tablePostings,
//     another takes its place, and a goroutine writes it out as a segment
//     (segment.go): a file of sorted postings, with a filter of its keys.
//   - When there are mergeAt segments of one level, the goroutine merges them
//     into one of the next (merge.go). So a posting is written once a level, and
//     there are at most mergeAt-1 segments a level to look into.
//   - A key i in badger names the segments there are, and the last entry of the
//     journal that is in them. It is switched in one transaction after a new
//     file was synced; files it does not name are removed when a store opens.
//
// A power cut can bring back a manifest whose files were removed since, which is
// like a damaged file, below.
//
// What a kill costs is the journal after the last segment: opening reads it, at
// most two tables, some 45,000 pages of 14 keys in 6 MB. Closing in order costs
// the same, for it writes no segment either. At five million pages opening took
// 0.7 s, which is mostly the filters. A segment that is missing or has a damaged
// end is not missed: all segments are made again from the journal, five million
// pages in 12 s. A damaged block inside one is found when it is
// read: that is an error, the file is removed, and the next opening makes it good.
//
// Keys are mixed before anything else is done with them, so that any keys are
// spread as evenly as hashes, and a segment's filter is filled in order.
// Text hashes are posted like keys: the first half of a hash, under a kind of
// its own, which is the low bit of the number. The other half is compared with
// the record's. So are the ids of pages whose URL was never in the frontier, for
// as keys of badger's, in no order, they cost more the more there are.
type index struct {
	dir   string
	limit int // postings in a table
	fan   int // segments of a level that are merged
	urls  int // URLs between two files of them
	store indexStore
	// readOnly: nothing is written. What the segments do not have stays in memory.
	readOnly bool

	mu       sync.RWMutex  // guards everything up to err; not what a segment holds
	changed  sync.Cond     // when full is written, or err set
	fresh    *postingTable // what is posted goes in here
	full     *postingTable // what is being written as a segment; nil: nothing
	spare    *postingTable // an empty one
	segments []*segment    // replaced, never changed
	seq      uint64        // the last journal entry that is in fresh
	newURLs  int           // that no file of URLs has
	floor    uint64        // the last place whose postings may be in segments alone
	err      error         // what ended the goroutine

	manifest manifest // what badger knows; the goroutine's, once it runs

	goneMu sync.RWMutex
	gone   map[uint64]bool // guarded by goneMu: places whose postings find nothing any more

	waiting atomic.Bool   // full is not nil
	wake    chan struct{} // there may be something to do
	closing chan struct{}
	ended   sync.WaitGroup

	step func(string) // if set, a test's way to look at each step
}

// indexStore is what an index needs of its store.
type indexStore interface {
	saveManifest(manifest) error
	roomFor(bytes int64) bool // whether so much may be written for tidiness' sake
	writeURLs(name string) error
}

const (
	// tablePostings are 22,500 pages of 14 keys, a hash and an id, in 13 MB of
	// memory: 16 bytes for each of 2^19 slots, of which they fill 0.7, and 12 a
	// posting.
	tablePostings = 360_000
	// mergeAt is a balance: at five million pages 8 gives three levels, so each
	// posting is written three times, and ten segments on average. 4 gives four
	// levels and six segments: the fifth million took 42 µs a page instead of 38.
	mergeAt = 8
	// urlsEvery is how many URLs an opening may have to read from the journal,
	// after which their filter is written out. It is 1.3 MB for a million URLs,
	// and a tenth of a second.
	urlsEvery = 1 << 20
)

// A kind is what a posting's key is.
type kind uint64

const (
	bandKind kind = iota // a key of a sketch
	hashKind             // the first half of a text hash, or of the id of a page
)

// A posting's number has its kind as the low bit.
func kindOf(num uint64) kind             { return kind(num & 1) }
func numOf(num uint64) uint64            { return num >> 1 }
func withKind(num uint64, k kind) uint64 { return num<<1 | uint64(k) }
func indexKey(key uint64, k kind) uint64 { return mix(key ^ uint64(k)*0x9E3779B97F4A7C15) }
func (x *index) file(id uint64) string {
	return filepath.Join(x.dir, fmt.Sprintf("%06d%s", id, segmentExt))
}
func (x *index) urlFile(id uint64) string {
	return filepath.Join(x.dir, fmt.Sprintf("%06d%s", id, urlsExt))
}

const (
	segmentExt = ".postings"
	urlsExt    = ".urls"
)

// maxNum is the highest number a page may have.
const maxNum = 1<<63 - 1

// manifest is the value of the i key.
type manifest struct {
	Seq      uint64         `json:"seq"`  // the last journal entry that is in segments
	Next     uint64         `json:"next"` // id of the next file
	Segments []segmentEntry `json:"segments,omitempty"`
	URLs     uint64         `json:"urls,omitempty"`     // file of the filter of URLs; 0: none
	URLsSeq  uint64         `json:"urls_seq,omitempty"` // the last journal entry that is in it
}

type segmentEntry struct {
	ID    uint64 `json:"id"`
	Level int    `json:"level"`
}

func newIndex(dir string, s indexStore) *index {
	x := &index{
		dir: dir, limit: tablePostings, fan: mergeAt, urls: urlsEvery, store: s,
		fresh: newPostingTable(), spare: newPostingTable(),
		manifest: manifest{Next: 1}, gone: map[uint64]bool{},
		wake: make(chan struct{}, 1), closing: make(chan struct{}),
	}
	x.changed.L = &x.mu
	return x
}

// open opens the segments of a manifest. After an error there are none.
func (x *index) open(m manifest) error {
	var list []*segment
	for _, e := range m.Segments {
		s, err := openSegment(x.file(e.ID))
		if err != nil {
			closeSegments(list)
			return err
		}
		s.id, s.level, s.readOnly = e.ID, e.Level, x.readOnly
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

// removeOrphans removes the files that the manifest does not name: what a
// killed process was writing, or had merged.
func (x *index) removeOrphans() error {
	named := map[string]bool{x.urlFile(x.manifest.URLs): true}
	for _, e := range x.manifest.Segments {
		named[x.file(e.ID)] = true
	}
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(x.dir, e.Name())
		if ours := strings.HasSuffix(name, segmentExt) || strings.HasSuffix(name, urlsExt); ours && !named[name] {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// close ends the goroutine and closes the files.
func (x *index) close() error {
	close(x.closing)
	x.ended.Wait()
	closeSegments(x.segments)
	return x.err
}

// post takes what entry seq of the journal says. If the table is full and the
// one before it is still being written, it waits.
func (x *index) post(seq uint64, e *journalEntry) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seq = seq
	if x.newURLs += len(e.urls); x.newURLs >= x.urls {
		x.wakeUp()
	}
	for _, p := range e.posted {
		for _, key := range p.keys {
			x.fresh.add(posting{indexKey(key, kindOf(p.num)), p.num})
		}
	}
	x.fresh.seq = seq
	if x.fresh.len() < x.limit || x.readOnly {
		return nil
	}
	for x.full != nil && x.err == nil {
		x.changed.Wait()
	}
	if x.err != nil {
		return x.err
	}
	x.full, x.fresh, x.spare = x.fresh, x.spare, nil
	x.waiting.Store(true)
	x.wakeUp()
	return nil
}

// knownSince says that all marks will be at least a place.
func (x *index) knownSince(place uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.floor = max(x.floor, place)
}

// postedSince says whether anything was posted under a mixed key since a mark.
// What is no longer in memory it does not look up: then it says yes, and the page
// is judged again.
func (x *index) postedSince(key, mark uint64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return mark < x.floor || x.fresh.last(key) > mark || x.full != nil && x.full.last(key) > mark
}

// forget takes note that the postings of some places find nothing any more.
func (x *index) forget(places []uint64) {
	x.goneMu.Lock()
	defer x.goneMu.Unlock()
	for _, place := range places {
		x.gone[place] = true
	}
}

func (x *index) isGone(place uint64) bool {
	x.goneMu.RLock()
	defer x.goneMu.RUnlock()
	return x.gone[place]
}

func (x *index) wakeUp() {
	select {
	case x.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// find appends the places of a kind posted under key to dst, lowest first, at
// most limit of them; more says that there are others. Places that were given up
// are passed over, which may take a second, longer reading.
func (x *index) find(ctx context.Context, key uint64, kind kind, limit int, dst []uint64) (nums []uint64, more bool, err error) {
	if err := ctx.Err(); err != nil {
		return dst, false, err
	}
	key = indexKey(key, kind)
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

// collect appends the lowest places of a kind under a mixed key to dst, at most
// want of them.
func (x *index) collect(key uint64, kind kind, want int, dst []uint64) (nums []uint64, err error) {
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

// living takes the places out of a list that were given up.
func (x *index) living(list []uint64) []uint64 {
	x.goneMu.RLock()
	defer x.goneMu.RUnlock()
	if len(x.gone) == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(place uint64) bool { return x.gone[place] })
}

// firstBits says of up to 64 segments which of them may have a key, after one bit
// of each filter. There is no branch in it, so the processor fetches the cache
// lines at once, and not one after the other.
func firstBits(some []*segment, key, g uint64) (maybe uint64) {
	for i, s := range some {
		maybe |= s.filter.firstBit(key, g) << i
	}
	return maybe
}
