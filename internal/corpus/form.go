package corpus

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"skink/document"
	"skink/extract"
)

// # Detecting the form of a file
//
// A file that the user named is read whatever its form: JSON Lines, a JSON array, CSV or TSV, HTML,
// or any other text. In a folder, only text written for people is read, because folders of pages
// are full of other text: style sheets, drawings, programs, build files. Text for people is
// detected by the usual file extensions, or by a name such as README. HTML and PDF are detected by
// their first bytes, whatever the extension ("index.php?id=3"), and JSON Lines by the first line. A
// file that matches a pattern in Include is read if it contains text of any kind.

// A form says how a file is divided into records: by lines, by the rows of a table, or not at all.
type form struct {
	is   formKind
	kind string // media type, if the whole file is one text; for a skipped file, the kind under which it is counted
}

type formKind uint8

const (
	wholeFile formKind = iota
	lines
	sheet    // each row of a CSV or TSV file is a record
	elements // each element of a JSON array, or each of several JSON objects, is a record
	passedOver
)

// in bytes
const sniffed = 2048

func (in *Inputs) formOf(name string, b *bufio.Reader, inside bool) (f form, head []byte, err error) {
	head, isLines, err := in.beginsAsLines(name, b)
	if err != nil || isLines {
		return form{is: lines}, head, err
	}
	start := head
	if len(head) == 0 {
		start, _ = b.Peek(sniffed)
	}
	if kind := document.TypeOfFile(name, start); kind != "" && in.Documents != nil {
		return form{wholeFile, kind}, head, nil
	}
	kind := diskType(name, start)
	chosen := !inside || len(in.Include) > 0
	if many, ok := manyInOne(name, start); ok && chosen {
		return many, head, nil
	}
	if !inside && strings.EqualFold(filepath.Ext(name), ".json") && mayBeObject(start) {
		return form{is: elements}, head, nil
	}
	switch {
	case !inside:
	case !isText(kind):
		return form{passedOver, endingOr(name, kind)}, nil, nil
	case len(in.Include) == 0 && !forReaders(name, start):
		return form{passedOver, endingOr(name, "without a file extension")}, nil, nil
	}
	return form{wholeFile, kind}, head, nil
}

// manyInOne returns the form of a file that contains many texts as a table or as JSON. It
// returns false if the file contains a single text.
func manyInOne(name string, start []byte) (f form, ok bool) {
	ext := strings.ToLower(filepath.Ext(name))
	switch ext {
	case ".csv", ".tsv", ".tab":
		return form{is: sheet}, true
	}
	if ext == ".json" && array.Match(start) || arrayOfObjects.Match(start) {
		return form{is: elements}, true
	}
	return form{}, false
}

// array matches the beginning of a JSON array, and arrayOfObjects the beginning of a JSON array of
// objects. Other texts may begin with a bracket too, so a match of array does not prove that a file
// is JSON.
var (
	array          = regexp.MustCompile(`^(?:\x{FEFF})?\s*\[`)
	arrayOfObjects = regexp.MustCompile(`^(?:\x{FEFF})?\s*\[\s*\{\s*["}]`)
)

func isText(kind string) bool { return isHTML(kind) || strings.HasPrefix(kind, "text/") }

func isHTML(kind string) bool { return kind == "text/html" || kind == "application/xhtml+xml" }

// endingOr returns the extension of a file name without the dot, or other if there is none.
func endingOr(name, other string) string {
	if ext := strings.ToLower(filepath.Ext(name)); len(ext) > 1 {
		return ext[1:]
	}
	return other
}

// readersTypes contains the media types of files for people to read, by the extension of the file name.
var readersTypes = map[string]string{
	".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml", ".xht": "application/xhtml+xml",
	".md": "text/markdown", ".markdown": "text/markdown", ".txt": "text/plain", ".text": "text/plain",
}

// Each of these may be the part of a file name before the first dot (README, README.first), or its
// extension (zlib.LICENSE).
var readersNames = []string{"readme", "license", "licence", "copying", "copyright", "notice", "news", "changes", "changelog", "authors", "install", "todo", "faq"}

// forReaders reports whether a file is written for people to read, judging by its name and its
// first bytes.
func forReaders(name string, start []byte) bool {
	base := strings.ToLower(filepath.Base(name))
	ext := filepath.Ext(base)
	stem, _, _ := strings.Cut(base, ".")
	return readersTypes[ext] != "" || slices.Contains(readersNames, stem) ||
		ext != "" && slices.Contains(readersNames, ext[1:]) || extract.MediaType(start, "text/plain") == "text/html"
}

// diskType returns the media type of a file on disk: HTML or Markdown if the name says so,
// otherwise the type that the first bytes indicate. Other names are not trusted, because source
// code is text under all kinds of names.
func diskType(name string, start []byte) string {
	if t := TypeOf(name); isHTML(t) || t == "text/markdown" {
		if m := extract.MediaType(start, t); !isText(m) {
			return m // the file is, for example, an image with the name of an HTML page
		}
		return t
	}
	if t := extract.MediaType(start, ""); t != "text/html" && !strings.HasPrefix(t, "text/") {
		return t
	}
	return "text/plain"
}

// TypeOf returns the media type that a file name implies, or "" if only the content can tell.
func TypeOf(name string) string {
	ext := strings.ToLower(filepath.Ext(name))
	if kind := readersTypes[ext]; kind != "" || ext == "" {
		return kind
	}
	kind, _, _ := mime.ParseMediaType(mime.TypeByExtension(ext))
	return kind
}

const bom = "\uFEFF" // byte order mark, which some editors write at the beginning of a file

// beginsAsLines reports whether a file is JSON Lines, and returns the bytes that were read to
// detect this. The extension may be enough. Otherwise the first nonblank line decides: it must be
// an object with a text, or with another field that a line may have.
func (in *Inputs) beginsAsLines(name string, b *bufio.Reader) (head []byte, yes bool, err error) {
	if ext := strings.ToLower(filepath.Ext(name)); ext == ".jsonl" || ext == ".ndjson" {
		return nil, true, nil
	}
	start, err := b.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if !mayBeObject(start) {
		return nil, false, nil
	}
	for begin := 0; len(head) <= in.maxRecord(); {
		raw, err := b.ReadSlice('\n')
		head = append(head, raw...)
		switch line := bytes.TrimSpace(bytes.TrimPrefix(head[begin:], []byte(bom))); {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && !errors.Is(err, io.EOF):
			return nil, false, err
		case len(line) > 0 || err != nil:
			return head, in.Fields.isLine(line), nil
		default:
			begin = len(head)
		}
	}
	return head, false, nil
}

func mayBeObject(start []byte) bool {
	start = bytes.TrimSpace(bytes.TrimPrefix(start, []byte(bom)))
	return len(start) == 0 || start[0] == '{'
}

// isLine reports whether a line is a JSON object with a text, or a textless line of a feed.
func (f *Fields) isLine(raw []byte) bool {
	members, err := membersOf(raw)
	if err != nil {
		return false
	}
	has := func(name string) bool {
		value, _ := members.field(name)
		kind := valueKind(value)
		return kind == "string" || kind == "null"
	}
	if slices.ContainsFunc(f.textNames(), has) {
		return true
	}
	return len(f.Text) == 0 && has("url") && has("verdict")
}
