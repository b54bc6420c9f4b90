package corpus

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"skink/internal/packed"
)

// # A corpus out, as it came in
//
// What is kept of a corpus goes on to programs that know it, and not us. So a record is written as
// it was read: a JSON line has the same bytes, and what is added to it is added at its end. A file
// that is one text becomes a line, {"url","text"} or {"url","html"}, which is what such a file is
// when it is read again.

// A Note is what was decided about a record.
type Note struct {
	Verdict     string  `json:"skink_verdict,omitempty"`
	DuplicateOf string  `json:"skink_duplicate_of,omitempty"`
	Resemblance float64 `json:"skink_resemblance,omitzero"` // exact, to what it duplicates
}

// A Writer writes records of a corpus. Close it.
type Writer struct {
	annotate bool
	out      *bufio.Writer
	pack     io.WriteCloser
	line     []byte
}

// NewWriter writes to a file of a name, which says how the file is packed. With annotate, each record
// carries its note.
func NewWriter(w io.Writer, name string, annotate bool) *Writer {
	pack := packed.NewWriter(w, name)
	return &Writer{annotate: annotate, pack: pack, out: bufio.NewWriterSize(pack, bufferSize)}
}

// Write writes one record.
func (w *Writer) Write(r *Record, note Note) error {
	var err error
	if w.line, err = r.appendLine(w.line[:0]); err != nil {
		return err
	}
	if w.annotate {
		w.line = annotated(w.line, note)
	}
	if _, err := w.out.Write(w.line); err != nil {
		return err
	}
	return w.out.WriteByte('\n')
}

// Close writes the rest. The writer that this one writes to belongs to the caller.
func (w *Writer) Close() error {
	if err := w.out.Flush(); err != nil {
		return err
	}
	return w.pack.Close()
}

// appendLine appends a record as a JSON line without its end.
func (r *Record) appendLine(dst []byte) ([]byte, error) {
	if r.Line > 0 {
		return append(dst, r.Raw...), nil
	}
	l := struct {
		URL  string `json:"url"`
		Text string `json:"text,omitempty"`
		HTML string `json:"html,omitempty"`
	}{URL: r.Input}
	switch {
	case !utf8.Valid(r.Raw): // JSON is UTF-8
		text, err := r.Text()
		if err != nil || text.Doc == nil {
			return dst, err
		}
		l.Text = text.Doc.Text
	case isHTML(r.Type):
		l.HTML = string(r.Raw)
	default:
		l.Text = string(r.Raw)
	}
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return dst, fmt.Errorf("write %s: %w", r.Place(), err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// annotated adds a note to the object that is a line, before its last brace. What stands behind that, a
// carriage return, stays there.
func annotated(line []byte, note Note) []byte {
	members, err := json.Marshal(note)
	end := bytes.LastIndexByte(line, '}')
	if err != nil || end < 0 || len(members) <= len(`{}`) { // a verdict is no number that JSON has not
		return line
	}
	var added []byte
	if rest := bytes.TrimSpace(line[:end]); len(rest) > 0 && rest[len(rest)-1] != '{' {
		added = append(added, ',')
	}
	added = append(added, members[1:len(members)-1]...)
	tail := append(added, line[end:]...)
	return append(line[:end], tail...)
}
