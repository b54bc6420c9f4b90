package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"skink/base/harmless"
	"skink/feed/release"
	"skink/store"
)

// A Stream writes the live feed of a crawl to a writer that cannot be truncated, such as standard
// output. It begins with the pages judged after the call to NewStream. It does not store its
// position, so a crawl that is resumed after a crash may repeat the last lines.
type Stream struct {
	w    io.Writer
	s    store.Reader
	gate *release.Gate
	line []byte
}

// NewStream returns a Stream that writes to w the pages of s that are judged from now on. It writes
// each page with a single call to Write, so a reader at the other end of a pipe does not see half a
// line for long.
func NewStream(ctx context.Context, w io.Writer, s store.Reader) (*Stream, error) {
	end, err := s.End(ctx)
	if err != nil {
		return nil, fmt.Errorf("open feed: %w", err)
	}
	return &Stream{w: w, s: s, gate: liveGate(end)}, nil
}

// CatchUp writes the pages that were judged since the last call.
func (f *Stream) CatchUp(ctx context.Context) error {
	for page, err := range f.gate.Pages(ctx, f.s, store.WantText) {
		if err == nil {
			f.line, err = appendLive(f.line[:0], page, false)
		}
		if err == nil && len(f.line) > 0 {
			_, err = f.w.Write(f.line)
		}
		if err != nil {
			return fmt.Errorf("write feed: %w", err)
		}
	}
	return nil
}

// Left returns what the feed left out, and why.
func (f *Stream) Left() release.Left { return f.gate.Left }

// Close writes the remaining lines. It does not close the writer.
func (f *Stream) Close(ctx context.Context) error { return f.CatchUp(ctx) }

// appendLine appends a [Document], [Link] or [Passage] to dst as a line of JSON, in UTF-8. Invalid
// UTF-8 in a string is replaced by U+FFFD. On an error, appendLine returns dst unchanged.
func appendLine(dst []byte, v any) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return dst, fmt.Errorf("encode a line of the feed: %w", err)
	}
	return harmless.AppendJSON(b.Bytes(), len(dst)), nil
}

// lineWriter returns a function that writes values to out as lines of JSON; see appendLine.
func lineWriter[T any](out io.Writer) func(*T) error {
	var line []byte
	return func(v *T) (err error) {
		if line, err = appendLine(line[:0], v); err == nil {
			_, err = out.Write(line)
		}
		return err
	}
}
