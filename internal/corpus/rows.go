package corpus

import (
	"errors"
	"fmt"
	"io"
	"os"

	"skink/internal/table"
)

// readRows yields the rows of a Parquet file.
func (in *Inputs) readRows(i input, f io.Reader, yield func(*Record, error) bool, failed func(error) bool) bool {
	file, ok := f.(*os.File)
	if !ok {
		return failed(errors.New("a Parquet file is read from its end: give it as a file, neither packed nor through a pipe"))
	}
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

// readRow makes a text of a row.
func (f *Fields) readRow(row *table.Row) (Text, error) {
	name, err := f.nameOfRow(row)
	if err != nil {
		return Text{}, err
	}
	for _, column := range f.textNames() {
		value, ok := row.Value(column)
		if !ok {
			continue
		}
		text, isString := value.(string)
		if !isString && value != nil {
			return Text{}, fmt.Errorf("column %q is no string", column)
		}
		return textOf(name, []byte(text), fieldType(column)), nil
	}
	if f.Text != "" {
		return Text{}, fmt.Errorf("column %q is missing, which --text-field names", f.Text)
	}
	return Text{}, fmt.Errorf("no column is a text, %s: --text-field names the one that is", orList(textFields))
}

// nameOfRow is the name that a row gives itself; "" if it gives none.
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
				return "", fmt.Errorf("column %q is missing, which --id-field names", f.ID)
			}
		default:
			if f.ID != "" {
				return "", fmt.Errorf("column %q is neither a string nor a number", column)
			}
		}
	}
	return "", nil
}
