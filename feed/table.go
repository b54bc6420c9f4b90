package feed

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"skink/base/table"
)

// A Parquet table has a column for each field of a [Document], with the same name and in the same
// order. An empty field is null.

var columns = columnsOf(reflect.TypeFor[Document]())

func columnsOf(t reflect.Type) (all []table.Column) {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		all = append(all, table.Column{Name: name, Type: kindOf(t.Field(i).Type)})
	}
	return all
}

func kindOf(t reflect.Type) table.ColumnType {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return table.Time
	case t.Kind() == reflect.Int, t == reflect.TypeFor[*int]():
		return table.Integer
	case t == reflect.TypeFor[[]string]():
		return table.List
	case t.Kind() == reflect.Float64:
		return table.Float
	case t.Kind() == reflect.Bool:
		return table.Boolean
	}
	return table.String // strings, and hashes, which are written in hex
}

func writeRow(to *table.Writer, d *Document) error {
	v := reflect.ValueOf(*d)
	row := make([]any, v.NumField())
	for i := range row {
		f := v.Field(i)
		if f.IsZero() {
			continue
		}
		switch columns[i].Type {
		case table.String:
			row[i] = valid(fmt.Sprint(f.Interface()))
		case table.Integer:
			row[i] = int(reflect.Indirect(f).Int())
		case table.List:
			list := slices.Clone(f.Interface().([]string))
			for k := range list {
				list[k] = valid(list[k])
			}
			row[i] = list
		default:
			row[i] = f.Interface()
		}
	}
	return to.Write(row)
}

// valid returns s as valid UTF-8, which Parquet requires.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
