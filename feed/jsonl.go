package feed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"skink/base/harmless"
)

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
