package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"skink/internal/bucket"
	"skink/internal/corpus"
	"skink/internal/lock"
	"skink/store/badger"
)

type outFlags struct {
	out    string
	asItIs bool // whether to leave the data uncompressed, whatever the file's name, because it is already compressed
}

func addOutFlags(flags *pflag.FlagSet) *outFlags {
	f := &outFlags{}
	flags.StringVar(&f.out, "out", "-", "`FILE` write to this file or to s3://BUCKET/KEY, compressed if the name ends in .gz or .zst; - means standard output")
	return f
}

// write calls the write function with a writer to the --out file or object, or to standard output.
// The file or object gets its name only when it is complete.
func (f *outFlags) write(ctx context.Context, con Console, write func(w io.Writer) error) error {
	if bucket.IsAddress(f.out) {
		return f.writeObject(ctx, con, write)
	}
	switch info, err := os.Stat(f.out); {
	case f.out == "-":
		return write(con.Out)
	case f.out == "":
		return usagef("--out is empty: specify a file, or - for standard output")
	case err == nil && info.IsDir():
		return usagef("--out %s is a folder: specify a file in it", f.out)
	}
	if err := mayWrite("--out", f.out, nil); err != nil {
		return err
	}
	err := writeFile(f.out, func(w io.Writer) error { return f.writeSome(w, write) })
	if errors.Is(err, errNothing) {
		fmt.Fprintf(con.Err, "nothing to write: %s is unchanged\n", f.out)
		return nil
	}
	return err
}

// object returns the object of --out. It sends nothing, so it can be used to check the address and
// the credentials before any work is done.
func (f *outFlags) object() (*bucket.Object, error) {
	o, err := bucket.New(f.out, bucket.Environment())
	if err != nil {
		return nil, usagef("--out: %w", err)
	}
	return o, nil
}

func (f *outFlags) writeObject(ctx context.Context, con Console, write func(w io.Writer) error) error {
	o, err := f.object()
	if err != nil {
		return err
	}
	_, err = o.Write(ctx, func(w io.Writer) error { return f.writeSome(w, write) })
	if errors.Is(err, errNothing) {
		fmt.Fprintf(con.Err, "nothing to write: %s is unchanged\n", f.out)
		return nil
	}
	return err
}

// errNothing means that the output is empty and would have replaced an existing file, which is
// kept.
var errNothing = errors.New("nothing to write")

// writeSome calls write with a writer that compresses into w if the name of the output file ends
// with .gz or .zst. It returns errNothing if nothing was written and the output is an existing file
// or an object.
func (f *outFlags) writeSome(w io.Writer, write func(w io.Writer) error) error {
	name := f.out
	if f.asItIs {
		name = ""
	}
	pack := corpus.Pack(w, name)
	c := &countingWriter{to: pack}
	if err := write(c); err != nil {
		return err
	}
	if c.n > 0 {
		return pack.Close()
	}
	if info, err := os.Stat(f.out); bucket.IsAddress(f.out) || err == nil && info.Mode().IsRegular() {
		return errNothing
	}
	return pack.Close()
}

type countingWriter struct {
	to io.Writer
	n  int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}

// writeFile writes a file through a temporary file in the same folder, so an interrupted write
// leaves the old file unchanged. A device or a named pipe is written directly, because the rename
// would replace it with a file. If name is a symbolic link, its target is written. An existing file
// keeps its permissions.
func writeFile(name string, write func(w io.Writer) error) (err error) {
	if to, err := filepath.EvalSymlinks(name); err == nil {
		name = to
	}
	mode := fs.FileMode(0o644)
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

// tempPrefix returns the name prefix of the temporary files that writeFile uses for the named file.
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

// mayWrite returns an error if the named file, which is the value of flag, is one of inputs or is
// inside the folder of a store. Call it before anything is written.
func mayWrite(flag, name string, inputs []string) error {
	for at := filepath.Dir(landing(name)); ; at = filepath.Dir(at) {
		if badger.IsStore(at) {
			return usagef("%s %s is inside the store %s: choose another folder", flag, name, at)
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	to, err := os.Stat(name)
	if err != nil || !to.Mode().IsRegular() {
		return nil
	}
	for _, in := range inputs {
		if info, err := os.Stat(in); err == nil && os.SameFile(info, to) {
			return usagef("%s %s would overwrite the input file %s: choose another file", flag, name, in)
		}
	}
	return nil
}

// landing returns the absolute path, without symbolic links, of the file that would be written
// under name. The file need not exist.
func landing(name string) string {
	const most = 40 // maximum number of symbolic links to follow, as in Linux
	for range most {
		name, _ = filepath.Abs(name) // fails only if the working folder is gone
		if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
			name = filepath.Join(dir, filepath.Base(name))
		}
		to, err := os.Readlink(name)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(name), to)
		}
		name = to
	}
	return name
}
