// Package output opens the files that a command writes. Nothing else in the command line creates,
// replaces or renames a file, so the following rules have no exceptions:
//
//   - Two outputs are never one file, except where the manual promises that they may be.
//   - No output is a file that the command reads.
//   - Nothing is written into the folder of a store. [ReplaceInStore] is for the one file that is.
//
// A file is known by its identity, not by its name: names, symbolic links and hard links of a file
// are the same. A file that does not exist yet is known by its folder and the last part of its name.
package output

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"skink/internal/bucket"
)

// Files are the files that one run of a command reads and writes. Claim every output before
// anything is written.
type Files struct {
	stdout  io.Writer
	isStore func(dir string) bool
	claimed []*File
	inputs  []Reads
}

// Reads returns the name of the input that info describes, or "" if it is none.
type Reads func(info fs.FileInfo) (name string, err error)

// New returns an empty list of files. The output named "-" goes to stdout. isStore reports whether
// a folder is the folder of a store.
func New(stdout io.Writer, isStore func(dir string) bool) *Files {
	return &Files{stdout: stdout, isStore: isStore}
}

// A File is an output that a command may write.
type File struct {
	use    string // what names the file, such as "--out"
	also   string // another name of the same kind for a shared file
	name   string // as the user wrote it
	at     string // absolute path without symbolic links, "-", or the address of an object
	info   fs.FileInfo
	whole  bool // whether the file is a folder whose files belong to this output only
	store  bool
	stdout io.Writer
	object *bucket.Object
}

// Name returns the name of the file as the user wrote it.
func (f *File) Name() string { return f.name }

func (f *File) String() string { return f.use + " " + f.name }

// Of returns the output that use names, or nil if there is none.
func (f *Files) Of(use string) *File {
	for _, c := range f.claimed {
		if c.use == use || c.also == use {
			return c
		}
	}
	return nil
}

// Claim returns the output with the given name: a file, an object (s3://BUCKET/KEY), or standard
// output ("-"). use says what names the file in errors. If the file is already claimed for the use
// mayShare, Claim returns that output.
func (f *Files) Claim(use, name, mayShare string) (*File, error) {
	to := &File{use: use, name: name, at: name, stdout: f.stdout}
	var err error
	switch {
	case name == "-":
		to.info, _ = os.Stdout.Stat()
	case bucket.IsAddress(name):
		if to.object, err = bucket.New(name, bucket.Environment()); err != nil {
			return nil, fmt.Errorf("%s: %w", use, err)
		}
	default:
		to.at = Landing(name)
		if to.info, _ = os.Stat(name); to.info != nil && to.info.IsDir() {
			return nil, fmt.Errorf("%s %s is a folder: specify a file in it", use, name)
		}
	}
	return f.add(to, mayShare)
}

// ClaimFolder returns the output folder with the given name. If whole is set, no other output may
// be in the folder.
func (f *Files) ClaimFolder(use, name string, whole bool) (*File, error) {
	to := &File{use: use, name: name, at: Landing(name), whole: whole}
	to.info, _ = os.Stat(name)
	switch {
	case bucket.IsAddress(name):
		return nil, fmt.Errorf("%s %s is in a bucket: specify a folder on disk", use, name)
	case to.info != nil && !to.info.IsDir():
		return nil, fmt.Errorf("%s %s is not a folder: specify a new folder", use, name)
	case f.isStore(to.at):
		return nil, fmt.Errorf("%s %s is a store: choose another folder", use, name)
	}
	return f.add(to, "")
}

// ClaimStore reserves the folder of the named store, which need not exist, so that no output is
// written there.
func (f *Files) ClaimStore(name string) error {
	to := &File{use: "--store", name: name, at: Landing(name), whole: true, store: true}
	to.info, _ = os.Stat(name)
	_, err := f.add(to, "")
	return err
}

func (f *Files) add(to *File, mayShare string) (*File, error) {
	for _, other := range f.claimed {
		switch {
		case to.same(other) && mayShare != "" && other.use == mayShare:
			other.also = to.use
			return other, nil
		case to.same(other):
			return nil, fmt.Errorf("%s and %s are the same file: use two files", to, other)
		case to.within(other):
			return nil, other.closed(to)
		case other.within(to):
			return nil, to.closed(other)
		}
	}
	if dir := above(to.at, f.isStore); dir != "" && !(to.store && f.isStore(to.at)) {
		return nil, fmt.Errorf("%s is inside the store %s: choose another folder", to, dir)
	}
	for _, in := range f.inputs {
		if err := to.check(in); err != nil {
			return nil, err
		}
	}
	f.claimed = append(f.claimed, to)
	return to, nil
}

// Input declares the named files, which the command reads. It ignores names that are not files.
func (f *Files) Input(names ...string) error {
	return f.Inputs(func(info fs.FileInfo) (string, error) {
		for _, name := range names {
			if in, err := os.Stat(name); err == nil && os.SameFile(in, info) {
				return name, nil
			}
		}
		return "", nil
	})
}

// Inputs declares the files that in finds, and returns an error if one of them is an output.
func (f *Files) Inputs(in Reads) error {
	f.inputs = append(f.inputs, in)
	for _, to := range f.claimed {
		if err := to.check(in); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error if the file is one of the inputs. An empty standard output is allowed,
// because the shell creates that file before the command reads the folder that contains it.
func (f *File) check(in Reads) error {
	if f.info == nil || !f.info.Mode().IsRegular() || f.name == "-" && f.info.Size() == 0 {
		return nil
	}
	name, err := in(f.info)
	if err == nil && name != "" {
		err = fmt.Errorf("%s would overwrite the input file %s: choose another file", f, name)
	}
	return err
}

func (f *File) same(other *File) bool {
	if f.at == other.at && (f.name == "-" || !f.device()) {
		return true
	}
	if f.info != nil && other.info != nil {
		return !f.device() && os.SameFile(f.info, other.info)
	}
	return filepath.Base(f.at) == filepath.Base(other.at) && sameFile(filepath.Dir(f.at), filepath.Dir(other.at))
}

// device reports whether the file is a device such as /dev/null, to which several outputs may go.
func (f *File) device() bool { return f.info != nil && f.info.Mode()&fs.ModeCharDevice != 0 }

func (f *File) within(dir *File) bool {
	return dir.whole && above(f.at, func(at string) bool { return at == dir.at || sameFile(at, dir.at) }) != ""
}

// closed returns the error for an output that would be in the folder f.
func (f *File) closed(to *File) error {
	what := "folder of " + f.use
	if f.store {
		what = "store"
	}
	return fmt.Errorf("%s is inside the %s %s: choose another folder", to, what, f.at)
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(x, y)
}

// above returns the nearest folder above the absolute path at for which found returns true, or "".
func above(at string, found func(dir string) bool) string {
	if !filepath.IsAbs(at) {
		return ""
	}
	for dir := filepath.Dir(at); ; dir = filepath.Dir(dir) {
		if found(dir) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// Landing returns the absolute path, without symbolic links, of the file that would be written
// under name. The file need not exist.
func Landing(name string) string {
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

// Write calls write with a writer to the file, the object, or standard output. The file or object
// gets its name only when it is complete, so if write fails, an older one remains unchanged.
func (f *File) Write(ctx context.Context, write func(io.Writer) error) error {
	switch {
	case f.name == "-":
		return write(f.stdout)
	case f.object != nil:
		_, err := f.object.Write(ctx, write)
		return err
	}
	return replace(f.name, 0o644, write)
}

// Exists reports whether Write would replace a file, or may replace an object.
func (f *File) Exists() bool {
	info, err := os.Stat(f.name)
	return f.object != nil || f.name != "-" && err == nil && info.Mode().IsRegular()
}
