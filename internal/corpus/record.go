package corpus

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"os"
	"sync/atomic"

	"skink/base/table"
	"skink/document"
	"skink/extract"
	"skink/warc"
)

// A Record contains the unparsed bytes of one text in the inputs: a file, a line, a row, or a
// record of an archive.
type Record struct {
	Num   int    // index among all records, from 0
	Input string // file name as given by the user or as found in a folder; "-" for standard input
	Line  int    // line number in a JSON Lines file, from 1; 0 if the record is a whole file
	Raw   []byte // decompressed bytes, without a line break
	Type  string // media type, if the record is a whole file; otherwise ""

	Contaminated []string // see [Note]; set by package decontaminate

	unit     string     // unit of Line in messages; "" means lines
	cells    []string   // cells of a sheet row; Raw is then the row as a JSON object
	rawRow   string     // a TSV row as it was read, without its line break
	sheet    *sheetHead // header of the sheet that the row belongs to
	row      *table.Row // a row of a Parquet file; Line is then the row number
	archived *archived  // set for a record of a web archive; Line is then its number in the archive, and Raw its block
	fields   Fields
	bad      error // why the record cannot be read, or nil

	documents *document.Reader
}

// A Text is the result of parsing a record with [Record.Text].
type Text struct {
	URL     string            // name of the text: the name in the record, the path of the file, or else FILE:LINE
	Placed  bool              // URL is FILE:LINE, which is always unique
	Doc     *extract.Document // nil if the record contains no text
	Type    string            // media type
	Private bool              // see [store.Record.Private]
	Fields  json.RawMessage   // an object with the value of the field [Fields.Rank]; nil if that is no string, number or boolean
	Header  http.Header       // HTTP header of a response from a web archive, otherwise nil
}

// A BadError means that a record cannot be read.
type BadError struct {
	Place string // such as "FILE, line N"
	Err   error  // cause
}

func (e *BadError) Error() string { return fmt.Sprintf("%s: %v", e.Place, e.Err) }
func (e *BadError) Unwrap() error { return e.Err }

// Place returns the position of a record for messages.
func (r *Record) Place() string {
	if r.Line == 0 {
		return input{name: r.Input}.String()
	}
	if r.archived != nil {
		return fmt.Sprintf("%s, record at offset %d", input{name: r.Input}, r.archived.offset)
	}
	return fmt.Sprintf("%s, %s %d", input{name: r.Input}, cmp.Or(r.unit, "line"), r.Line)
}

// Source returns FILE:LINE if the record is a line of a file. It returns "" if the record is a
// whole file, whose name already identifies it.
func (r *Record) Source() string {
	if r.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", input{name: r.Input}, r.Line)
}

// Size returns the size of the record in bytes.
func (r *Record) Size() int {
	if r.row != nil {
		return r.row.Size()
	}
	return len(r.Raw)
}

// Drop frees the content of a record that will not be written.
func (r *Record) Drop() { r.Raw, r.cells, r.rawRow, r.row = nil, nil, "", nil }

// Markup reports whether the record may need to be parsed as HTML, which takes much more memory
// than plain text.
func (r *Record) Markup() bool {
	if r.row != nil || r.archived != nil {
		return true
	}
	if r.Line == 0 {
		return isHTML(r.Type) || r.Type == "" || r.Type == "text/plain"
	}
	return bytes.IndexByte(r.Raw, '<') >= 0 || bytes.Contains(r.Raw, []byte(`\u003`))
}

// Document reports whether the record is a PDF or another document.
func (r *Record) Document() bool {
	if r.archived == nil {
		return r.Line == 0 && r.documents.Reads(r.Raw, r.Type)
	}
	_, body, _ := bytes.Cut(r.Raw, []byte("\r\n\r\n")) // the document follows the HTTP header
	return r.documents.Reads(body, "")
}

// Text parses the record. The argument ask controls how HTML is parsed. The error is a *[BadError],
// a *[PassedError], or that of ctx.
func (r *Record) Text(ctx context.Context, ask extract.Options) (Text, error) {
	if r.bad != nil {
		return Text{}, &BadError{r.Place(), r.bad}
	}
	t, err := r.said(ctx, ask)
	if err != nil {
		if ctx.Err() != nil {
			return Text{}, ctx.Err()
		}
		return Text{}, &BadError{r.Place(), err}
	}
	if t.URL == "" {
		t.URL, t.Placed = r.Source(), true
	}
	return t, nil
}

func (r *Record) said(ctx context.Context, ask extract.Options) (Text, error) {
	switch {
	case r.row != nil:
		return r.fields.readRow(ask, r.row)
	case r.archived != nil:
		t, err := r.archived.text(ctx, r.documents, ask, r.Raw)
		t.Private = r.archived.private()
		return t, err
	case r.Line == 0:
		return fileText(ctx, r.documents, ask, r.Input, r.Raw, r.Type)
	}
	return r.fields.read(ask, r.Raw)
}

// fileText returns the text of a whole file. It fails only for a document, such as a PDF, that
// cannot be parsed.
func fileText(ctx context.Context, documents *document.Reader, ask extract.Options, name string, body []byte, kind string) (Text, error) {
	if !documents.Reads(body, kind) {
		return textOf(ask, name, body, kind), nil
	}
	doc, err := documents.Parse(ctx, ask, body, kind)
	if errors.Is(err, extract.ErrNotText) {
		return Text{URL: name, Type: extract.MediaType(body, kind)}, nil
	}
	return Text{URL: name, Doc: doc, Type: document.Type(body)}, err
}

// kind is the media type, HTML or plain text.
func textOf(ask extract.Options, name string, body []byte, kind string) Text {
	doc, err := ask.Parse(body, kind)
	if err != nil { // Parse fails only if the file contains no text
		return Text{URL: name, Type: extract.MediaType(body, kind)}
	}
	return Text{URL: name, Doc: doc, Type: doc.MediaType}
}

// Records yields the records of the inputs. If a file that the user named cannot be read, Records
// yields the error and ends. If a file inside a folder cannot be read, it calls Unreadable and
// continues.
func (in *Inputs) Records(ctx context.Context) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		num := 0
		numbered := func(r *Record, err error) bool {
			if r != nil {
				r.Num = num
				num++
			}
			return yield(r, err)
		}
		for i, err := range in.files(in.Unreadable, in.passOver) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !in.read(ctx, i, numbered) {
				return
			}
		}
	}
}

// read returns false if no more files should be read.
func (in *Inputs) read(ctx context.Context, i input, yield func(*Record, error) bool) bool {
	failed := func(err error) bool {
		if errors.Is(err, io.ErrUnexpectedEOF) { // from decompression
			err = errCut
		}
		if _, named := errors.AsType[*fs.PathError](err); !named {
			err = fmt.Errorf("read %s: %w", i, err)
		}
		if i.inside {
			in.Unreadable(err)
			return true
		}
		return yield(nil, err)
	}
	f, err := in.open(ctx, i)
	if err != nil {
		return failed(err)
	}
	defer f.Close()
	counted := &countingReader{from: f, to: &in.bytesRead}
	raw := bufio.NewReaderSize(counted, archiveStart)
	if start, _ := raw.Peek(archiveStart); warc.Begins(start) { // package warc decompresses each gzip member on its own, so that damage affects only one member
		return in.readArchive(i, raw, yield, failed)
	}
	b, err := Unpack(raw, i.name)
	if err != nil {
		return failed(err)
	}
	defer b.Close()
	defer func() { // also count bytes that were skipped, or read in another way
		if info, err := in.stat(i); err == nil {
			in.bytesRead.Add(max(info.Size()-counted.n, 0))
		}
	}()
	if start, _ := b.Peek(len(table.Magic)); string(start) == table.Magic {
		if file, ok := f.(*os.File); ok && !b.Packed {
			return in.readRows(i, file, yield, failed)
		}
		return in.readRowsFrom(i, b, yield, failed)
	}
	start, _ := b.Peek(archiveStart)
	switch {
	case warc.Begins(start):
		return in.readArchive(i, b, yield, failed)
	case warc.IsARC(start):
		return failed(warc.ErrARC)
	case bytes.HasPrefix(start, []byte(ZIPMagic)):
		if read, more := in.readPackage(i, f, b, yield, failed); read {
			return more
		}
	}
	form, head, err := in.formOf(b.Name, b.Reader, i.inside)
	if err != nil {
		return failed(err)
	}
	whole := io.MultiReader(bytes.NewReader(head), b)
	switch form.is {
	case passedOver:
		in.passOver(form.kind)
		return true
	case lines:
		return in.readLines(i, whole, yield, failed)
	case sheet:
		return in.readSheet(i, b.Name, whole, yield, failed)
	case elements:
		return in.readElements(i, whole, yield, failed)
	}
	return in.readWhole(i, whole, form.kind, yield, failed)
}

func (in *Inputs) passOver(kind string) {
	if in.Passed != nil {
		in.Passed(kind)
	}
}

type countingReader struct {
	from io.Reader
	n    int64
	to   *atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	c.to.Add(int64(n))
	return n, err
}

func (in *Inputs) readWhole(i input, from io.Reader, kind string, yield func(*Record, error) bool, failed func(error) bool) bool {
	most := in.maxRecord()
	body, err := io.ReadAll(io.LimitReader(from, int64(most)+1))
	if err != nil {
		return failed(err)
	}
	r := &Record{Input: i.name, Raw: body, Type: kind, documents: in.Documents}
	if len(body) > most {
		r.Raw, r.bad = nil, tooLong(most)
	}
	return yield(r, nil)
}

// ErrTooLong and ErrNoText mean that a record cannot be used.
var (
	ErrTooLong = errors.New("the record is too long") // the record is larger than MaxRecord
	ErrNoText  = errors.New("found none of the fields that usually contain text")
)

func tooLong(most int) error {
	if most >= 1<<20 {
		return fmt.Errorf("%w: the limit is %.4g MB", ErrTooLong, float64(most)/(1<<20))
	}
	return fmt.Errorf("%w: the limit is %d bytes", ErrTooLong, most)
}
