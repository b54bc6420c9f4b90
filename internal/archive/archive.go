// Package archive writes the responses of a crawl to web archives that stay consistent with its
// store. Package warc defines the format of WARC files, and package internal/corpus turns them back
// into pages.
//
// An [Archive] also commits the pages to the store, so each page in the store is in the archive;
// see commit.go. [Open] makes the two consistent after a crash.
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
	"skink/internal/corpus"
	"skink/internal/lock"
	"skink/store"
	"skink/warc"
)

// Options configures how an archive is written. The zero value uses the defaults.
type Options struct {
	Size   int64       // size in bytes at which a file is closed and the next one begins; 0 means [DefaultSize]
	Digest warc.Digest // hash algorithm of the digests; "" means SHA256
	Info   warc.Header // fields for the warcinfo record of each file, such as software, operator and user agent
	Worker string      // name of this worker, if several share the store and so write separate files; "" means that there is only one
}

// DefaultSize is the default size in bytes at which a new file begins. Most web archives use about
// this size.
const DefaultSize = 1 << 30

// maxEntries is the maximum number of responses in one file. The index of the open file is in
// memory, and takes about 60 MB for that many.
const maxEntries = 250_000

type RecordStore interface {
	Commit(ctx context.Context, entries []*store.Entry) ([]store.Outcome, error)
	Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error]
	Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error)
	End(ctx context.Context) (store.Cursor, error)
	Meta(ctx context.Context, name string) ([]byte, error)
	SetMeta(ctx context.Context, name string, value []byte) error
	SwapMeta(ctx context.Context, name string, old, value []byte) error
	Requeue(ctx context.Context, items []frontier.Item) (int, error)
}

// An Archive writes the files of a running crawl. Its methods are safe for concurrent use.
//
// A file is called NAME.warc.gz.open while it is being written. Once it is closed, it is called
// NAME.warc.gz, and its index NAME.cdxj is in the same folder.
type Archive struct {
	dir   string
	store RecordStore
	opt   Options
	pack  warc.Options
	line  line

	mu      sync.Mutex
	mark    mark         // guarded by mu: the mark as stored, which names the open file
	file    *os.File     // guarded by mu: the open file; nil means none
	unlock  func()       // guarded by mu: releases the lock of the open file; nil means that it is not locked
	at      int64        // guarded by mu: offset in the open file at which the next record is written
	entries []warc.Entry // guarded by mu: index entries of the responses in the open file
	failed  error        // guarded by mu: the error after which nothing more is written; nil if there was none
}

// A mark is the state of a worker's archive, as stored. It names the open file.
type mark struct {
	Dir    string       `json:"dir"`
	Crawl  string       `json:"crawl"`  // prefix of all file names
	Serial int          `json:"serial"` // number of the open file, which is part of its name
	Cursor store.Cursor `json:"cursor"` // position in the store's changes; the responses for pages committed before it are in earlier files
}

func markName(worker string) string {
	if worker == "" {
		return "archive"
	}
	return "archive/" + worker
}

// name returns the name that the open file will have once it is closed, such as
// "skink-20261124093000-00003.warc.gz".
func (m *mark) name() string { return fmt.Sprintf("%s-%05d.warc.gz", m.Crawl, m.Serial) }

func (a *Archive) path(name string) string { return filepath.Join(a.dir, name) }

const opening = corpus.Opening

// begin creates the file that a.mark names, and writes its first record. It writes a.mark to the
// store before it creates the file, so a crash cannot leave a file that the store does not list.
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
	unlock, free, err := lock.Try(path)
	if err == nil && !free {
		return fmt.Errorf("%s: %w", path, ErrLocked)
	}
	a.unlock = unlock // nil if the file system does not support locks; other processes then never adopt the file
	a.at, a.entries = 0, nil
	if err := a.write(first); err != nil {
		return err
	}
	a.at = int64(len(first))
	return nil
}

// following begins the next file. All responses committed so far are in earlier files.
func (a *Archive) following(ctx context.Context) error {
	cursor, err := a.store.End(ctx)
	if err != nil {
		return err
	}
	a.mark.Serial++
	a.mark.Cursor = cursor
	return a.begin(ctx)
}

func (a *Archive) write(b []byte) error {
	_, err := a.file.WriteAt(b, a.at)
	return err
}

func (a *Archive) free() {
	if a.unlock != nil {
		a.unlock()
	}
	a.unlock = nil
}

func (a *Archive) finish() error {
	f := a.file
	a.file = nil
	defer a.free()
	return finish(f, a.mark.name(), a.at, a.entries)
}

// finish truncates a file at the offset end and closes it. It writes the index before it renames
// the file, so each closed file has an index.
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

// writeIndex writes the index of an archive file to the given path. It writes to a temporary file
// first, so the file at that path is always complete.
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

func (a *Archive) next(ctx context.Context) error {
	if err := a.finish(); err != nil {
		return err
	}
	return a.following(ctx)
}

func (a *Archive) full() bool { return a.at >= a.size() || len(a.entries) >= maxEntries }

func (a *Archive) size() int64 { return cmp.Or(a.opt.Size, DefaultSize) }

// Keep writes a response that belongs to no page in the store, such as the one for robots.txt. If
// writing fails, the next commit returns the error.
func (a *Archive) Keep(raw *wire.Raw) {
	p, err := a.answer(raw, corpus.NotPage, "")
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil && a.failed == nil {
		err = a.append(p)
	}
	a.fail(err)
}

func (a *Archive) append(p packed) error {
	if a.full() {
		if err := a.next(context.Background()); err != nil { // a context that cannot be cancelled, because next writes very little to the store
			return err
		}
	}
	if err := a.write(p.records); err != nil {
		return err
	}
	a.wrote(p)
	return nil
}

// wrote adds an index entry for a response that was just written, and moves a.at past the response.
func (a *Archive) wrote(p packed) {
	if p.index.URL != "" {
		p.index.Offset, p.index.File = a.at, a.mark.name()
		a.entries = append(a.entries, p.index)
	}
	a.at += int64(len(p.records))
}

// fail stores err if it is not nil. After that, nothing more is written to the archive.
func (a *Archive) fail(err error) {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("%w: %w: free some disk space, and run the command again", store.ErrFull, err)
	}
	if err != nil && a.failed == nil {
		a.failed = fmt.Errorf("write the archive in %s: %w", a.dir, err)
	}
}

// Sync flushes the open file to disk. It must be called before the store is flushed, so that no
// page is on disk without its response.
func (a *Archive) Sync() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed == nil {
		a.fail(a.file.Sync())
	}
	return a.failed
}

// Close closes the open file, and writes its index. The archive must not be used afterwards.
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
