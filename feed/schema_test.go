package feed

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/base/table"
)

// SCHEMA.md lists all fields in their order, with their types in JSON and in Parquet.
func TestSchema(t *testing.T) {
	text, err := os.ReadFile("SCHEMA.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	documents, _, _ := strings.Cut(string(text), "\n## ") // the rest of the file is about passages and links
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z]+) \\| ([a-z0-9]+) \\| .+ \\|$").FindAllStringSubmatch(documents, -1) {
		got = append(got, row[1]+" "+row[2]+" "+row[3])
	}
	inTable := map[table.ColumnType]string{table.String: "string", table.Integer: "int64", table.Float: "double", table.Boolean: "boolean", table.Time: "timestamp", table.List: "strings"}
	var want []string
	document := reflect.TypeFor[Document]()
	for i, c := range columns {
		inJSON := "string"
		switch f := document.Field(i).Type; {
		case f == reflect.TypeFor[time.Time]():
		case f == reflect.TypeFor[object]():
			inJSON = "object"
		case f.Kind() == reflect.Slice:
			inJSON = "array"
		case f.Kind() == reflect.Int, f.Kind() == reflect.Float64, f.Kind() == reflect.Pointer:
			inJSON = "number"
		case f.Kind() == reflect.Bool:
			inJSON = "boolean"
		}
		want = append(want, c.Name+" "+inJSON+" "+inTable[c.Type])
	}
	if !slices.Equal(got, want) {
		t.Errorf("SCHEMA.md has\n%q\nand the documents\n%q", got, want)
	}
}
