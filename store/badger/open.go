// Package badger is the embedded store: one folder, one process, one writer.
//
//	s, err := badger.Open("skink-data", badger.Options{Create: true})
//	defer s.Close()
//
// [Open] makes or opens it. It keeps every promise of package store, also to a
// process that is killed; what was committed before [Store.Sync] survives a
// power cut as well. It refuses folders that are not its own before it writes
// anything into them, and stops writing before the disk is full.
//
// How a store looks on disk stands in keys.go, and how a page is found by what
// package postings says. In memory it keeps filters of the keys there are, the
// postings that came last, the ends of each host's queue, and the counters.
//
// Other processes read an open store through the one that has it, see [Store.Snapshot]
// and package store/remote.
package badger

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"skink/store"
	"skink/store/badger/postings"
)

// Options says how to open a store. The zero value opens one that exists.
type Options struct {
	Create  bool         // make the store if there is none
	Reserve int64        // bytes of disk to keep free; 0: 256 MiB, or 5 % of a small disk; negative: none
	Logger  *slog.Logger // where badger's own messages go; nil: nowhere
	// ReadOnly opens a store that exists and changes nothing in its folder. Others may
	// read it at the same time. What writes is refused.
	ReadOnly bool
	Files    int // that the caller will have open beside the store, at most

	tune      func(*badgerdb.Options)                         // changes badger's settings, for tests
	index     postings.Options                                // for tests
	diskSpace func(dir string) (free, total int64, err error) // nil: the system's
}

// space is how the free space of a folder is looked up.
func (o *Options) space() func(dir string) (free, total int64, err error) {
	if o.diskSpace != nil {
		return o.diskSpace
	}
	return diskSpace
}

// A Store is a crawl remembered in a folder.
type Store struct {
	dir  string
	name string // what a person calls it: dir, or the folder that dir is a mended copy of
	db   *badgerdb.DB
	disk disk

	// A filter of the keys u, and what is posted under keys and text hashes. They
	// have their own locks.
	urls  postings.Filter
	index *postings.Index

	line    commitLine
	visible atomic.Uint64 // the last place that look-ups and readers can see

	mu        sync.Mutex // held by every writer, and guards everything below
	counters  counters   // as they will be after the transaction being built
	last      uint64     // the last place given
	seq       uint64     // the last journal entry
	queue     queue
	recent    recent
	opened    uint64 // the last place when the store was opened
	lately    lately
	workspace *workspace
	broken    error // why nothing more can be written
	closed    bool
	loss      Loss
	reading   *view // of a store that is only read

	mapped mapped

	syncFile    func(*os.File) error // (*os.File).Sync but in a test
	beforeFlush func() error         // if set, a test's way to stop between transactions
}

var _ store.Store = (*Store)(nil)

// Open opens the store in dir, which reads all of its tables. What is damaged is mended
// first, and [Store.Loss] says what it cost. Its errors name dir, and wrap
// [store.ErrNotExist], [store.ErrInUse], [store.ErrCorrupt], [store.ErrFull] and
// [ErrFiles], or what the system said: writing takes the right to write and room on the
// disk, reading alone does not.
func Open(dir string, opt Options) (*Store, error) {
	if opt.ReadOnly {
		opt.Create = false
	}
	s, err := open(dir, opt)
	for tries := 0; errors.Is(err, store.ErrInUse) && tries < 5; tries++ {
		time.Sleep(20 * time.Millisecond) // badger leaves its lock for a moment to a child, see tryLock
		s, err = open(dir, opt)
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	return s, nil
}

func open(dir string, opt Options) (*Store, error) {
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
	if err := checkFiles(dir, opt.Files, FileLimit()); err != nil {
		return nil, err
	}
	if opt.ReadOnly {
		return openToRead(dir, opt)
	}
	return openToWrite(dir, born, opt)
}

func openToWrite(dir string, born bool, opt Options) (*Store, error) {
	s := newStore(dir, opt)
	if err := s.disk.check(); err != nil {
		return nil, err
	}
	var err error
	if born {
		if s.loss, err = checkStore(dir); err != nil {
			return nil, err
		}
	}
	if s.db, err = openDB(dbOptions(dir, opt)); err != nil {
		return nil, err
	}
	if len(s.loss.Damage) > 0 {
		if err := s.mendAll(); err != nil {
			return nil, errors.Join(fmt.Errorf("mend the store: %w", err), s.db.Close())
		}
	}
	return s, s.start()
}

// mendAll mends what was damaged, and then forgets about it.
func (s *Store) mendAll() error {
	if err := s.mend(); err != nil {
		return err
	}
	return os.Remove(filepath.Join(s.dir, damageFile))
}

// openToRead opens a view of a store.
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

// open opens badger in the view.
func (v *view) open(dir string, loss Loss, opt Options) (s *Store, err error) {
	if v.damaged {
		opt.ReadOnly, opt.Reserve = false, -1
		if s, err = openToWrite(v.dir, true, opt); err != nil {
			return nil, err
		}
		s.reading, s.broken, s.name = v, errReadOnly, dir
		return s, nil
	}
	opt.index.ReadOnly = true
	s = newStore(dir, opt)
	s.reading, s.loss, s.broken = v, loss, errReadOnly
	how := dbOptions(v.dir, opt)
	how.ReadOnly, how.BypassLockGuard = true, true
	if s.db, err = openDB(how); err != nil {
		return nil, err
	}
	return s, s.start()
}

func newStore(dir string, opt Options) *Store {
	s := &Store{
		dir:       dir,
		name:      dir,
		disk:      disk{dir: dir, reserve: opt.Reserve, space: opt.space()},
		queue:     newQueue(),
		recent:    newRecent(),
		lately:    newLately(),
		workspace: newWorkspace(),
		syncFile:  (*os.File).Sync,
	}
	s.index = postings.New(dir, s, opt.index)
	return s
}

// start reads what is kept in memory.
func (s *Store) start() error {
	s.mapped.watch(s.db)
	if err := s.load(); err != nil {
		return errors.Join(err, s.index.Close(), s.closeFiles())
	}
	if c := s.loss.counters; c != nil {
		s.loss.Records = c.Records - s.counters.Records
	}
	return nil
}

// openDB opens badger, which panics over some damaged files.
func openDB(opt badgerdb.Options) (db *badgerdb.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = damage(fmt.Errorf("%v", r))
		}
	}()
	db, err = badgerdb.Open(opt)
	switch {
	case err == nil:
		return db, nil
	case strings.Contains(err.Error(), "Another process is using this Badger database"):
		return nil, store.ErrInUse // badger has no error value for it
	}
	return nil, damage(err)
}

// blockSize is that of badger's tables.
const blockSize = 16 << 10

// dbOptions are badger's settings. Its defaults are for a server: they keep
// some 500 MB.
func dbOptions(dir string, o Options) badgerdb.Options {
	opt := badgerdb.DefaultOptions(dir)
	opt.ExternalMagicVersion = skinkMagic<<8 | layoutVersion
	opt.MetricsEnabled = false

	// Memory. Up to three memtables are alive, one being filled and two being
	// written out, each with an arena a third larger and a mapped log. More than
	// they, it is badger's pool of table builders that counts: up to eight, each
	// with a first buffer of twice a table, and then others that double. So the
	// tables are such that what a memtable becomes fits into that first buffer, in
	// blocks that a journal entry of 64 pages fits into: for a value longer than
	// its block memory is taken twice. With memtables of 8 MiB and blocks of 4 KiB
	// half a million pages of TestIndex had 200 MB in builders and held 440 MB in
	// all, now 280. The price is a thousand files for five million pages without texts.
	opt.MemTableSize = 7 << 20
	opt.NumMemtables = 2
	opt.BlockSize = blockSize
	opt.BaseTableSize = 4 << 20
	opt.TableSizeMultiplier = 1
	// Every table of the first level has keys of all letters, so what goes down
	// from it meets all of the next level but old blocks, and drags it along:
	// better seldom, and with much to bring.
	opt.NumLevelZeroTables = 14
	opt.NumLevelZeroTablesStall = 28
	// Blocks of pages pass through a level at the cost of one more writing, and
	// never come back up, so there should be few levels: two up to 5 GB, three up
	// to 200. It is the first of them, which every compaction meets, that must
	// stay small.
	opt.BaseLevelSize = 128 << 20
	opt.LevelSizeMultiplier = 40
	// Texts are packed already, keys are hashes: only records would shrink, from
	// 2.7 to 2.1 KB a page in all, and each builder would hold both forms of
	// its blocks, half as much memory again.
	opt.Compression = options.None
	// Blocks are read from the mapped tables; what is cached is that they were found
	// undamaged, a few hundred bytes a block. But badger counts each as what is left of
	// its mapped table behind it, twice: some 4 MB. So this is room for 500 blocks, which
	// hold 8 MB: with 8 MB here it was room for two, and nearly each reading of a key
	// checked the whole of its block again.
	opt.BlockCacheSize = 2 << 30
	// Only used with encryption, else an index is read from its mapped table.
	// 0 would mean no bound.
	opt.IndexCacheSize = 8 << 20
	// The least that badger takes; one of them is for the first level.
	opt.NumCompactors = 2

	// Values stay in the tables: none is larger than a part, see keys.go. So the
	// value log stays empty, and there is nothing in it to collect. Its file is
	// sparse, twice this size.
	opt.ValueThreshold = 2 * partSize
	opt.ValueLogFileSize = 4 << 20

	// One writer under a lock: nothing can conflict.
	opt.DetectConflicts = false
	// The log is mapped, so what is written to it survives the process. Sync
	// makes it survive a power cut.
	opt.SyncWrites = false

	// A damaged block is an error instead of nonsense.
	opt.ChecksumVerificationMode = options.OnBlockRead

	opt.Logger = nil
	if o.Logger != nil {
		opt.Logger = logger{o.Logger}
	}
	if o.tune != nil {
		o.tune(&opt)
	}
	return opt
}

// Sync makes all that was committed survive a power cut. Badger syncs only the log
// that is being filled, so the others are synced before it.
func (s *Store) Sync() error {
	if s.reading != nil {
		return nil
	}
	if err := errors.Join(syncLogs(s.dir, s.syncFile), s.db.Sync()); err != nil {
		return fmt.Errorf("sync store %s: %w", s.name, err)
	}
	return nil
}

// Loss is what was found to be lost when the store was opened. It is pending again.
func (s *Store) Loss() Loss {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loss
}

// Close ends all claims and closes the files, which syncs them. Closing again
// does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.index.Close()
	s.broken = errClosed
	if err := errors.Join(err, s.closeFiles()); err != nil {
		return fmt.Errorf("close store %s: %w", s.name, err)
	}
	return nil
}

func (s *Store) closeFiles() error {
	s.mapped.stop()
	err := s.db.Close()
	if s.reading != nil {
		err = errors.Join(err, s.reading.close())
	}
	return err
}

var errReadOnly = errors.New("store was opened to be read")

var errClosed = errors.New("store is closed")
