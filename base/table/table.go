// Package table reads and writes Parquet files row by row in bounded memory. Use [Open] to read a
// file, and [NewWriter] to write one. A [Schema] keeps the order of its columns.
//
// The package can read column names and, at the top level, values as strings or numbers. All other
// data in a row, such as lists and groups, can only be copied unchanged to a file with the same
// schema.
package table

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// Magic is the first four bytes of every Parquet file.
const Magic = "PAR1"

// A ColumnType is the type of the values in a column.
type ColumnType uint8

const (
	String ColumnType = iota
	Integer
	Float
	Boolean
	Time // in UTC, with microsecond precision
	List // a list of strings
)

// A Column is a column of a schema. Any column may lack values; a missing list is the same as an
// empty one.
type Column struct {
	Name string
	Type ColumnType
}

func (c Column) node() parquet.Node {
	if c.Type == List {
		return parquet.Repeated(parquet.String())
	}
	types := map[ColumnType]parquet.Node{
		String: parquet.String(), Integer: parquet.Int(64), Float: parquet.Leaf(parquet.DoubleType),
		Boolean: parquet.Leaf(parquet.BooleanType), Time: parquet.Timestamp(parquet.Microsecond),
	}
	return parquet.Optional(types[c.Type])
}

// A Schema holds the columns of a file, in order.
type Schema struct {
	of    *parquet.Schema
	from  []int // column of a row from the file that Extend changed → column of the schema, or -1
	added int   // number of trailing columns that Extend added
}

// NewSchema returns a schema with the given columns.
func NewSchema(columns []Column) *Schema {
	return &Schema{of: parquet.NewSchema("schema", group{parquet.Group{}, fieldsOf(columns)})}
}

// Extend returns a copy of the schema with the given columns appended. They replace columns with the
// same names.
func (s *Schema) Extend(columns []Column) *Schema {
	added := fieldsOf(columns)
	replaced := func(name string) bool {
		return slices.ContainsFunc(columns, func(c Column) bool { return c.Name == name })
	}
	kept := slices.DeleteFunc(slices.Clone(s.of.Fields()), func(f parquet.Field) bool { return replaced(f.Name()) })
	e := &Schema{of: parquet.NewSchema(s.of.Name(), group{s.of, append(kept, added...)}), added: len(columns)}
	next := 0
	for _, path := range s.of.Columns() {
		if replaced(path[0]) {
			e.from = append(e.from, -1)
			continue
		}
		e.from = append(e.from, next)
		next++
	}
	return e
}

// Names returns the names of the columns at the top level.
func (s *Schema) Names() (names []string) {
	for _, f := range s.of.Fields() {
		names = append(names, f.Name())
	}
	return names
}

// Equal reports whether two schemas have the same columns.
func (s *Schema) Equal(other *Schema) bool { return parquet.EqualNodes(s.of, other.of) }

// A group is a Parquet node whose fields keep their order. The library's own type sorts them by
// name.
type group struct {
	parquet.Node
	fields []parquet.Field
}

func (g group) Fields() []parquet.Field { return g.fields }
func (g group) String() string          { return "group" }

func fieldsOf(columns []Column) (fields []parquet.Field) {
	for _, c := range columns {
		fields = append(fields, parquet.Group{c.Name: c.node()}.Fields()...)
	}
	return fields
}

// A Row is a row of a file.
type Row struct {
	schema *Schema
	values parquet.Row
}

// Size returns the approximate size of a row in bytes.
func (r *Row) Size() (n int) {
	for _, v := range r.values {
		n += 24
		if v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray {
			n += len(v.ByteArray())
		}
	}
	return n
}

// Schema returns the schema of the row's file.
func (r *Row) Schema() *Schema { return r.schema }

// Value returns the value of a row in a column: a string, an int64, a float64 or a bool. A name such as "a.b" is
// that of the column "b" in the group "a". It returns nil for a missing value, and a value of another type for other columns, such as lists.
// The result ok reports whether the column exists.
func (r *Row) Value(name string) (value any, ok bool) {
	leaf, ok := r.leaf(name)
	if !ok && slices.Contains(r.schema.Names(), name) {
		return []any{}, true // a list or a group
	}
	if !ok {
		return nil, false
	}
	for _, v := range r.values {
		if v.Column() != leaf.ColumnIndex {
			continue
		}
		if leaf.MaxRepetitionLevel > 0 {
			return []any{}, true
		}
		return plain(v), true
	}
	return nil, true
}

func (r *Row) leaf(name string) (parquet.LeafColumn, bool) {
	if leaf, ok := r.schema.of.Lookup(name); ok {
		return leaf, true
	}
	return r.schema.of.Lookup(strings.Split(name, ".")...)
}

func plain(v parquet.Value) any {
	switch {
	case v.IsNull():
		return nil
	case v.Kind() == parquet.ByteArray:
		return string(v.ByteArray())
	case v.Kind() == parquet.Int32:
		return int64(v.Int32())
	case v.Kind() == parquet.Int64:
		return v.Int64()
	case v.Kind() == parquet.Double:
		return v.Double()
	case v.Kind() == parquet.Float:
		return float64(v.Float())
	case v.Kind() == parquet.Boolean:
		return v.Boolean()
	}
	return v
}

// With returns a copy of the row with another string in a column of strings; see [Row.Value].
func (r *Row) With(name, value string) *Row {
	one := &Row{r.schema, slices.Clone(r.values)}
	leaf, _ := r.leaf(name)
	for i, v := range one.values {
		if v.Column() == leaf.ColumnIndex {
			one.values[i] = parquet.ValueOf(value).Level(v.RepetitionLevel(), v.DefinitionLevel(), v.Column())
		}
	}
	return one
}

// A Reader reads a Parquet file.
type Reader struct {
	file   *parquet.File
	schema *Schema
}

// Open opens a file of size bytes. It reads the index at the end of the file. It refuses a file with
// columns that are compressed with LZ4_RAW, because the library decodes some of them wrongly.
func Open(f io.ReaderAt, size int64) (*Reader, error) {
	file, err := parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	for _, g := range file.Metadata().RowGroups {
		for i := range g.Columns {
			if c := &g.Columns[i].MetaData; c.Codec == format.Lz4Raw {
				return nil, fmt.Errorf("the column %s is compressed with LZ4_RAW: write the file with another compression, such as zstd", strings.Join(c.PathInSchema, "."))
			}
		}
	}
	return &Reader{file, &Schema{of: file.Schema()}}, nil
}

// Schema returns the schema of the file.
func (r *Reader) Schema() *Schema { return r.schema }

const rowsAtOnce = 64

// Rows yields the rows in order. It stops after an error.
func (r *Reader) Rows() iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		for _, g := range r.file.RowGroups() {
			if more, err := r.rowsOf(g, yield); err != nil {
				yield(nil, err)
				return
			} else if !more {
				return
			}
		}
	}
}

func (r *Reader) rowsOf(g parquet.RowGroup, yield func(*Row, error) bool) (more bool, err error) {
	rows := g.Rows()
	defer rows.Close()
	buffer := make([]parquet.Row, rowsAtOnce)
	for {
		n, err := readRows(rows, buffer)
		for _, row := range buffer[:n] {
			if !yield(&Row{r.schema, row.Clone()}, nil) {
				return false, nil
			}
		}
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// readRows reads rows into buffer. Some damaged files make the library panic; readRows turns the
// panic into an error.
func readRows(rows parquet.Rows, buffer []parquet.Row) (n int, err error) {
	defer func() {
		if v := recover(); v != nil {
			n, err = 0, fmt.Errorf("the file is damaged: %v", v)
		}
	}()
	return rows.ReadRows(buffer)
}

// groupBytes is the approximate size in bytes of a row group. A Writer keeps a row group in memory
// until it is complete.
const groupBytes = 32 << 20

// A Writer writes a Parquet file compressed with zstd. The file is complete only after Close.
type Writer struct {
	schema *Schema
	to     *parquet.GenericWriter[any]
	held   int
}

// NewWriter returns a Writer for a file with a schema.
func NewWriter(w io.Writer, s *Schema) *Writer {
	return &Writer{schema: s, to: parquet.NewGenericWriter[any](w, s.of, parquet.Compression(&zstd.Codec{Level: zstd.SpeedDefault}))}
}

// Copy writes a row from another file. The writer's schema must be the schema of that file, or an
// extension of it made by Extend. The argument added contains the values of the columns that Extend
// added; nil means a missing value.
func (w *Writer) Copy(r *Row, added ...any) error {
	row := make(parquet.Row, 0, len(r.values)+len(added))
	for _, v := range r.values {
		column := v.Column()
		if w.schema.from != nil {
			column = w.schema.from[column]
		}
		if column >= 0 {
			row = append(row, v.Level(v.RepetitionLevel(), v.DefinitionLevel(), column))
		}
	}
	columns := len(w.schema.of.Columns()) - w.schema.added
	for i, v := range added {
		row = append(row, valueOf(v, columns+i))
	}
	return w.write(row)
}

// Write writes a row with a value for each column of a schema made by NewSchema. A nil value is a
// missing value. Other values have the type of their column: string, int, float64, bool, time.Time
// or []string.
func (w *Writer) Write(values []any) error {
	row := make(parquet.Row, 0, len(values))
	for i, v := range values {
		list, ok := v.([]string)
		if !ok || len(list) == 0 {
			row = append(row, valueOf(v, i))
			continue
		}
		for k, s := range list {
			row = append(row, parquet.ValueOf(s).Level(min(k, 1), 1, i))
		}
	}
	return w.write(row)
}

// A nil v, and a list, is a missing value.
func valueOf(v any, column int) parquet.Value {
	const absent, present = 0, 1
	switch t := v.(type) {
	case nil, []string:
		return parquet.Value{}.Level(0, absent, column)
	case int:
		v = int64(t)
	case time.Time:
		v = t.UnixMicro()
	}
	return parquet.ValueOf(v).Level(0, present, column)
}

func (w *Writer) write(row parquet.Row) error {
	if _, err := w.to.WriteRows([]parquet.Row{row}); err != nil {
		return err
	}
	w.held += (&Row{values: row}).Size()
	if w.held < groupBytes {
		return nil
	}
	w.held = 0
	return w.to.Flush()
}

// Close writes buffered rows and the index.
func (w *Writer) Close() error { return w.to.Close() }
