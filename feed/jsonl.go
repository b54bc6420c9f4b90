package feed

import (
	"bytes"
	"encoding/json"
	"fmt"

	"skink/base/harmless"
	"skink/store"
)

// Append appends a page to dst as a line of JSON: an object with the fields of a [Document], in
// UTF-8, and a newline. Invalid UTF-8 in a string is replaced by U+FFFD. On an error, Append
// returns dst unchanged.
func Append(dst []byte, r *store.Record, text string) ([]byte, error) {
	d := documentOf(r)
	d.Text = text
	return appendLine(dst, &d)
}

func appendLine(dst []byte, d *Document) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return dst, fmt.Errorf("encode the feed line of %s: %w", d.URL, err)
	}
	return harmless.AppendJSON(b.Bytes(), len(dst)), nil
}
