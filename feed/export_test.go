package feed

import (
	"context"
	"reflect"

	"skink/store"
)

// Take writes lines without a checkpoint.
func (f *File) Take(ctx context.Context) error { return f.take(ctx) }

// Spill writes the buffer to the file, as also happens when the buffer is full.
func (f *File) Spill() error { return f.out.Flush() }

// Abandon leaves the file as a killed process would.
func (f *File) Abandon() { f.f.Close() }

// Marked returns the offset that the stored mark records; see mark.Offset.
func (f *File) Marked() int64 { return f.marked.Offset }

// FieldNames returns the names of the fields of a document or a passage.
func FieldNames(v any) (names []string) {
	for _, c := range columnsOf(reflect.TypeOf(v)) {
		names = append(names, c.Name)
	}
	return names
}

// Append appends the line of a page to dst.
func Append(dst []byte, r *store.Record, text string) ([]byte, error) {
	d := documentOf(r)
	d.Text = text
	return appendLine(dst, &d)
}
