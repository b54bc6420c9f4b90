package corpus

import (
	"bufio"
	"bytes"
	"encoding/json"
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
// A file that the user named is read in any form: JSON Lines, HTML, or any other text. In a folder
// only texts for readers are read, because folders of pages are full of other text: style sheets,
// drawings, programs, build files. They are detected by the usual file endings, or by a name such as
// README. HTML and PDF are detected by the first bytes with any ending ("index.php?id=3"), and JSON
// Lines by the first line. A file that matches a pattern of Include is read if it is text at all.

// A form says how a file holds records: one record a line, one row of a table, or one text in all.
type form struct {
	is   formKind
	kind string // media type if the whole file is one text; for a skipped file, its kind as it is counted
}

type formKind uint8

const (
	wholeFile formKind = iota
	lines
	passedOver
)

// sniffed is how many bytes of a file are read to detect its form.
const sniffed = 2048

// formOf returns the form of a file, and the bytes that it read to detect it.
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
	if why := manyInOne(name, start); why != nil && chosen {
		return form{}, nil, why
	}
	switch {
	case !inside:
	case !isText(kind):
		return form{passedOver, endingOr(name, kind)}, nil, nil
	case len(in.Include) == 0 && !forReaders(name, start):
		return form{passedOver, endingOr(name, "without ending")}, nil, nil
	}
	return form{wholeFile, kind}, head, nil
}

// manyInOne returns an error if a file appears to hold many texts in a form that is not supported,
// else nil.
func manyInOne(name string, start []byte) error {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv":
		return errors.New("CSV is not supported: convert the table to JSON Lines, for example with: mlr --icsv --ojsonl cat FILE.csv")
	case ".tsv", ".tab":
		return errors.New("TSV is not supported: convert the table to JSON Lines, for example with: mlr --itsv --ojsonl cat FILE.tsv")
	}
	if named := strings.EqualFold(filepath.Ext(name), ".json"); named && array.Match(start) || arrayOfObjects.Match(start) {
		return errors.New("a JSON array is not supported: convert it to JSON Lines, for example with: jq -c '.[]' FILE.json")
	}
	return nil
}

// array matches the beginning of a JSON array, and arrayOfObjects that of a JSON array of objects.
// A match of array alone is no proof of JSON, because other texts begin with a bracket, too.
var (
	array          = regexp.MustCompile(`^(?:\x{FEFF})?\s*\[`)
	arrayOfObjects = regexp.MustCompile(`^(?:\x{FEFF})?\s*\[\s*\{\s*["}]`)
)

func isText(kind string) bool { return isHTML(kind) || strings.HasPrefix(kind, "text/") }

func isHTML(kind string) bool { return kind == "text/html" || kind == "application/xhtml+xml" }

// endingOr returns the extension of a file name in lower case without its dot ("css"), or other if
// it has none. Users recognise the kind of a file by it.
func endingOr(name, other string) string {
	if ext := strings.ToLower(filepath.Ext(name)); len(ext) > 1 {
		return ext[1:]
	}
	return other
}

// readersEndings are the file name extensions of texts that people read.
var readersEndings = []string{".html", ".htm", ".xhtml", ".xht", ".md", ".markdown", ".txt", ".text"}

// readersNames are the names of texts for people in folders of source code. Such a name may stand
// before the first dot (README, README.first) or be the extension (zlib.LICENSE).
var readersNames = []string{"readme", "license", "licence", "copying", "copyright", "notice", "news", "changes", "changelog", "authors", "install", "todo", "faq"}

// forReaders reports whether a text file is meant for people, by its name and its first bytes.
func forReaders(name string, start []byte) bool {
	base := strings.ToLower(filepath.Base(name))
	ext := filepath.Ext(base)
	stem, _, _ := strings.Cut(base, ".")
	return slices.Contains(readersEndings, ext) || slices.Contains(readersNames, stem) ||
		ext != "" && slices.Contains(readersNames, ext[1:]) || extract.MediaType(start, "text/plain") == "text/html"
}

// diskType returns the media type of a file on disk: HTML if its name says so, else the type of its
// first bytes. Other names are not trusted: source code and the like are text under all kinds of
// names.
func diskType(name string, start []byte) string {
	if t := TypeOf(name); isHTML(t) || t == "text/markdown" {
		if m := extract.MediaType(start, t); !isText(m) {
			return m // a picture with the name of a page
		}
		return t
	}
	if t := extract.MediaType(start, ""); t != "text/html" && !strings.HasPrefix(t, "text/") {
		return t
	}
	return "text/plain"
}

// TypeOf returns the media type of a file name, or "" if the content must decide.
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

const bom = "\uFEFF" // some editors write one

// beginsAsLines reports whether a file is JSON Lines, and returns the bytes that it read to detect
// it. The file's name may decide that it is. Otherwise the first line that is not blank decides: it
// must be an object with a text, or with another field that a line may hold.
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

// mayBeObject reports whether the first bytes of a file can be those of a JSON object.
func mayBeObject(start []byte) bool {
	start = bytes.TrimSpace(bytes.TrimPrefix(start, []byte(bom)))
	return len(start) == 0 || start[0] == '{'
}

// isLine reports whether a line is a JSON object with a text, or one of a feed without a text.
func (f *Fields) isLine(raw []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return false
	}
	has := func(name string) bool {
		return bytes.HasPrefix(members[name], []byte(`"`)) || bytes.Equal(members[name], []byte("null"))
	}
	if slices.ContainsFunc(f.textNames(), has) {
		return true
	}
	return f.Text == "" && has("url") && has("verdict")
}
