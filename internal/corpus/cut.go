package corpus

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"skink/extract"
)

// # Cutting texts
//
// A record whose text was cut is written like any other, with its other fields. The text of HTML in a field
// takes the place of the HTML. A page, a document and a record of a web archive become lines
// {"url","text"}, because their bytes cannot be cut.

// Plain reports whether the text of a record is plain text. With [extract.Options].Verbatim, t has it as
// it stands in the record.
func (t *Text) Plain() bool {
	return t.Doc == nil || t.Doc.Root == extract.RootPlain || t.Doc.Root == extract.RootNone
}

// Cuttable reports whether [Record.WithText] returns a record of the same kind. t is the record's text.
func (r *Record) Cuttable(t *Text) bool { return r.archived == nil && (r.Line > 0 || t.Plain()) }

// WithText returns a copy of a record with another text. t is the text that it has.
func (r *Record) WithText(t *Text, text string) (*Record, error) {
	one := *r
	if !r.Cuttable(t) {
		line := appendJSON(nil, struct {
			URL     string `json:"url"`
			Text    string `json:"text"`
			Private bool   `json:"private,omitempty"`
		}{t.URL, text, t.Private})
		return &Record{Num: r.Num, Input: r.Input, Line: max(r.Line, 1), Raw: line, fields: r.fields}, nil
	}
	if r.Line == 0 {
		one.Raw = []byte(text)
		return &one, nil
	}
	members, _ := membersOf(r.Raw) // none of a row
	for _, name := range r.fields.textNames() {
		if value, ok := members.field(name); ok {
			one.Raw = spliced(r.Raw, value, appendJSON(nil, text))
			one.cutCell(name, text)
			return &one, nil
		}
		if r.row == nil {
			continue
		}
		if _, ok := r.row.Value(name); ok {
			one.row = r.row.With(name, text)
			return &one, nil
		}
	}
	return nil, fmt.Errorf("%s has no text to cut", r.Place())
}

// spliced returns a copy of raw with other bytes instead of value, which is a part of raw.
func spliced(raw, value, by []byte) []byte {
	begin := value[:min(len(value), 8)]
	at := bytes.Index(raw, begin)
	for &raw[at] != &value[0] {
		at += 1 + bytes.Index(raw[at+1:], begin)
	}
	return bytes.Join([][]byte{raw[:at], by, raw[at+len(value):]}, nil)
}

// cutCell sets the last cell of the named column, if the record is a row of a sheet.
func (r *Record) cutCell(name, text string) {
	r.cells = slices.Clone(r.cells)
	for i := len(r.cells) - 1; i >= 0; i-- {
		if r.sheet.columns[i] != name {
			continue
		}
		r.cells[i] = text
		if raw := strings.Split(r.rawRow, "\t"); len(raw) == len(r.cells) {
			raw[i] = tabCell(text)
			r.rawRow = strings.Join(raw, "\t")
		} else { // a cell has a tab, so all are written anew
			r.rawRow = ""
		}
		return
	}
}
