package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"skink/extract"
	"skink/internal/ingest"
)

// texts yields the texts of the inputs. Their names are their URLs.
func (in *inputs) texts(ctx context.Context) iter.Seq2[ingest.File, error] {
	return func(yield func(ingest.File, error) bool) {
		for i, err := range in.files(in.unreadable) {
			if err != nil {
				yield(ingest.File{}, err)
				return
			}
			if !in.read(ctx, i, yield) {
				return
			}
		}
	}
}

// read yields the texts of one file, and says whether more are wanted.
func (in *inputs) read(ctx context.Context, i input, yield func(ingest.File, error) bool) bool {
	failed := func(err error) bool {
		if i.inside {
			in.unreadable(err)
			return true
		}
		return yield(ingest.File{}, err)
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
		return yield(ingest.File{}, gzipError(i))
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

func gzipError(i input) error {
	if i.name == "-" {
		return fmt.Errorf("%s is packed with gzip: unpack it first, as in: gzip -dc FILE | skink dedup -", i)
	}
	return fmt.Errorf("%s is packed with gzip: unpack it first, as in: gzip -dc %s | skink dedup -", i, i)
}

const bom = "\uFEFF" // some editors write one

// beginsAsLines says whether a file is JSON Lines, and returns what it had to read
// of it. A name may say so; that of HTML says no; else the first line that is not
// blank decides: an object with a text, or with what else a line may hold.
func beginsAsLines(name string, b *bufio.Reader) (head []byte, yes bool, err error) {
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case ext == ".jsonl" || ext == ".ndjson":
		return nil, true, nil
	case isHTML(typeOf(name)):
		return nil, false, nil
	}
	if start, _ := b.Peek(512); !mayBeObject(start) {
		return nil, false, nil
	}
	for {
		raw, err := b.ReadBytes('\n')
		head = append(head, raw...)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, false, err
		}
		if raw := bytes.TrimSpace(bytes.TrimPrefix(raw, []byte(bom))); len(raw) > 0 || err != nil {
			return head, isLine(raw), nil
		}
	}
}

// mayBeObject says whether a file may begin with an object, by its first bytes.
func mayBeObject(start []byte) bool {
	start = bytes.TrimSpace(bytes.TrimPrefix(start, []byte(bom)))
	return len(start) == 0 || start[0] == '{'
}

// isLine says whether a line is one of JSON Lines that hold texts.
func isLine(raw []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return false
	}
	isString := func(name string) bool { return bytes.HasPrefix(members[name], []byte(`"`)) }
	return isString("text") || isString("url") && (isString("html") || isString("verdict"))
}

func isHTML(kind string) bool { return kind == "text/html" || kind == "application/xhtml+xml" }

// diskType is what a file on disk is taken for: by its name if that says HTML,
// else by its bytes. Source code and the like have names that say all sorts of
// things, and are text.
func diskType(name string, body []byte) string {
	if t := typeOf(name); isHTML(t) || t == "text/markdown" {
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

// readLines yields the texts of a JSON Lines file, a line at a time.
func readLines(i input, in *bufio.Reader, yield func(ingest.File, error) bool, failed func(error) bool) bool {
	for n := 1; ; n++ {
		raw, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return failed(err)
		}
		if n == 1 {
			raw = bytes.TrimPrefix(raw, []byte(bom))
		}
		if len(bytes.TrimSpace(raw)) > 0 {
			file, err := parseLine(raw)
			if err != nil {
				return yield(ingest.File{}, fmt.Errorf("%s, line %d: %w", i, n, err))
			}
			file.Source = fmt.Sprintf("%s:%d", i, n)
			if !yield(file, nil) {
				return false
			}
		}
		if err != nil {
			return true
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
