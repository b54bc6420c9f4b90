package corpus

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"skink/base/table"
	"skink/extract"
	"skink/internal/output"
)

// readRowsFrom yields the rows of a Parquet file that is compressed or comes through a pipe. The
// index of a Parquet file is at its end, so the content is first copied to a temporary file.
func (in *Inputs) readRowsFrom(i input, from io.Reader, yield func(*Record, error) bool, failed func(error) bool) bool {
	file, done, err := output.Temporary("skink-parquet-")
	if err != nil {
		return failed(fmt.Errorf("unpack the input into a temporary file: %w", err))
	}
	defer done()
	if _, err := io.Copy(file, from); err != nil {
		return failed(fmt.Errorf("unpack the input into a temporary file: %w", err))
	}
	return in.readRows(i, file, yield, failed)
}

func (in *Inputs) readRows(i input, file *os.File, yield func(*Record, error) bool, failed func(error) bool) bool {
	info, err := file.Stat()
	if err != nil {
		return failed(err)
	}
	r, err := table.Open(file, info.Size())
	if err != nil {
		return failed(err)
	}
	n := 0
	for row, err := range r.Rows() {
		if err != nil {
			return failed(err)
		}
		n++
		record := &Record{Input: i.name, Line: n, unit: "row", row: row, fields: in.Fields}
		if most := in.maxRecord(); row.Size() > most {
			record.row, record.bad = nil, tooLong(most)
		}
		if !yield(record, nil) {
			return false
		}
	}
	return true
}

// A rowSource has the fields of a row of a table.
type rowSource struct{ *table.Row }

func (r rowSource) find(column string, _ *[]byte) (value []byte, kind string, ok bool) {
	v, ok := r.Value(column)
	switch v := v.(type) {
	case nil:
		return nil, "null", ok
	case string:
		return []byte(v), "string", ok
	case float64:
		return fmt.Append(nil, v), "fraction", ok // not a name of a record, unlike whole numbers
	}
	value, _ = json.Marshal(v) // of these types, it fails for none
	return value, valueKind(value), ok
}

func (r rowSource) names(yield func(string) bool) { slices.Values(r.Schema().Names())(yield) }

func (f *Fields) readRow(ask extract.Options, row *table.Row) (Text, error) {
	t, err := f.take(ask, rowSource{row})
	if value, ok := row.Value(f.Rank); ok && err == nil {
		var rank []byte
		rank, err = json.Marshal(value)
		t.Fields = f.rankOf(rank)
	}
	return t, err
}
