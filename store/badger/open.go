// Package badger is the embedded store: one folder, opened by one process, with one writer.
//
//	s, err := badger.Open("skink-data", badger.Options{Create: true})
//	defer s.Close()
//
// [Open] creates or opens a store. The store keeps every promise of package store, even when its
// process is killed. Commits before [Store.Sync] survive a power failure as well. Open refuses a folder
// that is not a store before it writes anything into it. The store stops writing before the disk is
// full.
//
// The layout on disk is specified in keys.go, and the index that finds pages in package postings.
// In memory a store keeps the latest postings, the positions of the URLs in each host's queue, and
// the counters.
//
// Other processes read an open store through the process that has it open; see [Store.Snapshot] and
// package store/remote.
package badger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"golang.org/x/sync/errgroup"

	"skink/base/batcher"
	"skink/base/lru"
	"skink/store"
	"skink/store/badger/postings"
	"skink/store/disk"
)

// Options configures [Open]. The zero value opens an existing store for reading and writing.
type Options struct {
	Create  bool         // create the store if it does not exist
	Reserve int64        // bytes of disk to keep free; 0 means 256 MiB, or 5% of a small disk; a negative number means none
	Logger  *slog.Logger // logger for badger's own messages; nil drops them
	// Temporary creates a store that is deleted after Close and cannot be opened again.
	Temporary bool
	// ReadOnly opens an existing store without changing anything in it. Other processes may read it
	// at the same time. Methods that write return an error, except Keep.
	ReadOnly bool
	Files    int // maximum number of files that the caller will have open in addition to the store

	all       bool                                            // read all tables, even those that were checked before; only with ReadOnly
	tune      func(*badgerdb.Options)                         // changes badger's settings, for tests
	index     postings.Options                                // for tests
	maxFiles  disk.Limit                                      // maximum number of files, for tests; the zero value means the limit of the system
	diskSpace func(dir string) (free, total int64, err error) // returns the free and total space of the disk, for tests; nil means to ask the system
}

// A Store holds one crawl in a folder.
//
// Its methods are in many files because it implements the whole contract of package store, each
// part of which has its own file: index, queue of URLs, hosts, pages, changes, metadata.
type Store struct {
	reader
	dir   string
	name  string // the folder named in errors: dir, or the original if dir is in a view
	db    *badgerdb.DB
	space *disk.Space
	files *disk.Files

	discovered atomic.Bool // whether there are u keys; a store of texts that were not crawled has none

	index    *postings.Index // postings under sketch keys, text hashes and ids; has its own locks
	sketches sketchCache
	texts    *textFile // nil unless the store is temporary

	commits *batcher.Batcher[*store.Entry, store.Outcome]
	handed  sync.Map      // the handedPage of each page id
	visible atomic.Uint64 // latest visit that lookups and readers can see

	mu       sync.Mutex // held by every writer; guards all fields below
	counters counters   // with the changes of the transaction being built
	last     uint64     // latest visit, committed or not
	queue    queue
	queued   bool       // whether the queue is loaded
	recent   lru.Recent // ids of known URLs
	swept    uint64     // last visit that the current sweep deleted; 0 means that no sweep is under way
	broken   error      // error of a failed write, which all later writes return; nil means that none has failed
	closed   bool
	loss     Loss
	reading  *view // nil unless the store is read-only

	life       context.Context // done when the database is about to be closed
	end        context.CancelFunc
	background sync.WaitGroup // goroutines that read the database
	full       *fullness

	syncFile    func(*os.File) error // (*os.File).Sync, except in a test
	minSweep    int64                // the constant of that name, except in a test
	beforeFlush func() error         // called before each commit, so that a test can stop there; may be nil
}

var _ store.Store = (*Store)(nil)

// Open opens the store in dir. It first checks the tables that were not checked recently (see
// [checkedTables]). A damaged store can only be read; [Store.Loss] reports what was lost. Errors from Open name
// dir. They wrap [store.ErrNotExist], [store.ErrInUse], [store.ErrCorrupt], [store.ErrFull],
// [disk.ErrFiles] or a system error. Opening a store for writing needs write permission and free
// space on the disk. Opening it with ReadOnly needs neither.
func Open(dir string, opt Options) (*Store, error) {
	if opt.ReadOnly {
		opt.Create = false
	}
	s, err := open(dir, opt)
	for tries := 0; errors.Is(err, store.ErrInUse) && tries < 5; tries++ {
		time.Sleep(20 * time.Millisecond) // a child process may briefly hold badger's lock; see lock.Try
		s, err = open(dir, opt)
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	return s, nil
}

func open(dir string, opt Options) (*Store, error) {
	if isRewritten(dir) { // a killed process has begun to replace the files
		if err := locked(dir, func() error { return takeFiles(dir) }); err != nil {
			return nil, err
		}
	}
	born, err := isStore(dir)
	switch {
	case err != nil:
		return nil, err
	case born:
		err = checkHead(dir)
	case opt.Create:
		err = os.MkdirAll(dir, 0o777)
	default:
		err = store.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	if opt.maxFiles == (disk.Limit{}) {
		opt.maxFiles = disk.MaxFiles()
	}
	files := filesOf(dir, opt)
	files.Count()
	if err := files.Check(); err != nil {
		return nil, err
	}
	if opt.ReadOnly {
		return openToRead(dir, opt)
	}
	return openToWrite(dir, born, opt)
}

func filesOf(dir string, opt Options) *disk.Files {
	return &disk.Files{Dir: dir, Exts: []string{".sst", postings.SegmentExt}, Extra: opt.Files, Limit: opt.maxFiles}
}

func openToWrite(dir string, born bool, opt Options) (*Store, error) {
	s := newStore(dir, opt)
	if err := s.space.Check(); err != nil {
		return nil, err
	}
	var err error
	checked := noneChecked()
	if born {
		if s.loss, checked, err = checkStore(dir); err != nil {
			return nil, err
		}
	}
	if err := makeDiscardFile(dir); err != nil {
		return nil, err
	}
	if s.db, err = openDB(dbOptions(dir, opt, s.full)); err != nil {
		return nil, err
	}
	if opt.Temporary {
		if s.texts, err = newTextFile(dir); err != nil {
			return nil, errors.Join(err, s.db.Close())
		}
	}
	if !opt.Temporary {
		s.files.Count()
		s.background.Go(func() { checked.list(s.life, s.files, s.db) })
	}
	return s, s.start()
}

func openToRead(dir string, opt Options) (*Store, error) {
	v, loss, err := openView(dir, opt)
	if err != nil {
		return nil, err
	}
	s, err := v.open(dir, loss, opt)
	if err != nil {
		return nil, errors.Join(err, v.close())
	}
	return s, nil
}

// open opens the view with badger.
func (v *view) open(dir string, loss Loss, opt Options) (s *Store, err error) {
	if len(loss.Damage) > 0 {
		return v.salvage(dir, loss, opt)
	}
	opt.index.ReadOnly = true
	s = newStore(dir, opt)
	s.reading, s.loss, s.broken = v, loss, errReadOnly
	how := dbOptions(v.dir, opt, s.full)
	how.ReadOnly, how.BypassLockGuard = true, true
	if s.db, err = openDB(how); err != nil {
		return nil, err
	}
	return s, s.start()
}

func newStore(dir string, opt Options) *Store {
	s := &Store{
		dir:      dir,
		name:     dir,
		space:    &disk.Space{Dir: dir, Reserve: opt.Reserve, Ask: opt.diskSpace},
		files:    filesOf(dir, opt),
		queue:    newQueue(),
		full:     newFullness(),
		syncFile: (*os.File).Sync,
		minSweep: minSweep,
	}
	s.reader.s = s
	s.life, s.end = context.WithCancel(context.Background())
	s.commits = batcher.New(s.commitAll)
	s.index = postings.New(dir, s, opt.index)
	return s
}

func (s *Store) start() error {
	if err := s.load(); err != nil {
		return errors.Join(err, s.index.Close(), s.closeFiles())
	}
	if c := s.loss.counters; c != nil {
		s.loss.Records = c.Records - s.counters.Records
	}
	return nil
}

// openDB opens badger. It converts badger's panic over a damaged file to an error.
func openDB(opt badgerdb.Options) (db *badgerdb.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = disk.Damage(fmt.Errorf("%v", r))
		}
	}()
	db, err = badgerdb.Open(opt)
	switch {
	case err == nil:
		return db, nil
	case strings.Contains(err.Error(), "Another process is using this Badger database"):
		return nil, store.ErrInUse // badger has no error value for this
	}
	return nil, disk.Damage(err)
}

// blockSize is the size in bytes of a block in badger's tables.
const blockSize = 16 << 10

// dbOptions returns the settings for badger. Badger's defaults are meant for a server: with them it
// uses about 500 MB of memory.
func dbOptions(dir string, o Options, full *fullness) badgerdb.Options {
	opt := badgerdb.DefaultOptions(dir)
	opt.ExternalMagicVersion = skinkMagic<<8 | layoutVersion
	opt.MetricsEnabled = false

	// Memory. Up to three memtables are alive: one is being filled and two are being written out.
	// Each has an arena a third larger than the memtable, and a mapped log. Badger's pool of table
	// builders takes more. There are up to eight builders. The first buffer of each is twice as
	// large as a table, and each further buffer is twice as large as the one before. The table size
	// is chosen so that a memtable fits into the first buffer. The block size is chosen so that
	// nearly all values fit into one, because a value longer than its block takes memory twice. With memtables of 8 MiB and blocks of 4 KiB, TestIndex with half a million pages used
	// 200 MB for builders and 440 MB in all. Now it uses 280 MB in all. The cost is a thousand
	// files for five million pages without texts.
	opt.MemTableSize = 7 << 20
	opt.NumMemtables = 2
	opt.BlockSize = blockSize
	opt.BaseTableSize = 4 << 20
	opt.TableSizeMultiplier = 1
	// Every table of the first level has keys of all letters. When such tables move down, they
	// overlap the whole next level except old blocks, and badger rewrites all of that. So they
	// should move down rarely, and many at once.
	opt.NumLevelZeroTables = 14
	opt.NumLevelZeroTablesStall = 28
	// A block of pages is rewritten once for each level that it passes through, so there should be
	// few levels: two up to 40 GB. The first of them is large, so that a table that moves down from it
	// overlaps few tables with states of URLs, whose keys are hashes. When tables move into it, old
	// blocks are not rewritten, because they do not overlap. In a crawl of 600,000 pages, badger
	// wrote 15 KB a page, and 20 KB when this level had 128 MB.
	opt.BaseLevelSize = 1 << 30
	opt.LevelSizeMultiplier = 40
	// Texts, links and records are compressed already, and keys are hashes. With compression, each
	// table builder would hold every block both compressed and uncompressed, which takes 50% more
	// memory.
	opt.Compression = options.None
	// Blocks are read from the mapped tables. The cache only records that they were found
	// undamaged, in a few hundred bytes per block. But badger counts a block as twice the size of
	// the rest of its mapped table, which is about 4 MB. This size leaves room for 500 blocks,
	// which contain 8 MB. With a size of 8 MB there was room for only two blocks, so nearly every
	// read of a key verified its whole block again.
	opt.BlockCacheSize = 2 << 30
	// This setting is used only with encryption. Without encryption, an index is read from its
	// mapped table. The value 0 would mean no limit.
	opt.IndexCacheSize = 8 << 20
	// Badger requires at least two compactors, one of which is for the first level.
	opt.NumCompactors = 2

	// All values stay in the tables, because none is larger than partSize; see keys.go. So the
	// value log stays empty and needs no garbage collection. While the store is open, the file of
	// the value log is twice the size set here.
	opt.ValueThreshold = 2 * partSize
	opt.ValueLogFileSize = 1 << 20 // the minimum that badger accepts

	// There is a single writer, which holds a lock, so transactions cannot conflict.
	opt.DetectConflicts = false
	// The log is a mapped file, so data written to it survives the end of the process. Sync makes
	// it survive a power failure.
	opt.SyncWrites = false

	// Report an error when a damaged block is read. By default, badger would return wrong data.
	opt.ChecksumVerificationMode = options.OnBlockRead

	opt.Logger = logger{o.Logger, full}
	if o.tune != nil {
		o.tune(&opt)
	}
	return opt
}

// Sync makes all commits survive a power failure. Badger syncs only the log that is being filled, so
// Sync first syncs the other logs. It does nothing in a temporary store, which is useless after a
// power failure.
func (s *Store) Sync() error {
	if s.reading != nil || s.texts != nil {
		return nil
	}
	if err := errors.Join(syncLogs(s.dir, s.syncFile), s.db.Sync()); err != nil {
		return fmt.Errorf("sync store %s: %w", s.name, err)
	}
	return nil
}

// Loss returns a summary of the data that was found to be lost when the store was opened. The URLs
// of lost pages are pending again.
func (s *Store) Loss() Loss {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loss
}

// Close ends all claims, and syncs and closes the files. A second Close does nothing. If the disk
// is full, Close returns [store.ErrFull]. It then leaves the files as a killed process would, and
// another process can open the store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.index.Close()
	s.broken = errClosed
	err = cmp.Or(err, s.closeFiles()) // on a full disk, both calls return the same error
	if err := s.fullError(err); err != nil {
		return fmt.Errorf("close store %s: %w", s.name, err)
	}
	return nil
}

func (s *Store) closeFiles() error {
	s.end()
	s.background.Wait()
	var group errgroup.Group
	if s.texts != nil {
		group.Go(s.texts.remove)
	}
	err := errors.Join(s.full.wait(s.db.Close), group.Wait())
	if s.reading != nil {
		err = errors.Join(err, s.reading.close())
	}
	return err
}

var errReadOnly = errors.New("store is open read-only")

var errClosed = errors.New("store is closed")

// logger passes badger's messages to slog. Badger logs compactions and levels at info level. These
// messages help to debug a store but not to follow a crawl, so they are logged at debug level.
// Warnings and errors are also passed to full, which looks for the error for a full disk.
type logger struct {
	to   *slog.Logger // nil means that messages are dropped
	full *fullness
}

func (l logger) Errorf(format string, a ...any)   { l.log(slog.LevelError, format, a) }
func (l logger) Warningf(format string, a ...any) { l.log(slog.LevelWarn, format, a) }
func (l logger) Infof(format string, a ...any)    { l.log(slog.LevelDebug, format, a) }
func (l logger) Debugf(string, ...any)            {}

func (l logger) log(level slog.Level, format string, a []any) {
	if level >= slog.LevelWarn {
		l.full.hear(a)
	}
	if l.to != nil {
		l.to.Log(context.Background(), level, message(format, a))
	}
}

func message(format string, a []any) string {
	return "badger: " + strings.TrimSpace(fmt.Sprintf(format, a...))
}
