package corpus

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// # Sheets and JSON arrays
//
// A row of CSV or TSV is read as a JSON line whose members are the columns. The first row contains
// the column names. In a file whose name ends in .tsv or .tab, tabs separate the cells. In other
// files, the separator is the comma, semicolon or tab, whichever is most frequent in the first row.
//
// An element of a JSON array, or an object of a file of objects that extend over several lines, is
// also read as a JSON line. Files of either form may be larger than
// the available memory, so both are read record by record, and no record may be longer than
// Inputs.MaxRecord.

type sheetHead struct {
	columns []string
	comma   rune
	raw     string // the row as it was read; set only if comma is a tab
}

func (in *Inputs) readSheet(i input, name string, from io.Reader, yield func(*Record, error) bool, failed func(error) bool) bool {
	bounded := &boundedReader{from: from, most: in.maxRecord()}
	bounded.begin()
	first, err := bounded.firstLine()
	if err != nil {
		return failed(err)
	}
	head := &sheetHead{comma: separator(name, first)}
	next := commaRows(bounded, head.comma)
	tabs := &tabReader{from: bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bounded.head), from), bufferSize), most: in.maxRecord()}
	if head.comma == '\t' {
		next = tabs.row
	}
	var open *csv.ParseError // the last row, if a quotation mark in it extends it over several lines
	for {
		cells, line, err := next()
		var wrong *csv.ParseError
		switch {
		case errors.Is(err, io.EOF) && open != nil:
			return failed(fmt.Errorf("a quotation mark in line %d has no end, so lines %[1]d to %d cannot be read: correct line %[1]d", open.StartLine, open.Line))
		case errors.Is(err, io.EOF):
			return true
		case open != nil && !in.yieldLost(i, open, yield):
			return false
		case head.columns == nil && err == nil:
			head.columns, head.raw, tabs.tabs = cells, tabs.raw, len(cells)-1
			if err := head.check(&in.Fields); err != nil {
				return failed(err)
			}
			continue
		case head.columns == nil:
			return failed(err)
		}
		open = nil
		if errors.As(err, &wrong) && wrong.Line > wrong.StartLine {
			open = wrong
			continue
		}
		r := &Record{Input: i.name, Line: line, fields: in.Fields, cells: cells, rawRow: tabs.raw, sheet: head}
		switch {
		case wrong != nil:
			r.Line, r.bad = wrong.StartLine, fmt.Errorf("the row cannot be read: %w", wrong.Err)
		case head.comma == '\t' && errors.Is(err, ErrTooLong):
			r.bad = err
		case err != nil:
			return failed(err)
		case len(cells) != len(head.columns):
			r.bad = fmt.Errorf("the row and the first row have different numbers of cells: %d and %d", len(cells), len(head.columns))
		default:
			r.Raw = head.object(cells)
		}
		if !yield(r, nil) {
			return false
		}
	}
}

// commaRows returns a function that reads the next row and returns its cells and the number of its
// first line.
func commaRows(from *boundedReader, comma rune) func() (cells []string, line int, err error) {
	rows := csv.NewReader(from)
	rows.Comma, rows.FieldsPerRecord = comma, -1
	return func() ([]string, int, error) {
		from.begin()
		cells, err := rows.Read()
		if err != nil {
			return nil, 0, err
		}
		line, _ := rows.FieldPos(0)
		return cells, line, nil
	}
}

// yieldLost yields an unreadable record for each line of a row that package csv cannot read, because
// each of them may be a row of its own.
func (in *Inputs) yieldLost(i input, row *csv.ParseError, yield func(*Record, error) bool) bool {
	for n := row.StartLine; n <= row.Line; n++ {
		bad := fmt.Errorf("the row in lines %d to %d cannot be read: %w", row.StartLine, row.Line, row.Err)
		if !yield(&Record{Input: i.name, Line: n, bad: bad}, nil) {
			return false
		}
	}
	return true
}

func separator(name, first string) rune {
	if ext := strings.ToLower(filepath.Ext(name)); ext == ".tsv" || ext == ".tab" {
		return '\t'
	}
	most := ','
	for _, c := range ";\t" {
		if strings.Count(first, string(c)) > strings.Count(first, string(most)) {
			most = c
		}
	}
	return most
}

func (h *sheetHead) check(fields *Fields) error {
	for _, name := range fields.textNames() {
		if slices.Contains(h.columns, name) {
			return nil
		}
	}
	return fmt.Errorf("the table has no column %s: use --text-field to specify the column that contains the texts; %s", orList(fields.textNames()), strings.Replace(itHas(slices.Values(h.columns)), "the record", "the first row", 1))
}

func (h *sheetHead) object(cells []string) []byte {
	b := []byte{'{'}
	for i, name := range h.columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSON(append(appendJSON(b, name), ':'), cells[i])
	}
	return append(b, '}')
}

// appendJSON appends the JSON of a value that consists of strings, numbers and booleans.
func appendJSON(dst []byte, v any) []byte {
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // encoding such a value cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// elementUnit is the unit of Record.Line in a JSON array. Messages use it instead of "line".
const elementUnit = "element"

func (in *Inputs) readElements(i input, from io.Reader, yield func(*Record, error) bool, failed func(error) bool) bool {
	bounded := &boundedReader{from: from, most: in.maxRecord()}
	bounded.begin()
	if _, err := bounded.firstLine(); err != nil { // removes a byte order mark
		return failed(err)
	}
	inArray, of := array.Match(bounded.head), " of the JSON array"
	elements := json.NewDecoder(bounded)
	if !inArray {
		of = ""
	} else if _, err := elements.Token(); err != nil { // the opening bracket
		return failed(err)
	}
	for n := 1; ; n++ {
		bounded.begin()
		if inArray && !elements.More() {
			if _, err := elements.Token(); err != nil {
				return failed(cutOff(fmt.Sprintf("the JSON array after %d elements", n-1), err))
			}
			bounded.begin()
			if _, err := elements.Token(); !errors.Is(err, io.EOF) {
				return failed(fmt.Errorf("there is more text after the JSON array of %d elements: write one array, or JSON Lines", n-1))
			}
			return true
		}
		var raw json.RawMessage
		if err := elements.Decode(&raw); err == io.EOF && !inArray {
			return true
		} else if err != nil {
			return failed(cutOff(fmt.Sprintf("element %d%s", n, of), err))
		}
		var line bytes.Buffer
		if err := json.Compact(&line, raw); err != nil {
			return failed(err)
		}
		if !yield(&Record{Input: i.name, Line: n, unit: elementUnit, Raw: line.Bytes(), fields: in.Fields}, nil) {
			return false
		}
	}
}

// cutOff wraps err with the name of the part of the file that could not be read. If the file ends
// inside that part, the error says so.
func cutOff(part string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCut
	}
	return fmt.Errorf("%s: %w", part, err)
}

var errCut = errors.New("the file is truncated")

// A boundedReader fails if a record is longer than a limit, because the CSV and JSON readers keep a
// whole record in memory.
type boundedReader struct {
	from io.Reader
	most int
	left int    // bytes left to read for this record
	head []byte // beginning of the file, read by firstLine but not yet returned by Read
}

// begin starts a new record. The CSV and JSON readers may already have read some of its bytes,
// because they read in blocks.
func (b *boundedReader) begin() { b.left = b.most + bufferSize }

// firstLine returns the first line of the file, or its first bytes if it is long. It removes a byte
// order mark. Read returns the line again.
func (b *boundedReader) firstLine() (string, error) {
	b.head = make([]byte, sniffed)
	n, err := io.ReadFull(b.from, b.head)
	b.head = bytes.TrimPrefix(b.head[:n], []byte(bom))
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	line, _, _ := strings.Cut(string(b.head), "\n")
	return line, nil
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if len(b.head) > 0 {
		n := copy(p, b.head)
		b.head = b.head[n:]
		return n, nil
	}
	if b.left <= 0 {
		return 0, tooLong(b.most)
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
