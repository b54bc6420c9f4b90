package feed

import "context"

// Take writes lines without a checkpoint.
func (f *File) Take(ctx context.Context) error { return f.take(ctx) }

// Spill writes out what is buffered, as a full buffer does by itself.
func (f *File) Spill() error { return f.out.Flush() }

// Abandon leaves the file as a killed process does.
func (f *File) Abandon() { f.f.Close() }

// Marked is how many bytes of the file are certain.
func (f *File) Marked() int64 { return f.marked.Offset }

// FieldNames are the fields of a document.
func FieldNames() (names []string) {
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}
