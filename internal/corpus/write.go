package corpus

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"skink/base/table"
	"skink/extract"
	"skink/warc"
)

// # Writing records unchanged
//
// The output is read by programs that know the format of the corpus, but not skink. So a record is
// written as it was read. A JSON line keeps its bytes, and the note is inserted at its end. A row
// of CSV or TSV keeps its cells if the output is CSV or TSV; otherwise it becomes a JSON line. An
// element of a JSON array remains an element if the name of the output ends in .json; otherwise it
// becomes a JSON line. A row of Parquet keeps its columns, and the columns of the note follow. A
// record of a web archive is unchanged, and a metadata record with the note follows. A file that is
// one text becomes a line {"url","text"} or {"url","html"}, which skink reads as the same text.

// A Note is the verdict on a record. It is written with the record.
type Note struct {
	Verdict     string  `json:"skink_verdict,omitempty"`
	DuplicateOf string  `json:"skink_duplicate_of,omitempty"`
	Resemblance float64 `json:"skink_resemblance,omitzero"`  // exact resemblance to the original record, 0 to 1
	Containment float64 `json:"skink_containment,omitzero"`  // fraction of the record's runs of three words that the original also has, with --rule containment; not written to tables
	Cluster     string  `json:"skink_cluster,omitempty"`     // name of the text that leads the cluster of the record
	ClusterSize int     `json:"skink_cluster_size,omitzero"` // number of records in the cluster, from 1; 0 if it is not known

	Contaminated []string `json:"skink_contaminated,omitempty"` // ids of the benchmark items that the record has runs of; in tables a JSON array
	Removed      []Part   `json:"skink_removed,omitempty"`      // parts of the text that were removed; in tables a JSON array
}

// A Part is a part of a text that occurs before in the corpus. Start and End count characters (code
// points) of the text as it was read, from 0; End is the place after the part.
type Part struct {
	Start       int     `json:"start"`
	End         int     `json:"end"`
	First       string  `json:"first"`       // name of the record with the first occurrence
	Resemblance float64 `json:"resemblance"` // to the first occurrence, up to 1
}

// A Writer writes records of a corpus to a file. Close the Writer to complete the file.
type Writer struct {
	name     string
	annotate bool
	to       io.Writer
	sink     sink // nil before the first record, which determines the format
}

type sink interface {
	write(r *Record, note Note, annotate bool) error
	close() error
}

// NewWriter returns a Writer that writes to w. The extension of the file name selects the
// compression. If annotate is true, a note is written with each record.
func NewWriter(w io.Writer, name string, annotate bool) *Writer {
	return &Writer{name: name, annotate: annotate, to: w}
}

// Begin creates the file in the form that suits a record, but does not write the record. Use it for
// files that may stay empty.
func (w *Writer) Begin(r *Record) (err error) {
	if w.sink == nil {
		w.sink, err = w.open(r)
	}
	return err
}

// Write writes one record. It fails if the record's form (line, row, or web archive record) differs
// from that of the first one.
func (w *Writer) Write(r *Record, note Note) (err error) {
	if err := w.Begin(r); err != nil {
		return err
	}
	return w.sink.write(r, note, w.annotate)
}

func isTable(name string) bool { return strings.EqualFold(filepath.Ext(name), ".parquet") }

func (w *Writer) open(r *Record) (sink, error) {
	switch {
	case r.archived != nil && w.name == "-":
		return nil, errors.New("records of a web archive are binary and are not written to standard output: specify a file")
	case r.archived != nil && (comma(w.name) != 0 || isTable(w.name)):
		return nil, fmt.Errorf("%s is a record of a web archive: choose a file name that ends in .warc.gz instead of %s", r.Place(), w.name)
	case r.row != nil && comma(w.name) != 0:
		return nil, fmt.Errorf("%s is a Parquet row: choose a file name that ends in .parquet instead of %s", r.Place(), w.name)
	case r.archived != nil:
		s := &archiveSink{to: warc.NewWriter(w.to, warc.Options{Plain: BaseName(w.name) == w.name}), name: w.name}
		return s, s.introduce(r.archived)
	case hasEnding(BaseName(w.name), []string{".warc", ".wet"}):
		return nil, fmt.Errorf("%s is not a record of a web archive, so it must be written as a JSON line: specify a file that ends in .jsonl, not %s", r.Place(), w.name)
	case r.row != nil && w.name == "-":
		return nil, errors.New("the records are rows of Parquet, which is binary: specify a file")
	case r.row != nil && w.annotate:
		return &rowSink{from: r.row.Schema(), to: table.NewWriter(w.to, r.row.Schema().Extend(noteColumns))}, nil
	case r.row != nil:
		return &rowSink{from: r.row.Schema(), to: table.NewWriter(w.to, r.row.Schema())}, nil
	case comma(w.name) != 0 && r.sheet == nil:
		return nil, fmt.Errorf("%s is not a CSV or TSV row, so it must be written as a JSON line: choose a file name that ends in .jsonl instead of %s", r.Place(), w.name)
	case comma(w.name) != 0:
		return newSheetSink(w.to, w.name, r.sheet, w.annotate)
	case isTable(w.name):
		return nil, fmt.Errorf("%s is not a Parquet row, so it must be written as a JSON line: choose a file name that ends in .jsonl instead of %s", r.Place(), w.name)
	}
	if r.unit == elementUnit && strings.EqualFold(filepath.Ext(BaseName(w.name)), ".json") {
		return newLineSink(w.to, w.name, jsonArray), nil
	}
	return newLineSink(w.to, w.name, jsonLines), nil
}

// Close writes buffered data. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.sink != nil {
		return w.sink.close()
	}
	if isTable(w.name) { // an empty file would not be valid Parquet
		return table.NewWriter(w.to, table.NewSchema(noteColumns)).Close()
	}
	return newLineSink(w.to, w.name, jsonLines).close()
}

var noteColumns = []table.Column{{Name: "skink_verdict"}, {Name: "skink_duplicate_of"}, {Name: "skink_resemblance", Type: table.Float}, {Name: "skink_cluster"}, {Name: "skink_cluster_size", Type: table.Integer}, {Name: "skink_contaminated"}, {Name: "skink_removed"}}

// cells returns the values of noteColumns. An empty one is "".
func (n Note) cells() []any {
	cells := []any{n.Verdict, n.DuplicateOf, "", n.Cluster, "", "", ""}
	if n.DuplicateOf != "" {
		cells[2] = n.Resemblance
	}
	if n.ClusterSize > 0 {
		cells[4] = int64(n.ClusterSize)
	}
	if n.Contaminated != nil {
		ids, _ := json.Marshal(n.Contaminated) // cannot fail
		cells[5] = string(ids)
	}
	if n.Removed != nil {
		parts, _ := json.Marshal(n.Removed) // cannot fail, because the numbers are finite
		cells[6] = string(parts)
	}
	return cells
}

type rowSink struct {
	from *table.Schema
	to   *table.Writer
}

func (s *rowSink) write(r *Record, note Note, annotate bool) error {
	switch {
	case r.row == nil || r.row.Schema() != s.from && !r.row.Schema().Equal(s.from):
		return fmt.Errorf("the columns of %s differ from those of the rows before it: write these inputs to separate files", r.Place())
	case !annotate:
		return s.to.Copy(r.row)
	}
	var cells []any
	for _, cell := range note.cells() {
		if cell == "" {
			cell = nil
		}
		cells = append(cells, cell)
	}
	return s.to.Copy(r.row, cells...)
}

func (s *rowSink) close() error { return s.to.Close() }

// comma returns the cell separator of a CSV or TSV file, or 0 for other file names.
func comma(name string) rune {
	switch strings.ToLower(filepath.Ext(BaseName(name))) {
	case ".csv":
		return ','
	case ".tsv", ".tab":
		return '\t'
	}
	return 0
}

// A sheetSink writes CSV or TSV. A row of TSV is written to TSV as it was read, because the dialects
// of TSV differ in the meaning of quotation marks.
type sheetSink struct {
	from *sheetHead
	pack io.WriteCloser
	out  *csv.Writer   // writes to rows
	rows *bufio.Writer // for rows that are written unchanged
	old  bool          // whether the rows have an earlier note, which is replaced
}

func newSheetSink(w io.Writer, name string, head *sheetHead, annotate bool) (*sheetSink, error) {
	pack := Pack(w, name)
	rows := bufio.NewWriterSize(pack, bufferSize)
	s := &sheetSink{from: head, pack: pack, out: csv.NewWriter(rows), rows: rows} // csv.NewWriter uses the given bufio.Writer and adds no buffer of its own
	if s.out.Comma = comma(name); s.out.Comma == ',' && head.comma != '\t' {
		s.out.Comma = head.comma // a comma or a semicolon, as in the input
	}
	var notes []string
	if annotate {
		s.old = slices.ContainsFunc(head.columns, isNote)
		for _, c := range noteColumns {
			notes = append(notes, c.Name)
		}
	}
	return s, s.writeRow(head.columns, head.raw, notes)
}

// writeRow writes the cells of a row and the cells of its note. raw is the row as it was read if
// the input is TSV, otherwise "".
func (s *sheetSink) writeRow(cells []string, raw string, notes []string) error {
	if s.old {
		var kept []string
		for i, name := range s.from.columns {
			if !isNote(name) {
				kept = append(kept, cells[i])
			}
		}
		cells, raw = kept, ""
	}
	if raw == "" || s.out.Comma != '\t' {
		return s.out.Write(slices.Concat(cells, notes))
	}
	for _, n := range notes {
		raw += "\t" + tabCell(n)
	}
	_, err := s.rows.WriteString(raw + "\n")
	return err
}

// tabCell returns a cell of TSV, in quotation marks if it must be.
func tabCell(text string) string {
	if strings.ContainsAny(text, "\t\n\r") || strings.HasPrefix(text, `"`) {
		return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}

func (s *sheetSink) write(r *Record, note Note, annotate bool) error {
	if r.sheet == nil || !slices.Equal(r.sheet.columns, s.from.columns) {
		return fmt.Errorf("the columns of %s differ from those of the rows before it: write these inputs to separate files", r.Place())
	}
	var notes []string
	if annotate {
		for _, cell := range note.cells() {
			notes = append(notes, fmt.Sprint(cell))
		}
	}
	return s.writeRow(r.cells, r.rawRow, notes)
}

func (s *sheetSink) close() error {
	s.out.Flush()
	return errors.Join(s.out.Error(), s.rows.Flush(), s.pack.Close())
}

// A lineForm is the text around records that are written as lines: before the first record, between
// two, and after the last. If there are no records, only empty is written.
type lineForm struct{ before, between, after, empty string }

var (
	jsonLines = lineForm{between: "\n", after: "\n"}
	jsonArray = lineForm{"[\n", ",\n", "\n]\n", "[]\n"} // one element per line
)

type lineSink struct {
	lineForm
	pack  io.WriteCloser
	out   *bufio.Writer
	line  []byte
	begun bool // whether a record was written
}

func newLineSink(w io.Writer, name string, form lineForm) *lineSink {
	pack := Pack(w, name)
	return &lineSink{lineForm: form, pack: pack, out: bufio.NewWriterSize(pack, bufferSize)}
}

func (s *lineSink) write(r *Record, note Note, annotate bool) (err error) {
	if s.line, err = r.appendLine(s.line[:0]); err != nil {
		return err
	}
	if annotate {
		s.line = annotated(s.line, note)
	}
	before := s.between
	if !s.begun {
		before, s.begun = s.before, true
	}
	_, _ = s.out.WriteString(before) // Write returns the error
	_, err = s.out.Write(s.line)
	return err
}

func (s *lineSink) close() error {
	end := s.after
	if !s.begun {
		end = s.empty
	}
	_, _ = s.out.WriteString(end) // Flush returns the error
	return cmp.Or(s.out.Flush(), s.pack.Close())
}

func (r *Record) appendLine(dst []byte) ([]byte, error) {
	if r.row != nil || r.archived != nil {
		return dst, fmt.Errorf("%s is not a line of text, unlike the records before it: write these inputs to separate files", r.Place())
	}
	if r.Line > 0 {
		return append(dst, r.Raw...), nil
	}
	l := struct {
		URL  string `json:"url"`
		Text string `json:"text,omitempty"`
		HTML string `json:"html,omitempty"`
	}{URL: r.Input}
	switch {
	case !utf8.Valid(r.Raw), r.Document(): // JSON must be UTF-8, and a document is not text
		text, err := r.Text(context.Background(), extract.Options{})
		if err != nil || text.Doc == nil {
			return dst, err
		}
		l.Text = text.Doc.Text
	case isHTML(r.Type):
		l.HTML = string(r.Raw)
	default:
		l.Text = string(r.Raw)
	}
	return appendJSON(dst, l), nil
}

// withoutNote returns a JSON line without the members of an earlier note. A line that has none is
// not changed.
func withoutNote(line []byte) []byte {
	if !bytes.Contains(line, []byte(`"skink_`)) {
		return line
	}
	all, err := membersOf(line)
	kept := slices.DeleteFunc(slices.Clone(all), func(m member) bool { return isNote(string(m.name)) })
	if err != nil || len(kept) == len(all) {
		return line
	}
	b := []byte{'{'}
	for i, m := range kept {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(appendJSON(b, string(m.name)), ':'), m.value...)
	}
	return append(b, '}')
}

// isNote reports whether a field or a column belongs to a [Note].
func isNote(name string) bool {
	return name == "skink_containment" || slices.ContainsFunc(noteColumns, func(c table.Column) bool { return c.Name == name })
}

// annotated returns a JSON line with the members of a note, which replaces an earlier one, inserted
// before its last brace. White space after the brace, such as a carriage return, is kept.
func annotated(line []byte, note Note) []byte {
	line = withoutNote(line)
	members, err := json.Marshal(note)
	end := bytes.LastIndexByte(line, '}')
	if err != nil || end < 0 || len(members) <= len(`{}`) { // marshaling cannot fail, because the numbers are finite
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
