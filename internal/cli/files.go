package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"skink/extract"
	"skink/internal/ingest"
)

// readFiles yields the texts of files and of folders, in the order of their
// names, which are their URLs.
func readFiles(paths []string) iter.Seq2[ingest.File, error] {
	return func(yield func(ingest.File, error) bool) {
		more := true
		for _, root := range paths {
			err := filepath.WalkDir(walkable(root), func(name string, d fs.DirEntry, err error) error {
				switch {
				case err != nil:
					return err
				case d.IsDir():
					return nil
				case !d.Type().IsRegular() && name != root:
					return nil // a link or a pipe: what it leads to has a name of its own
				}
				if more = readInto(name, yield); !more {
					return fs.SkipAll
				}
				return nil
			})
			if err != nil {
				yield(ingest.File{}, err)
				return
			}
			if !more {
				return
			}
		}
	}
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

// readInto yields the texts of one file, and says whether more are wanted.
func readInto(name string, yield func(ingest.File, error) bool) bool {
	if strings.EqualFold(filepath.Ext(name), ".jsonl") {
		return readLines(name, yield)
	}
	body, err := os.ReadFile(name)
	if err != nil {
		return yield(ingest.File{}, err)
	}
	return yield(fileOf(name, body, diskType(name, body)), nil)
}

// diskType is what a file on disk is taken for: by its name if that says HTML,
// else by its bytes. Source code and the like have names that say all sorts of
// things, and are text.
func diskType(name string, body []byte) string {
	switch t := typeOf(name); t {
	case "text/html", "application/xhtml+xml", "text/markdown":
		return t
	}
	if t := extract.MediaType(body, ""); t != "text/html" && !strings.HasPrefix(t, "text/") {
		return t
	}
	return "text/plain"
}

// fileOf makes a file of its bytes.
func fileOf(name string, body []byte, kind string) ingest.File {
	doc, err := extract.Parse(body, kind)
	if err != nil { // the only one is that it holds no text
		doc = nil
	}
	return ingest.File{URL: name, Doc: doc, Type: extract.MediaType(body, kind)}
}

// A line of a JSON Lines file.
type line struct {
	URL     string  `json:"url"`
	Text    *string `json:"text"`
	HTML    *string `json:"html"`
	Verdict string  `json:"verdict"` // of a line that skink export wrote
}

// readLines yields the texts of a JSON Lines file.
func readLines(name string, yield func(ingest.File, error) bool) bool {
	f, err := os.Open(name)
	if err != nil {
		return yield(ingest.File{}, err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	for n := 1; ; n++ {
		raw, err := in.ReadBytes('\n')
		if n == 1 {
			raw = bytes.TrimPrefix(raw, []byte("\uFEFF")) // some editors write one
		}
		if len(bytes.TrimSpace(raw)) > 0 {
			file, err := parseLine(raw)
			if err != nil {
				return yield(ingest.File{}, fmt.Errorf("%s, line %d: %w", name, n, err))
			}
			if !yield(file, nil) {
				return false
			}
		}
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			return yield(ingest.File{}, err)
		}
	}
}

func parseLine(raw []byte) (ingest.File, error) {
	var l line
	var kind *json.UnmarshalTypeError
	switch err := json.Unmarshal(raw, &l); {
	case errors.As(err, &kind) && kind.Field != "":
		return ingest.File{}, fmt.Errorf(`%q is a %s and should be a string`, kind.Field, kind.Value)
	case errors.As(err, &kind):
		return ingest.File{}, fmt.Errorf(`%s where an object should be: try {"url","text"} or {"url","html"}`, kind.Value)
	case err != nil:
		return ingest.File{}, fmt.Errorf(`no JSON: %w: try an object {"url","text"} or {"url","html"} a line`, err)
	case l.URL == "":
		return ingest.File{}, errors.New(`"url" is missing: try {"url","text"} or {"url","html"}`)
	case l.Text != nil:
		return fileOf(l.URL, []byte(*l.Text), "text/plain; charset=utf-8"), nil
	case l.HTML != nil:
		return fileOf(l.URL, []byte(*l.HTML), "text/html; charset=utf-8"), nil
	case l.Verdict != "": // a feed leaves out what a page has not, or what was not kept of it
		return ingest.File{URL: l.URL}, nil
	}
	return ingest.File{}, errors.New(`"text" is missing: try {"url","text"} or {"url","html"}`)
}
