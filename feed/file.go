package feed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"skink/dedup"
	"skink/feed/release"
	"skink/store"
)

// A file and a store cannot be written in one step, so after a crash the file may be behind or
// ahead of the store. The order of the steps of a checkpoint makes both harmless:
//
//  1. The store syncs its records to the disk.
//  2. The lines are written to the file, and the file is synced to the disk.
//  3. The mark is stored. It records how much of the store's feed the file contains.
//
// A crash before step 3 leaves the old mark in place. The next run truncates the file at the mark,
// and writes the later lines again from the store. If a record did not reach the disk, its page is
// judged again. If the crash comes after step 3, the file already ends at the mark. So no line is
// lost and none is repeated.
//
// The mark is on disk before the first line of the file. It contains the ID of the page in that
// line. Without the mark, the feed could not be distinguished from another program's file.

// ErrNotOurs means that the file exists, but is not the feed of this store.
var ErrNotOurs = errors.New("the file is not the feed of this store")

// A File is the live feed of a crawl in a file. Only one goroutine at a time may call its methods.
type File struct {
	path string
	mark string // name of the mark in s
	s    FileStore
	f    *os.File
	out  *bufio.Writer
	line []byte

	gate   *release.Gate // at the position after the last page written or skipped
	offset int64         // size of the file in bytes, including the bytes still buffered in out
	marked mark          // the mark stored in s
}

// A FileStore is the part of a store that a [File] needs.
type FileStore interface {
	store.Reader
	SetMeta(ctx context.Context, name string, value []byte) error
	Sync() error
}

// OpenFile continues the feed of s in the file f, which must be open for reading and writing, and
// brings it up to date. If several workers share s, each has a file of its own; worker is the name
// of this one. It truncates the file at the offset that the store records for it, and
// writes all later records. A file that is shorter than this offset is rewritten from the start. If
// the file contains anything else, OpenFile closes it unchanged and returns ErrNotOurs.
func OpenFile(ctx context.Context, f *os.File, s FileStore, worker string) (*File, error) {
	file := &File{path: f.Name(), mark: "feed", s: s, f: f, out: bufio.NewWriterSize(f, bufferSize)}
	if worker != "" {
		file.mark += "/" + worker
	}
	if err := file.resume(ctx); err != nil {
		f.Close()
		return nil, fmt.Errorf("open feed %s: %w", f.Name(), err)
	}
	return file, nil
}

func (f *File) resume(ctx context.Context) error {
	info, err := f.f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("the output is not a regular file, so the feed cannot be resumed: use - for standard output")
	}
	m, err := store.ReadMeta[mark](ctx, f.s, f.mark, "the position of the feed") // nil if there is none
	if err != nil {
		return err
	}
	start, err := f.start(info.Size(), m)
	if err != nil {
		return err
	}
	if err := f.cut(ctx, start); err != nil {
		return err
	}
	if err := f.take(ctx); err != nil {
		return err
	}
	return f.checkpoint(ctx)
}

// start returns the mark at which writing continues in a file of the given size in bytes: m, or a
// mark at the beginning of the file. It returns an error if the file is not the feed of this store.
func (f *File) start(size int64, m *mark) (mark, error) {
	if size == 0 && m != nil {
		return mark{First: m.First}, nil
	}
	if size == 0 {
		return mark{}, nil
	}
	if m == nil {
		return mark{}, fmt.Errorf("%w, because this store has never written a feed: choose another file, or move this file elsewhere", ErrNotOurs)
	}
	ours, err := beginsLike(f.f, size, m.First)
	if err != nil {
		return mark{}, err
	}
	if !ours {
		return mark{}, fmt.Errorf("%w, because its first line does not match: choose another file, or move this file elsewhere", ErrNotOurs)
	}
	if size < m.Offset {
		return mark{First: m.First}, nil
	}
	tail, err := tailOf(f.f, m.Offset)
	if err != nil {
		return mark{}, err
	}
	if m.Offset > 0 && tail != m.Tail {
		return mark{}, fmt.Errorf("%w, because the file was changed after the crawl wrote it: move the file elsewhere, and the next run will write the feed again", ErrNotOurs)
	}
	return *m, nil
}

// cut truncates the file at the offset in m. It first writes m to the store, because the stored
// offset must never be greater than the size of the file.
func (f *File) cut(ctx context.Context, m mark) error {
	if err := store.WriteMeta(ctx, f.s, f.mark, m); err != nil {
		return err
	}
	if err := f.f.Truncate(m.Offset); err != nil {
		return err
	}
	if _, err := f.f.Seek(m.Offset, io.SeekStart); err != nil {
		return err
	}
	f.gate, f.offset, f.marked = liveGate(m.Cursor), m.Offset, m
	return nil
}

// CatchUp writes the records that the file does not contain yet, and syncs the file to disk.
func (f *File) CatchUp(ctx context.Context) error {
	err := f.take(ctx)
	if err == nil && f.gate.At != f.marked.Cursor {
		err = f.checkpoint(ctx)
	}
	if err != nil {
		return fmt.Errorf("write feed %s: %w", f.path, err)
	}
	return nil
}

// take buffers the lines of the records that the file does not contain yet.
func (f *File) take(ctx context.Context) error {
	anew := f.offset == 0 // an empty file contains no page that could be gone
	for page, err := range f.gate.Pages(ctx, f.s, store.WantText) {
		if err == nil {
			err = f.write(page, anew)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *File) write(page *release.Page, anew bool) (err error) {
	f.line, err = appendLive(f.line[:0], page, anew)
	if err != nil || len(f.line) == 0 {
		return err
	}
	if f.offset == 0 {
		if err := f.begin(page.Content().Record.ID); err != nil {
			return err
		}
	}
	n, err := f.out.Write(f.line)
	f.offset += int64(n)
	return err
}

// begin stores the ID of the page in the file's first line, before that line is written.
func (f *File) begin(first dedup.Hash) error {
	f.marked.First = first
	if err := store.WriteMeta(context.Background(), f.s, f.mark, f.marked); err != nil {
		return err
	}
	return f.s.Sync()
}

func (f *File) checkpoint(ctx context.Context) error {
	if err := f.s.Sync(); err != nil {
		return err
	}
	if err := f.out.Flush(); err != nil {
		return err
	}
	if err := f.f.Sync(); err != nil {
		return err
	}
	m := mark{Cursor: f.gate.At, Offset: f.offset, First: f.marked.First}
	if m.Offset > 0 {
		var err error
		if m.Tail, err = tailOf(f.f, m.Offset); err != nil {
			return err
		}
	}
	if err := store.WriteMeta(ctx, f.s, f.mark, m); err != nil {
		return err
	}
	f.marked = m
	return nil
}

// Left returns what the feed left out, and why.
func (f *File) Left() release.Left { return f.gate.Left }

// Close writes the remaining records and closes the file. Call it before closing the store.
func (f *File) Close(ctx context.Context) error {
	return errors.Join(f.CatchUp(ctx), f.f.Close())
}

// A mark records how much of a store's feed a file contains. It is kept in the store as JSON, under
// the name "feed". It identifies the file by content, not by path, because a file may have been
// moved together with its store, and another file may have its old path.
type mark struct {
	Cursor store.Cursor `json:"cursor"`         // position after the last page written or skipped
	Offset int64        `json:"offset"`         // size of the file in bytes
	Tail   dedup.Hash   `json:"tail,omitzero"`  // hash of up to tailSize bytes before Offset
	First  dedup.Hash   `json:"first,omitzero"` // ID of the page in the file's first line; the zero value means that the file has no lines
}

const tailSize = 4 << 10 // in bytes; long enough to tell texts apart, and cheap to read at each start

// tailOf returns the hash of the last tailSize bytes before offset, or of all bytes before it if
// there are fewer.
func tailOf(f io.ReaderAt, offset int64) (dedup.Hash, error) {
	tail := make([]byte, min(offset, tailSize))
	if _, err := f.ReadAt(tail, offset-int64(len(tail))); err != nil {
		return dedup.Hash{}, err
	}
	return dedup.HashOf(tail), nil
}

// beginsLike reports whether a file of the given size in bytes begins with the line of the page
// whose ID is first. If the file is shorter than the beginning of that line, it must equal the
// first bytes of the line. Any other file was never a feed of the store, and must not be changed.
func beginsLike(f io.ReaderAt, size int64, first dedup.Hash) (bool, error) {
	if first.IsZero() {
		return false, nil
	}
	want := fmt.Appendf(nil, `{"id":"%s"`, first)
	got := make([]byte, min(size, int64(len(want))))
	if _, err := f.ReadAt(got, 0); err != nil {
		return false, err
	}
	return bytes.HasPrefix(want, got), nil
}
