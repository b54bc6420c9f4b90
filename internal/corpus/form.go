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

	"skink/extract"
)

// # What a file is
//
// A file that somebody named is read, whatever it is: JSON Lines, HTML, or any other text. In a
// folder only files meant for readers are read. A folder of pages is full of other text that says
// nothing to readers: style sheets, drawings, programs, build files. Files for readers are known by
// the usual endings, HTML by its first bytes whatever its ending ("index.php?id=3"), JSON Lines by
// their first line, and some by a name such as README. Somebody who wants another kind asks for it:
// a file that a pattern of Include chooses is read if it is text at all.

// A form is how the records stand in a file.
type form struct {
	is   formKind
	kind string // media type of a whole file; if the file is passed over, the name of its kind in the counts
}

type formKind uint8

const (
	wholeFile formKind = iota
	lines
	passedOver
)

// sniffed is how much of a file is looked at to know its form.
const sniffed = 2048

// formOf says what a file is, and returns the bytes that it had to read to find out.
func (in *Inputs) formOf(name string, b *bufio.Reader, inside bool) (f form, head []byte, err error) {
	head, isLines, err := in.beginsAsLines(name, b)
	if err != nil || isLines {
		return form{is: lines}, head, err
	}
	start := head
	if len(head) == 0 {
		start, _ = b.Peek(sniffed)
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

// manyInOne says why a file that holds many texts in one is not read as one text; nil: it does not look
// like such a file.
func manyInOne(name string, start []byte) error {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv":
		return errors.New("it is a table, and tables of CSV are not read: convert it to JSON Lines, for example with: mlr --icsv --ojsonl cat FILE.csv")
	case ".tsv", ".tab":
		return errors.New("it is a table, and tables of TSV are not read: convert it to JSON Lines, for example with: mlr --itsv --ojsonl cat FILE.tsv")
	}
	if named := strings.EqualFold(filepath.Ext(name), ".json"); named && array.Match(start) || arrayOfObjects.Match(start) {
		return errors.New("it is one JSON array, and those are not read: convert it to JSON Lines, for example with: jq -c '.[]' FILE.json")
	}
	return nil
}

// The beginnings of a JSON array and of one of objects. Other texts begin with a bracket, too.
var (
	array          = regexp.MustCompile(`^(?:\x{FEFF})?\s*\[`)
	arrayOfObjects = regexp.MustCompile(`^(?:\x{FEFF})?\s*\[\s*\{\s*["}]`)
)

func isText(kind string) bool { return isHTML(kind) || strings.HasPrefix(kind, "text/") }

func isHTML(kind string) bool { return kind == "text/html" || kind == "application/xhtml+xml" }

// endingOr is the ending of a name without its dot, or other if the name has none. People know
// kinds of files by their endings.
func endingOr(name, other string) string {
	if ext := strings.ToLower(filepath.Ext(name)); len(ext) > 1 {
		return ext[1:]
	}
	return other
}

// readersEndings are the endings of texts that are meant for readers.
var readersEndings = []string{".html", ".htm", ".xhtml", ".xht", ".md", ".markdown", ".txt", ".text"}

// readersNames are the names of texts for readers that stand beside programs: as a name (README,
// README.first) or as its ending (zlib.LICENSE).
var readersNames = []string{"readme", "license", "licence", "copying", "copyright", "notice", "news", "changes", "changelog", "authors", "install", "todo", "faq"}

// forReaders says whether a text is known to be meant for readers.
func forReaders(name string, start []byte) bool {
	base := strings.ToLower(filepath.Base(name))
	ext := filepath.Ext(base)
	stem, _, _ := strings.Cut(base, ".")
	return slices.Contains(readersEndings, ext) || slices.Contains(readersNames, stem) ||
		ext != "" && slices.Contains(readersNames, ext[1:]) || extract.MediaType(start, "text/plain") == "text/html"
}

// diskType is the media type that a file on disk is taken for: HTML if its name says so, else what
// its bytes look like. Other names are not trusted: source code and the like have names of all
// sorts, and are text.
func diskType(name string, start []byte) string {
	if t := TypeOf(name); isHTML(t) || t == "text/markdown" {
		if m := extract.MediaType(start, t); !isText(m) {
			return m // a picture that is called a page
		}
		return t
	}
	if t := extract.MediaType(start, ""); t != "text/html" && !strings.HasPrefix(t, "text/") {
		return t
	}
	return "text/plain"
}

// TypeOf is the media type that a file's name promises; "" if it promises none, and the bytes
// decide.
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

// beginsAsLines says whether a file is JSON Lines, and returns the bytes that it had to read to
// find out. The file's name may say yes. Otherwise, whatever the name, the first line that is not
// blank decides: it must be an object with a text, or with something else that a line may hold.
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

// mayBeObject says whether a file may begin with an object, by its first bytes.
func mayBeObject(start []byte) bool {
	start = bytes.TrimSpace(bytes.TrimPrefix(start, []byte(bom)))
	return len(start) == 0 || start[0] == '{'
}

// isLine says whether a line is one of JSON Lines that hold texts.
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
