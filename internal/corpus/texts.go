package corpus

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"iter"
	"mime"
	"path/filepath"
	"strings"

	"skink/extract"
)

// A File is a text from disk, or from a line of a JSON Lines file.
type File struct {
	URL    string            // its name: a path, or what the line says
	Source string            // FILE:LINE of such a line; "": the path says where it is from
	Doc    *extract.Document // nil: the file holds no text
	Type   string            // its media type
}

// Texts yields the texts of the inputs. Their names are their URLs. It ends with the first
// file that was named and cannot be read, and the error that says why; of what cannot be read
// inside a folder it tells Unreadable, and goes on.
func (in *Inputs) Texts(ctx context.Context) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for i, err := range in.files(in.Unreadable) {
			if err != nil {
				yield(File{}, err)
				return
			}
			if !in.read(ctx, i, yield) {
				return
			}
		}
	}
}

// read yields the texts of one file, and says whether more are wanted.
func (in *Inputs) read(ctx context.Context, i input, yield func(File, error) bool) bool {
	failed := func(err error) bool {
		if i.inside {
			in.Unreadable(err)
			return true
		}
		return yield(File{}, err)
	}
	f, err := in.open(ctx, i)
	if err != nil {
		return failed(err)
	}
	defer f.Close()
	b := bufio.NewReaderSize(f, 1<<16)
	if start, _ := b.Peek(512); isGzip(start) {
		if i.inside {
			return yield(fileOf(i.name, start, "application/gzip"), nil)
		}
		return yield(File{}, &PackedError{i.name})
	}
	head, isLines, err := beginsAsLines(i.name, b)
	if err != nil {
		return failed(err)
	}
	whole := io.MultiReader(bytes.NewReader(head), b)
	if isLines {
		return readLines(i, bufio.NewReaderSize(whole, 1<<16), yield, failed)
	}
	body, err := io.ReadAll(whole)
	if err != nil {
		return failed(err)
	}
	return yield(fileOf(i.name, body, diskType(i.name, body)), nil)
}

func isGzip(start []byte) bool { return bytes.HasPrefix(start, []byte("\x1F\x8B")) }

// A PackedError says that an input is packed with gzip, and must be unpacked before it is read.
type PackedError struct{ Name string } // as it was named: "-" is standard input

func (e *PackedError) Error() string { return input{name: e.Name}.String() + " is packed with gzip" }

func isHTML(kind string) bool { return kind == "text/html" || kind == "application/xhtml+xml" }

// diskType is what a file on disk is taken for: by its name if that says HTML,
// else by its bytes. Source code and the like have names that say all sorts of
// things, and are text.
func diskType(name string, body []byte) string {
	if t := TypeOf(name); isHTML(t) || t == "text/markdown" {
		return t
	}
	if t := extract.MediaType(body, ""); t != "text/html" && !strings.HasPrefix(t, "text/") {
		return t
	}
	return "text/plain"
}

// fileOf makes a file of its bytes.
func fileOf(name string, body []byte, kind string) File {
	doc, err := extract.Parse(body, kind)
	if err != nil { // the only one is that it holds no text
		doc = nil
	}
	return File{URL: name, Doc: doc, Type: extract.MediaType(body, kind)}
}

// TypeOf is the media type that a file's name promises, "" if it promises none:
// then its bytes decide.
func TypeOf(name string) string {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".html", ".htm":
		return "text/html"
	case ".xhtml", ".xht":
		return "application/xhtml+xml"
	case ".md", ".markdown":
		return "text/markdown"
	case ".txt", ".text":
		return "text/plain"
	case "":
		return ""
	default:
		kind, _, _ := mime.ParseMediaType(mime.TypeByExtension(ext))
		return kind
	}
}
