// Package archive keeps the answers of a crawl as web archives, in step with its store. What a WARC
// file is, package warc knows; how it becomes pages again, package internal/replay.
//
// An [Archive] commits pages, so that none is in the store without being in the archive: see
// commit.go. [Open] brings the two in step after a crash.
package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"skink/crawler/wire"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/replay"
	"skink/store"
	"skink/store/badger/disk"
	"skink/warc"
)

// Options is how an archive is written. The zero value is good.
type Options struct {
	Size   int64       // bytes after which a file is closed and the next begun; 0: [DefaultSize]
	Digest warc.Digest // default SHA256
	Info   warc.Header // what each file says of itself: software, operator, user agent
	Worker string      // of those that share the store, each of which has files of its own; "": nobody shares it
}

// DefaultSize is what archives have agreed upon for a file.
const DefaultSize = 1 << 30

// mostEntries is how many answers a file holds at most, for their part of the index is in memory
// until the file is closed: some 60 MB.
const mostEntries = 250_000

// A Store is what an archive needs of one.
type Store interface {
	Commit(ctx context.Context, entries []*store.Entry) ([]store.Outcome, error)
	Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error]
	Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error)
	End(ctx context.Context) (store.Cursor, error)
	Meta(ctx context.Context, name string) ([]byte, error)
	SetMeta(ctx context.Context, name string, value []byte) error
	SwapMeta(ctx context.Context, name string, old, value []byte) error
	Requeue(ctx context.Context, items []frontier.Item) (int, error)
}

// An Archive is the files of a crawl that is running. Its methods may be called by several
// goroutines.
//
// A file is called NAME.warc.gz.open as long as it is written, and NAME.warc.gz when it is whole;
// then NAME.cdxj, its index, stands beside it.
type Archive struct {
	dir   string
	store Store
	opt   Options
	pack  warc.Options
	line  line

	mu      sync.Mutex
	mark    mark         // guarded by mu: of the file that is open
	file    *os.File     // guarded by mu; nil: closed
	unlock  func()       // guarded by mu: gives up the file's lock; nil: it is given up
	at      int64        // guarded by mu: where the next record goes
	entries []warc.Entry // guarded by mu: of the file
	failed  error        // guarded by mu: why nothing more can be written
}

// A mark is what a store knows of its archive.
type mark struct {
	Dir    string       `json:"dir"`
	Crawl  string       `json:"crawl"`  // begins the names of its files
	Serial int          `json:"serial"` // of the file that is open
	Cursor store.Cursor `json:"cursor"` // what was committed up to here is in the files before
}

// markName is where a store keeps the mark of a worker.
func markName(worker string) string {
	if worker == "" {
		return "archive"
	}
	return "archive/" + worker
}

// name is that of the file that is open, once it is whole.
func (m *mark) name() string { return fmt.Sprintf("%s-%05d.warc.gz", m.Crawl, m.Serial) }

// path is where the archive has a file.
func (a *Archive) path(name string) string { return filepath.Join(a.dir, name) }

const opening = replay.Opening

// begin begins the file that the mark names. The store knows of it before it is there, so that
// none is left behind of which nobody knows.
func (a *Archive) begin(ctx context.Context) error {
	if err := a.writeMark(ctx); err != nil {
		return err
	}
	name := a.mark.name()
	info, err := warc.NewInfo(name, time.Now(), a.opt.Info)
	if err != nil {
		return err
	}
	first, err := a.pack.Append(nil, info)
	if err != nil {
		return err
	}
	path := a.path(name + opening)
	a.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	unlock, free, err := disk.TryLock(path)
	if err == nil && !free {
		return fmt.Errorf("%s: %w", path, ErrLocked)
	}
	a.unlock = unlock // nil if the file system has no locks: nobody adopts the file then
	a.at, a.entries = 0, nil
	if err := a.write(first); err != nil {
		return err
	}
	a.at = int64(len(first))
	return nil
}

// following begins the file after the one that the mark names. All that was committed is in others.
func (a *Archive) following(ctx context.Context) error {
	cursor, err := a.store.End(ctx)
	if err != nil {
		return err
	}
	a.mark.Serial++
	a.mark.Cursor = cursor
	return a.begin(ctx)
}

// write writes behind what is certain.
func (a *Archive) write(b []byte) error {
	_, err := a.file.WriteAt(b, a.at)
	return err
}

// free gives up the lock of the file that is or was open.
func (a *Archive) free() {
	if a.unlock != nil {
		a.unlock()
	}
	a.unlock = nil
}

// finish closes the file that is open.
func (a *Archive) finish() error {
	f := a.file
	a.file = nil
	defer a.free()
	return finish(f, a.mark.name(), a.at, a.entries)
}

// finish closes a file at its end: its index first, so that no file is called whole without one.
func finish(f *os.File, name string, end int64, entries []warc.Entry) error {
	err := errors.Join(f.Truncate(end), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	whole := filepath.Join(filepath.Dir(f.Name()), name)
	if err := writeIndex(indexName(whole), entries); err != nil {
		return err
	}
	return os.Rename(f.Name(), whole)
}

// writeIndex writes the index of a file. It has its name when it is whole.
func writeIndex(to string, entries []warc.Entry) error {
	f, err := os.Create(to + opening)
	if err != nil {
		return err
	}
	if err := errors.Join(warc.WriteIndex(f, entries), f.Close()); err != nil {
		return err
	}
	return os.Rename(to+opening, to)
}

// next closes the file that is open and begins the next.
func (a *Archive) next(ctx context.Context) error {
	if err := a.finish(); err != nil {
		return err
	}
	return a.following(ctx)
}

// full says whether the next record belongs into another file.
func (a *Archive) full() bool { return a.at >= a.size() || len(a.entries) >= mostEntries }

func (a *Archive) size() int64 { return cmp.Or(a.opt.Size, DefaultSize) }

// Keep keeps an answer that is no page of the store. What goes wrong, the next commit says.
func (a *Archive) Keep(raw *wire.Raw) {
	p, err := a.answer(raw, replay.NotPage, "")
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil && a.failed == nil {
		err = a.append(p)
	}
	a.fail(err)
}

// append writes an answer.
func (a *Archive) append(p packed) error {
	if a.full() {
		if err := a.next(context.Background()); err != nil { // what it writes is short
			return err
		}
	}
	if err := a.write(p.records); err != nil {
		return err
	}
	a.wrote(p)
	return nil
}

// wrote counts an answer that was written.
func (a *Archive) wrote(p packed) {
	if p.index.URL != "" {
		p.index.Offset, p.index.File = a.at, a.mark.name()
		a.entries = append(a.entries, p.index)
	}
	a.at += int64(len(p.records))
}

// fail ends the writing with an error, if there is one.
func (a *Archive) fail(err error) {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("%w: %w; make room and run the command again", store.ErrFull, err)
	}
	if err != nil && a.failed == nil {
		a.failed = fmt.Errorf("write the archive in %s: %w", a.dir, err)
	}
}

// Sync makes what was written survive a power cut. It is to come before the store's.
func (a *Archive) Sync() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed == nil {
		a.fail(a.file.Sync())
	}
	return a.failed
}

// Close closes the last file. Nothing may be committed any more.
func (a *Archive) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer a.free()
	if a.failed == nil {
		a.fail(a.finish())
	}
	if a.file != nil {
		return errors.Join(a.failed, a.file.Close())
	}
	return a.failed
}
