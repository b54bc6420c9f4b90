package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"skink/base/harmless"
	"skink/extract"
)

// Fields selects the fields of a record that contain the text and its name. A field is a member of
// a JSON line, or a column of a table. The zero value selects both by their usual names, such as
// "text" and "url".
type Fields struct {
	Text []string // fields with the text, which are joined by blank lines; none selects the first of the usual fields that a line has
	ID   string   // field with the name; "" selects the first of the usual fields that a line has; a text without a name is called FILE:LINE
	Rank string   // field that [Text.Fields] contains; "" means none
}

// A name with periods, such as "a.b", also selects the member "b" of the object "a", or a column of a group
// of columns.

// These are the fields in which common corpora store a text and its name. The first field that a
// line has is used. A URL comes before a number, because it tells users more.
var (
	textFields = []string{"text", "content", "body", "raw_content", "document", "html", "raw_html"}
	idFields   = []string{"url", "uri", "id", "_id", "docid", "doc_id", "document_id"}
)

// privateField is the field of a feed that marks private pages; see feed/SCHEMA.md.
const privateField = "private"

func (f *Fields) textNames() []string {
	if len(f.Text) > 0 {
		return f.Text
	}
	return textFields
}

func (f *Fields) idNames() []string {
	if f.ID != "" {
		return []string{f.ID}
	}
	return idFields
}

// Check returns an error if the texts of the fields cannot be joined.
func (f *Fields) Check() error {
	for _, field := range f.Text {
		if first := f.Text[0]; fieldType(field) != fieldType(first) {
			return fmt.Errorf("the fields %q and %q cannot be one text, because only one of them is HTML", first, field)
		}
	}
	return nil
}

// A source has the fields of a record.
type source interface {
	// find returns the text of a string, nothing for null, and the JSON of any other value. The value may be
	// stored in buffer. kind is that of [valueKind].
	find(field string, buffer *[]byte) (value []byte, kind string, ok bool)
	names(yield func(string) bool)
}

// take returns the text of a record, with its name. If none of the usual fields is there, the error is ErrNoText, and
// only the text is missing.
func (f *Fields) take(ask extract.Options, s source) (t Text, err error) {
	buffer := buffers.Get().(*[]byte)
	defer giveBack(buffer) // textOf copies what it keeps
	private, _, _ := s.find(privateField, buffer)
	t.Private = strings.EqualFold(string(private), "true") // a cell of CSV has no type, and some programs write True
	if t.URL, err = f.name(s, buffer); err != nil {
		return t, err
	}
	text, field, err := f.joined(s, buffer)
	switch {
	case err != nil:
		return t, err
	case field == "" && len(f.Text) > 0:
		return t, fmt.Errorf("the field %s is missing; %s", orList(f.Text), itHas(s.names))
	case field == "":
		return t, fmt.Errorf("%w (%s); %s", ErrNoText, orList(textFields), itHas(s.names))
	}
	read := textOf(ask, t.URL, text, fieldType(field))
	read.Private = t.Private
	return read, nil
}

// name returns "" if no field of the record contains a name.
func (f *Fields) name(s source, buffer *[]byte) (string, error) {
	for _, field := range f.idNames() {
		value, kind, ok := s.find(field, buffer)
		switch {
		case !ok && f.ID != "":
			return "", fmt.Errorf("the field %q is missing; %s", f.ID, itHas(s.names))
		case !ok || len(value) == 0:
		case kind == "string" || kind == "number":
			return string(value), nil
		case f.ID != "" || field == "url":
			return "", notString(field, kind)
		}
	}
	return "", nil
}

// joined returns the text of the first of the usual fields that s has, or of all the fields that the user
// has named. field is the first field found, or "".
func (f *Fields) joined(s source, buffer *[]byte) (text []byte, field string, err error) {
	for _, name := range f.textNames() {
		one, kind, ok := s.find(name, buffer)
		switch {
		case !ok:
		case kind != "string" && kind != "null":
			return nil, name, notString(name, kind)
		case len(f.Text) < 2:
			return one, name, nil
		case field == "":
			text, field = slices.Clone(one), name
		default:
			text = append(append(text, "\n\n"...), one...)
		}
	}
	return text, field, nil
}

func notString(field, kind string) error {
	return fmt.Errorf("%q is %s instead of a string", field, withArticle(kind))
}

func (f *Fields) read(ask extract.Options, raw []byte) (Text, error) {
	members, err := membersOf(raw)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind), err == nil && members == nil:
		return Text{}, fmt.Errorf(`found %s instead of an object: each line must be an object such as {"url","text"} or {"url","html"}`, withArticle(valueKind(raw)))
	case err != nil:
		return Text{}, fmt.Errorf(`not JSON: %w: each line must be an object such as {"url","text"} or {"url","html"}`, err)
	}
	t, err := f.take(ask, members)
	if errors.Is(err, ErrNoText) { // a line of a skink feed lacks fields that its page lacks, or all if the page is gone
		change, _ := members.value("change")
		if verdict, _ := members.value("verdict"); valueKind(verdict) == "string" || string(change) == `"gone"` {
			err = nil
		}
	}
	if f.Rank != "" {
		rank, _ := members.field(f.Rank)
		t.Fields = f.rankOf(rank)
	}
	return t, err
}

// rankOf returns the object for [Text.Fields] with a value.
func (f *Fields) rankOf(value []byte) json.RawMessage {
	if kind := valueKind(value); kind != "string" && kind != "number" && kind != "boolean" {
		return nil
	}
	return slices.Concat([]byte{'{'}, appendJSON(nil, f.Rank), []byte{':'}, value, []byte{'}'})
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// giveBack returns a buffer to the pool, unless it is too large to keep.
func giveBack(buffer *[]byte) {
	const large = 1 << 20 // maximum size of a buffer that is kept, in bytes
	if cap(*buffer) <= large {
		buffers.Put(buffer)
	}
}

func fieldType(field string) string {
	if strings.HasSuffix(strings.ToLower(field), "html") {
		return "text/html; charset=utf-8"
	}
	return "text/plain; charset=utf-8"
}

var valueKinds = map[jsontext.Kind]string{'"': "string", '{': "object", '[': "array", 't': "boolean", 'f': "boolean", 'n': "null", '0': "number"}

// valueKind returns the kind of a JSON value, or "" if raw is empty.
func valueKind(raw []byte) string { return valueKinds[jsontext.Value(raw).Kind()] }

func withArticle(kind string) string {
	switch kind {
	case "object", "array":
		return "an " + kind
	case "null":
		return kind
	}
	return "a " + kind
}

func orList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	last := len(quoted) - 1
	return strings.TrimPrefix(strings.Join(quoted[:last], ", ")+" or "+quoted[last], " or ")
}

const maxListed = 8

// itHas returns a text that lists the fields of a record, to show users which ones they can select.
func itHas(fields iter.Seq[string]) string {
	names := slices.Sorted(fields)
	if len(names) == 0 {
		return "the record has no fields"
	}
	more := ""
	if n := len(names) - maxListed; n > 0 {
		names, more = names[:maxListed], fmt.Sprintf(" and %d more", n)
	}
	for i, name := range names {
		names[i] = strconv.Quote(harmless.Clip(name, 40))
	}
	return "the record has " + strings.Join(names, ", ") + more
}
