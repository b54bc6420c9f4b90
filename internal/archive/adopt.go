package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"skink/internal/lock"
	"skink/store"
)

// # Files of dead processes
//
// A killed process leaves its file open: without an index, and perhaps with answers that are not in
// the store. It closes the file when it is started again. Otherwise another process may adopt the
// file: it truncates and closes the file in the same way.
//
// A process holds a lock on the file that it writes or adopts. So the file of a live process is not
// adopted, even if that process is suspended, and no file is adopted twice. But a server may still
// be busy with the last commit of a dead process. So the caller must not adopt before the process
// has been silent for a while.
//
// Adopting writes to the store only if answers are missing, so an export can do it. A worker that
// comes back finds its file closed, and begins the next.

var (
	// ErrLocked means that another process has the file.
	ErrLocked = errors.New("another process is writing it")
	// ErrLacking means that a file lacks answers of pages, as after a power cut.
	ErrLacking = errors.New("the archive file lacks answers of pages")
)

// A LeftOpen is a file that a process is writing, or left open.
type LeftOpen struct {
	Worker string // name of the worker
	Name   string // name of the file once it is closed
	mark   *mark
}

// Opened returns the files in a folder that the store records as being written, whether their
// processes live or not.
func Opened(ctx context.Context, dir string, s metaReader) (all []LeftOpen, err error) {
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

// Adopt closes a file that a dead process left open in a folder. lost is the number of answers of
// pages that are missing. again puts their URLs back into the frontier; if it is nil, the error is
// [ErrLacking]. closed is false if there was nothing to close: the file was empty, or another
// process has closed it.
func Adopt(ctx context.Context, dir string, s pages, l LeftOpen, again requeue) (closed bool, lost int, err error) {
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
	defer f.Close()
	if unlock == nil {
		return false, 0, errors.New("the folder is on a file system without locks, so the worker may still run")
	}
	defer unlock()
	all, err := committed(ctx, s, l.mark)
	if err != nil {
		return false, 0, err
	}
	t := &tail{s, f, l.Name}
	end, gone, err := t.end(ctx, all)
	if err == nil && len(gone) > 0 {
		if again == nil {
			return false, len(gone), ErrLacking
		}
		err = fetchAgain(ctx, again, gone)
	}
	if err != nil {
		return false, len(gone), err
	}
	if end == 0 { // even its warcinfo is incomplete
		return false, len(gone), os.Remove(f.Name())
	}
	entries, err := t.index(end)
	if err == nil {
		err = finish(f, l.Name, end, entries)
	}
	return err == nil, len(gone), err
}

// openLocked opens a file that a process left open, and locks it. unlock is nil if the file system has
// no locks.
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
			err = ErrLocked // the file was replaced just now
		}
	}
	if err != nil {
		unlock()
		f.Close()
		return nil, nil, err
	}
	return f, unlock, nil
}

// listName is the name under which a store keeps the names of the workers that have archives.
const listName = "archives"

// archivists returns the names of the workers that have archives of a store.
func archivists(ctx context.Context, s metaReader) (names []string, text []byte, err error) {
	if text, err = s.Meta(ctx, listName); err != nil || text == nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(text, &names); err != nil {
		return nil, nil, fmt.Errorf("read which workers have archives: %w: %v", store.ErrCorrupt, err)
	}
	return names, text, nil
}

// enlist adds a worker to those that have archives.
func enlist(ctx context.Context, s RecordStore, worker string) error {
	for {
		names, old, err := archivists(ctx, s)
		if err != nil || slices.Contains(names, worker) {
			return err
		}
		text, err := json.Marshal(append(names, worker))
		if err != nil {
			return err
		}
		if err := s.SwapMeta(ctx, listName, old, text); !errors.Is(err, store.ErrChanged) {
			return err
		}
	}
}

// eachMark reads the marks of all archives of a store.
func eachMark(ctx context.Context, s metaReader, do func(worker string, m *mark) error) error {
	names, _, err := archivists(ctx, s)
	if err != nil {
		return err
	}
	for _, worker := range append([]string{""}, names...) {
		m, err := readMark(ctx, s, worker)
		if err == nil && m != nil {
			err = do(worker, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Folders returns the folders in which a store has archives.
func Folders(ctx context.Context, s metaReader) (dirs []string, err error) {
	err = eachMark(ctx, s, func(_ string, m *mark) error {
		if !slices.Contains(dirs, m.Dir) {
			dirs = append(dirs, m.Dir)
		}
		return nil
	})
	return dirs, err
}
