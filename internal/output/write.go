package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"skink/base/lock"
)

// replace writes a file through a temporary file in the same folder, so an interrupted write leaves
// the old file unchanged. A device or a named pipe is written directly, because the rename would
// replace it with a file. If name is a symbolic link, its target is written. A new file
// gets the permissions mode, and an existing one keeps its own.
func replace(name string, mode fs.FileMode, write func(w io.Writer) error) (err error) {
	if to, err := filepath.EvalSymlinks(name); err == nil {
		name = to
	}
	if info, err := os.Stat(name); err == nil {
		if !info.Mode().IsRegular() {
			return writeInto(name, write)
		}
		mode = info.Mode().Perm()
	}
	lock.RemoveStale(filepath.Dir(name), tempPrefix(name))
	f, err := os.CreateTemp(filepath.Dir(name), tempPrefix(name)+"*")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write %s: the folder %s does not exist: create it first", name, filepath.Dir(name))
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
	if release, _, err := lock.Try(f.Name()); err == nil { // the lock shows other processes that the temporary file is in use; they remove unlocked files as left over from killed processes
		defer release()
	}
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Rename(f.Name(), name)
}

// tempPrefix returns the name prefix of the temporary files that are renamed to the named file.
func tempPrefix(name string) string { return "." + filepath.Base(name) + ".skink-" }

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

// Open opens the file for reading and writing in place, and creates it if it does not exist.
func (f *File) Open() (*os.File, error) { return os.OpenFile(f.name, os.O_RDWR|os.O_CREATE, 0o644) }

// ReplaceInStore replaces the named file, which belongs to a store but is not written by it. Only
// the owner may read the file.
func ReplaceInStore(dir, name string, content []byte) error {
	return replace(filepath.Join(dir, name), 0o600, func(w io.Writer) error { _, err := w.Write(content); return err })
}

// A Folder is a folder whose files are being written.
type Folder struct{ dir string }

// Fill calls fill with a hidden folder. If fill succeeds, the hidden folder gets the name of the
// output, which must not exist or must be an empty folder. So a failed run leaves no folder with
// missing files.
func (f *File) Fill(fill func(*Folder) error) (err error) {
	parent, prefix := filepath.Dir(f.name), tempPrefix(f.name)
	lock.RemoveStale(parent, prefix)
	dir, err := os.MkdirTemp(parent, prefix+"*")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("create folder %s: the folder %s does not exist: create it first", f.name, parent)
	}
	if err != nil {
		return fmt.Errorf("create folder %s: %w", f.name, err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	if release, _, err := lock.Try(dir); err == nil {
		defer release()
	}
	if err := fill(&Folder{dir}); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	return f.Take(dir)
}

// Take gives the folder dir the name of the output, which must not exist or must be an empty folder.
func (f *File) Take(dir string) error {
	if err := os.Remove(f.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("create folder %s: %w", f.name, err)
	}
	return os.Rename(dir, f.name)
}

// Make creates the output folder if it does not exist.
func (f *File) Make() error { return os.MkdirAll(f.name, 0o777) }

// Path returns the path of a file in the folder.
func (d *Folder) Path(name string) string { return filepath.Join(d.dir, name) }

// Create creates or truncates a file in the folder. name may contain folders.
func (d *Folder) Create(name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(d.Path(name)), 0o755); err != nil {
		return nil, err
	}
	return os.Create(d.Path(name))
}

// Temporary creates a file for data that does not fit in memory. Call done to close and remove the
// file. On systems that can remove open files, it is removed at once, so that a killed process
// leaves nothing behind.
func Temporary(prefix string) (f *os.File, done func() error, err error) {
	if f, err = os.CreateTemp("", prefix); err != nil {
		return nil, nil, err
	}
	_ = os.Remove(f.Name())
	return f, func() error {
		err := f.Close()
		if removed := os.Remove(f.Name()); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
		return err
	}, nil
}

// TemporaryFolder creates a folder in the system's folder for temporary files, and removes those
// with the same prefix that killed processes left behind.
func TemporaryFolder(prefix string) (dir string, remove func(), err error) {
	lock.RemoveStale(os.TempDir(), prefix)
	if dir, err = os.MkdirTemp("", prefix); err != nil {
		return "", nil, err
	}
	return dir, func() { os.RemoveAll(dir) }, nil
}
