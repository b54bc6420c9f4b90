package cli

import (
	"context"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// inputs are the files that the arguments of skink dedup name.
type inputs struct {
	paths      []string
	stdin      io.Reader
	unreadable func(error) // told of what is inside a folder and cannot be read
}

// An input is a file that is to be read.
type input struct {
	name   string // "-" is standard input
	inside bool   // it was found in a folder: nobody named it
}

// String is what the input is called in a sentence.
func (i input) String() string {
	if i.name == "-" {
		return "standard input"
	}
	return i.name
}

// files yields the files, those of a folder in the order of their names, each once
// however often it is named. As in a crawl, the hidden ones of a folder are left
// alone, and one that cannot be read does not keep the others from being read.
func (in *inputs) files(unreadable func(error)) iter.Seq2[input, error] {
	return func(yield func(input, error) bool) {
		seen := map[string]bool{}
		more := true
		found := func(i input, path string) error {
			if seen[path] {
				return nil
			}
			seen[path] = true
			if more = yield(i, nil); !more {
				return fs.SkipAll
			}
			return nil
		}
		for _, arg := range in.paths {
			if arg == "-" {
				_ = found(input{name: arg}, arg)
			} else if err := walk(walkable(arg), found, unreadable); err != nil {
				yield(input{}, err)
				return
			}
			if !more {
				return
			}
		}
	}
}

// walk finds a file, or those of a folder, with the path that a file has whatever
// it was named by.
func walk(root string, found func(i input, path string) error, unreadable func(error)) error {
	top := resolved(root)
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		inside := name != root
		switch {
		case err != nil && inside:
			unreadable(err)
			return nil
		case err != nil:
			return err
		case inside && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		case inside && !d.Type().IsRegular():
			return nil // a link or a pipe: what it leads to has a name of its own
		}
		below, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return found(input{name, inside}, filepath.Join(top, below))
	})
}

// walkable is a path as WalkDir wants it: it goes into a folder behind a link only
// if the path ends in a slash.
func walkable(root string) string {
	if info, err := os.Stat(root); err == nil && info.IsDir() && !strings.HasSuffix(root, "/") {
		if link, err := os.Lstat(root); err == nil && link.Mode()&fs.ModeSymlink != 0 {
			return root + "/"
		}
	}
	return root
}

// resolved is the path of a file from the root, without links where they lead to
// files: a pipe of the shell's is a link to nothing that has a path.
func resolved(name string) string {
	if to, err := filepath.EvalSymlinks(name); err == nil {
		name = to
	}
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	return name
}

// open opens an input. What is no regular file may keep a reader waiting: when ctx
// ends, such a one is not waited for.
func (in *inputs) open(ctx context.Context, i input) (io.ReadCloser, error) {
	open := func() (io.ReadCloser, error) { return os.Open(i.name) }
	if i.name == "-" {
		return patient(ctx, func() (io.ReadCloser, error) { return io.NopCloser(in.stdin), nil }), nil
	}
	if i.inside {
		return open()
	}
	if info, err := os.Stat(i.name); err == nil && !info.Mode().IsRegular() {
		return patient(ctx, open), nil
	}
	return open()
}

// patient opens and reads in a goroutine of its own, which a read or an open that
// never returns keeps until the process ends.
func patient(ctx context.Context, open func() (io.ReadCloser, error)) io.ReadCloser {
	out, in := io.Pipe()
	stop := context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	go func() {
		defer stop()
		from, err := open()
		if err == nil {
			_, err = io.Copy(in, from)
			from.Close()
		}
		in.CloseWithError(err)
	}()
	return out
}

// among says whether a file is one of the inputs.
func (in *inputs) among(info fs.FileInfo) (bool, error) {
	for i, err := range in.files(func(error) {}) {
		if err != nil {
			return false, err
		}
		other, err := in.stat(i)
		if err == nil && os.SameFile(info, other) { // what is gone will be missed when it is read
			return true, nil
		}
	}
	return false, nil
}

func (in *inputs) stat(i input) (fs.FileInfo, error) {
	if i.name != "-" {
		return os.Stat(i.name)
	}
	if f, ok := in.stdin.(*os.File); ok {
		return f.Stat()
	}
	return nil, fs.ErrNotExist
}
