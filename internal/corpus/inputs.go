// Package corpus reads inputs on disk as one ordered stream of texts: HTML, plain text, Markdown,
// JSON Lines, Parquet and web archives, from files, folders and standard input, packed with gzip or
// zstd or not. Start with [Inputs.Records].
//
// The same inputs give the same records in the same order, each file once, so that a judgement of
// them can be repeated. A [Record] is what stands in an input, byte for byte; [Record.Text] makes a
// text of it, and may be called by many goroutines at once. The package judges nothing itself.
package corpus

import (
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
)

// Inputs are files and folders that somebody named.
type Inputs struct {
	Paths []string  // "-" is standard input
	Stdin io.Reader // what "-" reads

	Include, Exclude []*regexp.Regexp // a path must match one of Include, if there are any, and none of Exclude
	Fields           Fields           // which of a JSON line are read
	MaxRecord        int              // the most bytes that one record may have; 0: [DefaultMaxRecord]

	Unreadable func(error)       // told of each file or folder inside a folder that cannot be read; required
	Passed     func(kind string) // told of each file in a folder that is passed over, and of each record of an archive that holds no text, by its kind; nil: nobody is

	bytesRead atomic.Int64 // of files, as they are packed
}

// Again are the same inputs, to be read a second time. Nobody is told a second time of files that
// cannot be read.
func (in *Inputs) Again() *Inputs {
	return &Inputs{Paths: in.Paths, Stdin: in.Stdin, Include: in.Include, Exclude: in.Exclude,
		Fields: in.Fields, MaxRecord: in.MaxRecord, Unreadable: func(error) {}}
}

// Read is how many bytes of files were read so far, as they are packed. A file that is passed over
// counts as read.
func (in *Inputs) Read() int64 { return in.bytesRead.Load() }

// Size is how many bytes the files have; -1 if one of them is no file, such as a pipe.
func (in *Inputs) Size() (total int64) {
	for i, err := range in.files(func(error) {}, func(string) {}) {
		if err != nil {
			return -1
		}
		info, err := in.stat(i)
		switch {
		case err == nil && info.Mode().IsRegular():
			total += info.Size()
		case !i.inside:
			return -1
		}
	}
	return total
}

// DefaultMaxRecord is how many bytes a record may have. A longer one is a bad record: nobody wrote
// it to be read, and it would take the memory of all others.
const DefaultMaxRecord = 64 << 20

func (in *Inputs) maxRecord() int {
	if in.MaxRecord > 0 {
		return in.MaxRecord
	}
	return DefaultMaxRecord
}

// An input is a file that is to be read.
type input struct {
	name   string // "-" is standard input
	inside bool   // it was found in a folder, so nobody named it
}

// String is what the input is called in a sentence.
func (i input) String() string {
	if i.name == "-" {
		return "standard input"
	}
	return i.name
}

// files yields the files, those of a folder in the order of their names, each once however often it
// is named. As in a crawl, hidden files of a folder are skipped, and a file that cannot be read
// does not keep the others from being read.
func (in *Inputs) files(unreadable func(error), passed func(kind string)) iter.Seq2[input, error] {
	return func(yield func(input, error) bool) {
		seen := map[string]bool{}
		more := true
		found := func(i input, path string) error {
			if seen[path] || i.name != "-" && !in.chosen(i.name) {
				return nil
			}
			seen[path] = true
			if more = yield(i, nil); !more {
				return fs.SkipAll
			}
			return nil
		}
		for _, arg := range in.Paths {
			if arg == "-" {
				_ = found(input{name: arg}, arg)
			} else if err := walk(walkable(arg), found, unreadable, passed); err != nil {
				yield(input{}, err)
				return
			}
			if !more {
				return
			}
		}
	}
}

// chosen says whether a path is among those that are asked for.
func (in *Inputs) chosen(path string) bool {
	path = filepath.ToSlash(path)
	matches := func(p *regexp.Regexp) bool { return p.MatchString(path) }
	return (len(in.Include) == 0 || slices.ContainsFunc(in.Include, matches)) && !slices.ContainsFunc(in.Exclude, matches)
}

// walk finds a file, or the files of a folder. The path of a file is the same whatever name led to
// it.
func walk(root string, found func(i input, path string) error, unreadable func(error), passed func(kind string)) error {
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
			passed(kindOfFile(d.Type())) // the target of a link has a name of its own
			return nil
		}
		below, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return found(input{name, inside}, filepath.Join(top, below))
	})
}

// kindOfFile names a file that is none of bytes.
func kindOfFile(t fs.FileMode) string {
	switch {
	case t&fs.ModeSymlink != 0:
		return "symbolic link"
	case t&fs.ModeNamedPipe != 0:
		return "pipe"
	case t&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
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

// Among says whether a file is one of the inputs.
func (in *Inputs) Among(info fs.FileInfo) (bool, error) {
	for i, err := range in.files(func(error) {}, func(string) {}) {
		if err != nil {
			return false, err
		}
		other, err := in.stat(i)
		if err == nil && os.SameFile(info, other) { // reading will report a file that is gone
			return true, nil
		}
	}
	return false, nil
}

func (in *Inputs) stat(i input) (fs.FileInfo, error) {
	if i.name != "-" {
		return os.Stat(i.name)
	}
	if f, ok := in.Stdin.(*os.File); ok {
		return f.Stat()
	}
	return nil, fs.ErrNotExist
}
