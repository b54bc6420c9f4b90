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
		record := &Record{Input: i.name, Line: n, row: row, fields: in.Fields}
		if most := in.maxRecord(); row.Size() > most {
			record.row, record.bad = nil, tooLong(most)
		}
		if !yield(record, nil) {
			return false
		}
	}
	return true
}

func (f *Fields) readRow(ask extract.Options, row *table.Row) (Text, error) {
	name, err := f.nameOfRow(row)
	if err != nil {
		return Text{}, err
	}
	text, column, err := f.joined(func(column string) ([]byte, bool, error) {
		value, ok := row.Value(column)
		text, isString := value.(string)
		if !isString && value != nil {
			return nil, ok, fmt.Errorf("column %q is not a string", column)
		}
		return []byte(text), ok, nil
	})
	switch {
	case err != nil:
		return Text{}, err
	case column != "":
		t := textOf(ask, name, text, fieldType(column))
		private, _ := row.Value(privateField)
		t.Private = private == true
		if value, ok := row.Value(f.Rank); ok {
			rank, err := json.Marshal(value)
			t.Fields = f.rankOf(rank)
			return t, err
		}
		return t, nil
	case len(f.Text) > 0:
		return Text{}, fmt.Errorf("column %s is missing; %s", orList(f.Text), itHas(slices.Values(row.Schema().Names())))
	}
	return Text{}, fmt.Errorf("%w (%s); %s", ErrNoText, orList(textFields), itHas(slices.Values(row.Schema().Names())))
}

// nameOfRow returns "" if no column contains a name for the row.
func (f *Fields) nameOfRow(row *table.Row) (string, error) {
	for _, column := range f.idNames() {
		switch value, ok := row.Value(column); v := value.(type) {
		case string:
			if v != "" {
				return v, nil
			}
		case int64:
			return fmt.Sprint(v), nil
		case nil:
			if !ok && f.ID != "" {
				return "", fmt.Errorf("column %q is missing; %s", f.ID, itHas(slices.Values(row.Schema().Names())))
			}
		default:
			if f.ID != "" {
				return "", fmt.Errorf("column %q is neither a string nor a number", column)
			}
		}
	}
	return "", nil
}
