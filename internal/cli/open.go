package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/pflag"

	"skink/store"
	"skink/store/badger"
)

const defaultStore = "skink-data"

func addStoreFlag(flags *pflag.FlagSet) *string {
	return flags.String("store", defaultStore, "folder of the store")
}

// openStore opens the store in a folder. Its errors say what to try.
func openStore(dir string, create bool) (*badger.Store, error) {
	if dir == "" {
		return nil, usagef("--store is empty: name a folder")
	}
	s, err := badger.Open(dir, badger.Options{Create: create})
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, store.ErrNotExist):
		return nil, fmt.Errorf("%s: %w: skink crawl and skink dedup make one, --store names another", dir, store.ErrNotExist)
	case errors.Is(err, store.ErrInUse):
		return nil, fmt.Errorf("%s: %w: wait until it ends, or choose another --store", dir, store.ErrInUse)
	case errors.Is(err, store.ErrCorrupt):
		return nil, fmt.Errorf("%w: choose another --store, or put a copy in its place", err)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%w: opening a store takes the right to write to its folder and files: have it given to you, or open a copy", err)
	case errors.Is(err, syscall.EROFS):
		return nil, fmt.Errorf("%w: opening a store writes to its folder: open a copy of it elsewhere", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return nil, fmt.Errorf("%w: opening a store takes some room: make some, and run the command again", err)
	}
	return nil, err
}

// addOutFlag adds --out, and returns how to write to what it names: standard
// output, or a file that appears only when it is complete.
func addOutFlag(flags *pflag.FlagSet) func(con Console, write func(w io.Writer) error) error {
	out := flags.String("out", "-", "file to write, - for standard output")
	return func(con Console, write func(w io.Writer) error) error {
		switch info, err := os.Stat(*out); {
		case *out == "-":
			return write(con.Out)
		case *out == "":
			return usagef("--out is empty: name a file, or - for standard output")
		case err == nil && info.IsDir():
			return usagef("--out %s is a folder: name a file in it", *out)
		}
		return writeFile(*out, write)
	}
}

// writeFile writes a file beside its place and then moves it there, so that an
// interrupted write leaves what was there before. What is there and is no file, a
// device or a pipe, is written to as it is: a move would put a file in its place. A
// link stays one.
func writeFile(name string, write func(w io.Writer) error) (err error) {
	if to, err := filepath.EvalSymlinks(name); err == nil {
		name = to
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return writeInto(name, write)
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write %s: there is no folder %s: make it first", name, filepath.Dir(name))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Rename(f.Name(), name)
}

func writeInto(name string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// diskUse is the number of bytes that the files of a folder take.
func diskUse(dir string) (total int64) {
	filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				total += allocated(info)
			}
		}
		return nil // a file that vanished takes nothing
	})
	return total
}
