package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"skink/base/lock"
	"skink/store"
)

// # Files of dead processes
//
// A killed process leaves its archive file open: without an index, and perhaps with responses that
// are not in the store. If the process is started again, it completes that file. Another process
// may also adopt the file, that is, truncate and close it.
//
// A process holds a lock on the file that it writes or adopts. So the file of a live process is
// never adopted, even if the process is suspended, and no file is adopted twice. But after a
// process has died, the database server may still be working on its last commit. So the caller must
// not adopt a file until its process has shown no activity for a while.
//
// Adopting writes to the store only if responses are missing, so even an export can adopt files. A
// process that is started again and finds its file closed begins a new file.

var (
	// ErrLocked means that another process is writing or adopting the archive file.
	ErrLocked = errors.New("another process is writing the file")
	// ErrLacking means that the store has pages whose responses are missing from the archive file, for
	// example after a power failure.
	ErrLacking = errors.New("the responses for some pages are missing from the archive file")
)

// A LeftOpen is an archive file that was not closed: a process is writing it, or was killed.
type LeftOpen struct {
	Worker string // name of the worker whose process writes or wrote the file
	Name   string // name that the file will have once it is closed
	mark   *mark
}

// Opened returns the files in dir that are not closed, according to the store s. It does not check
// whether their processes are alive.
func Opened(ctx context.Context, dir string, s store.MetaReader) (all []LeftOpen, err error) {
	err = eachMark(ctx, s, func(worker string, m *mark) error {
		_, err := os.Stat(filepath.Join(dir, m.name()+opening))
		if err == nil {
			all = append(all, LeftOpen{worker, m.name(), m})
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	})
	return all, err
}

// Adopt closes a file in dir that a killed process left open. It returns the number of pages in the
// store whose responses are missing from the file. Adopt passes the URLs of these pages to requeue,
// which queues them for another fetch. If requeue is nil, Adopt returns [ErrLacking] instead.
// closed is false if there was nothing to close, because the file was empty or another process had
// closed it.
func Adopt(ctx context.Context, dir string, s store.Reader, l LeftOpen, requeue requeue) (closed bool, lost int, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("close the file %s in %s: %w", l.Name+opening, dir, err)
		}
	}()
	f, unlock, err := openLocked(filepath.Join(dir, l.Name+opening))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, 0, nil
	case err != nil:
		return false, 0, err
	}
	if unlock == nil {
		f.Close()
		return false, 0, errors.New("the folder is on a file system that does not support locks, so the worker may still be running")
	}
	return (&tail{s, f, l.Name}).close(ctx, l.mark, unlock, requeue)
}

// openLocked opens a file that a killed process left open, and locks it. unlock is nil if the file
// system does not support locks.
func openLocked(path string) (f *os.File, unlock func(), err error) {
	if f, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	unlock, free, err := lock.Try(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Close()
		return nil, nil, err
	case err != nil:
		return f, nil, nil
	case !free:
		f.Close()
		return nil, nil, ErrLocked
	}
	opened, err := f.Stat()
	if err == nil {
		var named fs.FileInfo
		if named, err = os.Stat(path); err == nil && !os.SameFile(opened, named) {
			err = ErrLocked // another process replaced the file between the calls that open and lock it
		}
	}
	if err != nil {
		unlock()
		f.Close()
		return nil, nil, err
	}
	return f, unlock, nil
}

const listName = "archives"

const archivists = "the list of workers with archives" // in errors

// enlist adds a worker to the list of workers that have archive files.
func enlist(ctx context.Context, s store.Store, worker string) error {
	return store.ChangeMeta(ctx, s, listName, archivists, func(names *[]string) (*[]string, error) {
		if names = cmp.Or(names, new([]string)); slices.Contains(*names, worker) {
			return nil, nil
		}
		*names = append(*names, worker)
		return names, nil
	})
}

// eachMark calls visit for each worker that has archive files, with the worker's mark.
func eachMark(ctx context.Context, s store.MetaReader, visit func(worker string, m *mark) error) error {
	names, err := store.MetaValue[[]string](ctx, s, listName, archivists)
	if err != nil {
		return err
	}
	for _, worker := range append([]string{""}, names...) {
		for _, private := range []bool{false, true} {
			m, err := readMark(ctx, s, worker, private)
			if err == nil && m != nil {
				err = visit(worker, m)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Folders returns the distinct folders that contain archive files of the crawl in the store s.
func Folders(ctx context.Context, s store.MetaReader) (dirs []string, err error) {
	err = eachMark(ctx, s, func(_ string, m *mark) error {
		if !slices.Contains(dirs, m.Dir) {
			dirs = append(dirs, m.Dir)
		}
		return nil
	})
	return dirs, err
}
