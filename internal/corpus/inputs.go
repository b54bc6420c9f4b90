// Package corpus reads files, folders and standard input as one ordered stream of texts. It reads
// pages, plain text, the documents of package document, JSON Lines, Parquet and web archives. Each
// may be compressed with gzip or zstd. Start with [Inputs.Records].
//
// The same inputs give the same records in the same order, each file once, so results are
// reproducible. A [Record] contains the unchanged bytes of an input. [Record.Text] extracts the
// text, and is safe for concurrent use.
//
// A web archive can also be read as the pages of a crawl: [ReadArchive] reads a whole archive, and
// [PageOf] returns the page of one record. The package defines the fields that a crawl by skink
// adds to its WARC records. Package internal/archive writes them.
//
// The package does not compare texts itself.
package corpus

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"skink/document"
	"skink/internal/bucket"
	"skink/warc"
)

// Inputs are the files and folders that the user named.
type Inputs struct {
	Paths []string  // "-" is standard input; an address s3://BUCKET/KEY stands for objects, which [Inputs.Find] must find first
	Stdin io.Reader // input for the path "-"

	Include, Exclude []*regexp.Regexp // a path must match one of Include, if there are any, and none of Exclude
	Fields           Fields           // fields to read from JSON lines and tables
	Documents        *document.Reader // reads PDF and other documents; if nil, documents are skipped
	MaxRecord        int              // maximum size of a record in bytes; 0 means [DefaultMaxRecord]

	Unreadable func(error)       // called for each file or folder inside a folder that cannot be read; required
	Odd        func(error)       // called for each archive record that was read although its length is wrong; may be nil
	Passed     func(kind string) // called with the kind of each skipped file in a folder, of each repeated file, and of each archive record without text; may be nil

	objects   map[string][]*bucket.Source // by address
	bytesRead atomic.Int64                // before decompression
	once      sync.Once
	originals *warc.Originals // of all inputs; set by once
}

// Again returns a copy for reading the same inputs a second time. The copy does not call Unreadable,
// Odd or Passed, because the first read has done so.
func (in *Inputs) Again() *Inputs {
	return &Inputs{Paths: in.Paths, objects: in.objects, Stdin: in.Stdin, Include: in.Include, Exclude: in.Exclude,
		Fields: in.Fields, Documents: in.Documents, MaxRecord: in.MaxRecord, Unreadable: func(error) {}}
}

// Find finds the objects of the paths that are addresses. See [bucket.Find].
func (in *Inputs) Find(ctx context.Context) (err error) {
	in.objects = map[string][]*bucket.Source{}
	for _, path := range in.Paths {
		if bucket.IsAddress(path) && err == nil {
			in.objects[path], err = bucket.Find(ctx, path, bucket.Environment())
		}
	}
	return err
}

// ErrChanged means that the inputs were changed between two readings.
var ErrChanged = errors.New("the files have changed since skink dedup first read them: do not change files while it is running")

// Second begins to read the inputs a second time. The function find returns the record with a number. The
// numbers must be in ascending order.
func (in *Inputs) Second(ctx context.Context) (find func(num int) (*Record, error), stop func()) {
	next, stop := iter.Pull2(in.Again().Records(ctx))
	return func(num int) (*Record, error) {
		for {
			switch r, err, more := next(); {
			case err != nil:
				return nil, err
			case !more || r.Num > num:
				return nil, ErrChanged
			case r.Num == num:
				return r, nil
			}
		}
	}, stop
}

// Read returns the number of bytes that have been read from files so far, before decompression. A
// skipped file counts as read.
func (in *Inputs) Read() int64 { return in.bytesRead.Load() }

// Size returns the total size of the files in bytes, or -1 if one of them is not a regular file,
// such as a pipe.
func (in *Inputs) Size() (total int64) {
	for i, err := range in.files(func(error) {}, func(string) {}) {
		if err != nil {
			return -1
		}
		info, err := in.stat(i)
		switch {
		case i.object != nil:
			total += i.object.Size
		case err == nil && info.Mode().IsRegular():
			total += info.Size()
		case !i.inside:
			return -1
		}
	}
	return total
}

// DefaultMaxRecord is the default maximum size of a record, in bytes. A longer record is reported
// as bad: nobody reads such a long text, and it would take too much memory.
const DefaultMaxRecord = 64 << 20

func (in *Inputs) maxRecord() int { return cmp.Or(in.MaxRecord, DefaultMaxRecord) }

type input struct {
	name   string // "-" is standard input
	inside bool   // found in a folder, not named by the user
	below  string // path below that folder; for a named file, the last element of its name

	object *bucket.Source // nil for a file
}

func (i input) String() string {
	if i.name == "-" {
		return "standard input"
	}
	return i.name
}

// files yields each file once, and calls passed for each repeat. The files of a folder are sorted
// by name. As in a crawl, it skips hidden files in folders, and continues after a file that cannot
// be read.
func (in *Inputs) files(unreadable func(error), passed func(kind string)) iter.Seq2[input, error] {
	return func(yield func(input, error) bool) {
		seen := map[string]bool{}
		more := true
		found := func(i input, path string) error {
			switch {
			case i.name != "-" && !in.chosen(i.name):
				return nil
			case seen[path]:
				passed("file given twice")
				return nil
			}
			seen[path] = true
			if more = yield(i, nil); !more {
				return fs.SkipAll
			}
			return nil
		}
		for _, arg := range in.Paths {
			if bucket.IsAddress(arg) {
				for _, o := range in.objects[arg] {
					if more {
						_ = found(input{o.Address(), o.Listed, o.Below, o}, o.Address())
					}
				}
			} else if arg == "-" {
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

// A File is one of the input files.
type File struct {
	Name  string // in the form of [Record.Input]
	Below string // path below the folder that the user named, preceded by that folder if there are several inputs; for a named file, the last element of its name
}

// Files yields the input files. It does not read them, so some may later turn out to have no records.
func (in *Inputs) Files() iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for i, err := range in.files(func(error) {}, func(string) {}) {
			f := File{i.name, i.below}
			if i.inside && len(in.Paths) > 1 {
				root := strings.TrimSuffix(strings.TrimSuffix(i.name, i.below), string(filepath.Separator))
				f.Below = filepath.Join(filepath.Base(root), i.below)
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

func (in *Inputs) chosen(path string) bool {
	path = filepath.ToSlash(path)
	matches := func(p *regexp.Regexp) bool { return p.MatchString(path) }
	return (len(in.Include) == 0 || slices.ContainsFunc(in.Include, matches)) && !slices.ContainsFunc(in.Exclude, matches)
}

// walk calls found for root if root is a file, or for each file below root if it is a folder. It
// also passes the resolved absolute path, so that found can recognize a file that is reached twice.
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
			passed(kindOfFile(d.Type())) // links are skipped, because a target in the folder is found under its own name
			return nil
		}
		below, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		path := filepath.Join(top, below)
		if !inside {
			below = filepath.Base(name)
		}
		return found(input{name, inside, below, nil}, path)
	})
}

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

// WalkDir follows a symbolic link to a folder only if the path ends in a slash.
func walkable(root string) string {
	if info, err := os.Stat(root); err == nil && info.IsDir() && !strings.HasSuffix(root, "/") {
		if link, err := os.Lstat(root); err == nil && link.Mode()&fs.ModeSymlink != 0 {
			return root + "/"
		}
	}
	return root
}

// resolved returns the absolute path of a file, with symbolic links resolved. A link whose target
// has no path, such as a shell's pipe in /dev/fd, is not resolved.
func resolved(name string) string {
	if to, err := filepath.EvalSymlinks(name); err == nil {
		name = to
	}
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	return name
}

// Among returns the name of the input that info describes, or "" if it is none.
func (in *Inputs) Among(info fs.FileInfo) (string, error) {
	for i, err := range in.files(func(error) {}, func(string) {}) {
		if err != nil {
			return "", err
		}
		other, err := in.stat(i)
		if err == nil && os.SameFile(info, other) { // a missing file is reported when the inputs are read
			return i.name, nil
		}
	}
	return "", nil
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

// open opens an input. Reading from a pipe or a device may block forever, so opening and reading
// return the error of ctx when ctx ends.
func (in *Inputs) open(ctx context.Context, i input) (io.ReadCloser, error) {
	open := func() (io.ReadCloser, error) { return os.Open(i.name) }
	if i.name == "-" {
		return patient(ctx, func() (io.ReadCloser, error) { return io.NopCloser(in.Stdin), nil }), nil
	}
	if i.object != nil {
		return i.object.Open(ctx), nil
	}
	if i.inside {
		return open()
	}
	if info, err := os.Stat(i.name); err == nil && !info.Mode().IsRegular() {
		return patient(ctx, open), nil
	}
	return open()
}

// patient calls open and reads from the result in a separate goroutine, so that a reader does not
// block after ctx has ended. If opening or reading never returns, the goroutine lives until the
// process ends.
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
