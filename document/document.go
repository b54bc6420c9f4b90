// Package document reads documents that are not HTML: PDF, DOCX and EPUB. Each becomes an
// [extract.Document], so it is judged like a page.
//
//	r := document.NewReader(document.Options{})
//	defer r.Close()
//	doc, err := r.Parse(ctx, extract.Options{}, body, "application/pdf")
//
// [Reader.Parse] also reads HTML pages, by calling package extract. It determines the type of a
// document from its bytes, because servers often send the wrong type.
//
// A DOCX or EPUB file is a ZIP file of XML, which the standard library reads. Package
// document/pdf reads PDF. All text of a document is main text, except tables of contents, page
// headers and page footers. These repeat other text, and the HTML version of a document has none of
// them.
//
// # Limits
//
// A document may be hostile. Its text has at most [MaxText] bytes. At most maxUnpacked bytes of a
// ZIP file are decompressed, whatever sizes it declares. XML elements are nested at most maxDepth
// deep, and entities are not expanded. Reading a PDF has a limit on memory and time. A document
// that exceeds a limit yields an [Error] and no text, because truncated text could be mistaken for
// a different text.
package document

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"skink/document/pdf"
	"skink/extract"
)

// Version is the version of the rules that turn documents into text. Increase it with every change
// that affects the text of any document.
const Version = 4

// These are the media types of documents.
const (
	PDF  = "application/pdf"
	DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	EPUB = "application/epub+zip"
)

var names = map[string]string{PDF: "PDF", DOCX: "DOCX", EPUB: "EPUB"}

// These are the reasons why a document cannot be read.
var (
	ErrEncrypted = pdf.ErrEncrypted
	ErrDamaged   = pdf.ErrDamaged
	ErrTooSlow   = pdf.ErrTooSlow
	ErrTooLarge  = pdf.ErrTooLarge
	ErrNoText    = errors.New("the file is empty or contains only images")
)

// An Error means that the text of a document cannot be read.
type Error struct {
	Type string // media type of the document
	Err  error  // one of the errors above
}

func (e *Error) Error() string {
	return "no text can be read from this " + names[e.Type] + ": " + e.Err.Error()
}
func (e *Error) Unwrap() error { return e.Err }

// Type returns the media type of a document as determined from its bytes, or "" if body is not a
// PDF, DOCX or EPUB file.
func Type(body []byte) string {
	switch {
	case bytes.HasPrefix(body, []byte("PK\x03\x04")):
		return packageType(body)
	case bytes.HasPrefix(body, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")): // encrypted DOCX files are inside OLE files
		if bytes.Contains(body, encryptedPackage) {
			return DOCX
		}
	case bytes.Contains(body[:min(len(body), 1024)], []byte("%PDF-")): // PDF readers allow other bytes before the header
		return PDF
	}
	return ""
}

// encryptedPackage is the UTF-16 name of the part of an OLE file that contains an encrypted DOCX
// file.
var encryptedPackage = []byte("E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00")

// TypeOfFile returns the media type of a file as determined from its name and its first bytes, or
// "" if the file does not look like a document.
func TypeOfFile(name string, start []byte) string {
	ext := strings.ToLower(filepath.Ext(name))
	switch {
	case bytes.HasPrefix(start, []byte("%PDF-")):
		return PDF
	case !bytes.HasPrefix(start, []byte("PK\x03\x04")) && !bytes.HasPrefix(start, []byte("\xd0\xcf\x11\xe0")):
		if ext == ".pdf" {
			return Type(start)
		}
		return ""
	case ext == ".docx":
		return DOCX
	case ext == ".epub":
		return EPUB
	}
	return packageType(start)
}

// MaxText returns the maximum number of bytes of text in a document, for a file of size bytes.
func MaxText(size int) int { return min(8<<20, 8*size+64<<10) }

// Options limit the resources that a [Reader] uses. The zero value selects the defaults.
type Options struct {
	Memory  int64         // limit on the total memory for reading PDF files, in bytes; 0 means 256 MB
	Timeout time.Duration // time limit for reading one PDF file; 0 means 2 minutes
	Cache   string        // folder for the compiled PDF engine; "" means skink/pdf in the user's cache folder
}

// These are memory sizes of one instance of the PDF engine, in bytes.
const (
	minInstance    = 32 << 20  // enough for small files
	enoughInstance = 128 << 20 // enough for nearly all files
	maxInstance    = 512 << 20
)

// A Reader reads documents. Its methods are safe for concurrent use, except Close. A nil Reader
// reads only HTML pages.
type Reader struct {
	opt Options

	once   sync.Once
	engine *pdf.Engine // nil until the first PDF file is read
	err    error       // why the PDF engine could not be started, or nil
}

// NewReader returns a Reader, which the caller must close. The PDF engine starts with the first PDF
// file.
func NewReader(opt Options) *Reader {
	opt.Memory = cmp.Or(opt.Memory, 256<<20)
	opt.Timeout = cmp.Or(opt.Timeout, 2*time.Minute)
	return &Reader{opt: opt}
}

// Close stops the PDF engine. No other method may be running, or be called afterwards.
func (r *Reader) Close() error {
	if r == nil || r.engine == nil {
		return nil
	}
	return r.engine.Close()
}

// Reads reports whether Parse would read a body as a document. contentType is as for Parse.
func (r *Reader) Reads(body []byte, contentType string) bool {
	if r == nil || Type(body) == "" {
		return false
	}
	media := extract.MediaType(body, contentType)
	return !strings.HasPrefix(media, "text/") && media != "application/xhtml+xml"
}

// Cost returns the number of bytes of memory needed to read a document, not counting its text.
func (r *Reader) Cost(body []byte) int64 {
	if Type(body) == PDF {
		_, memory := r.instances()
		return memory
	}
	return chapterTree
}

// AtOnce returns the number of PDF files that can be read at the same time, or 0 for a nil Reader.
// Other files wait their turn.
func (r *Reader) AtOnce() int {
	if r == nil {
		return 0
	}
	n, _ := r.instances()
	return int(n)
}

func (r *Reader) instances() (n, memory int64) {
	n = min(max(1, r.opt.Memory/enoughInstance), int64(runtime.GOMAXPROCS(0)))
	return n, max(minInstance, min(r.opt.Memory/n, maxInstance))
}

// Parse extracts the text of a page or a document. contentType is the Content-Type header as the
// server sent it. A page is parsed by [extract.Options.Parse]. If a document cannot be read, the
// error is an *[Error], or the error of ctx.
func (r *Reader) Parse(ctx context.Context, ask extract.Options, body []byte, contentType string) (*extract.Document, error) {
	doc, err := ask.Parse(body, contentType)
	if r == nil || doc != nil || !errors.Is(err, extract.ErrNotText) {
		return doc, err
	}
	media := Type(body)
	if media == "" {
		return nil, err
	}
	if doc, err = r.read(ctx, ask, body, media); err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(err, errMissing) { // a ZIP file that contains a document but is not one itself
		return nil, extract.ErrNotText
	}
	if err != nil {
		return nil, &Error{media, err}
	}
	if !doc.HasText() {
		return nil, &Error{media, ErrNoText}
	}
	return doc, nil
}

// Incomplete returns a note for users about the chapters that doc lacks. If it lacks none, the note
// is "".
func Incomplete(doc *extract.Document) string {
	switch doc.Missing {
	case 0:
		return ""
	case 1:
		return "1 chapter is missing from the file, or cannot be read"
	}
	return fmt.Sprintf("%d chapters are missing from the file, or cannot be read", doc.Missing)
}

func (r *Reader) read(ctx context.Context, ask extract.Options, body []byte, media string) (*extract.Document, error) {
	if media == PDF {
		return r.readPDF(ctx, body)
	}
	p, err := openPackage(body)
	if err != nil {
		return nil, err
	}
	if media == DOCX {
		return p.docx()
	}
	return p.epub(ask)
}

func (r *Reader) readPDF(ctx context.Context, body []byte) (*extract.Document, error) {
	r.once.Do(r.start)
	if r.err != nil {
		return nil, r.err
	}
	file, err := r.engine.Read(ctx, body, MaxText(len(body)))
	if err != nil {
		return nil, err
	}
	return pdfDocument(file), nil
}

func (r *Reader) start() {
	cache := r.opt.Cache
	if cache == "" {
		if dir, err := os.UserCacheDir(); err == nil {
			cache = filepath.Join(dir, "skink", "pdf")
		}
	}
	n, memory := r.instances()
	r.engine, r.err = pdf.New(pdf.Options{Instances: int(n), Memory: memory, Timeout: r.opt.Timeout, Cache: cache})
}
