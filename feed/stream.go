package feed

import (
	"context"
	"io"

	"skink/store"
)

// A Stream is the live feed of a crawl to somewhere that cannot be cut, such as
// standard output. It remembers no mark: a crawl that goes on after a crash may
// repeat the lines of its last moments.
type Stream struct {
	w    io.Writer
	line []byte
}

// NewStream returns a feed to w. Each page is one call of Write, so that a
// reader at the other end sees a page as soon as it is judged.
func NewStream(w io.Writer) *Stream { return &Stream{w: w} }

// Add writes the line of r if it is to be fed.
func (s *Stream) Add(r *store.Record, text string) error {
	if !r.Fed() {
		return nil
	}
	line, err := Append(s.line[:0], r, text)
	if err != nil {
		return err
	}
	s.line = line
	_, err = s.w.Write(line)
	return err
}

// Checkpoint does nothing: there is nothing in between.
func (s *Stream) Checkpoint(context.Context) error { return nil }

// Close does nothing: the writer belongs to the caller.
func (s *Stream) Close(context.Context) error { return nil }
