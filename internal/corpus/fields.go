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

// joined returns the text of the first of the usual fields that value finds, or of all the fields that the user
// has named. A text of value is valid until its next call. field is the first field found, or "".
func (f *Fields) joined(value func(field string) (text []byte, ok bool, err error)) (text []byte, field string, err error) {
	for _, name := range f.textNames() {
		one, ok, err := value(name)
		switch {
		case err != nil || ok && len(f.Text) < 2:
			return one, name, err
		case ok && field == "":
			text, field = slices.Clone(one), name
		case ok:
			text = append(append(text, "\n\n"...), one...)
		}
	}
	return text, field, nil
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
	name, err := f.name(members)
	if err != nil {
		return Text{}, err
	}
	t, err := f.text(ask, name, members)
	private, _ := members.value(privateField)
	t.Private = string(private) == "true"
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

// name returns "" if no field of the line contains a name.
func (f *Fields) name(members members) (string, error) {
	for _, field := range f.idNames() {
		raw, ok := members.field(field)
		switch kind := valueKind(raw); {
		case !ok || kind == "null":
		case kind == "string":
			s, err := stringOf(field, new([]byte), raw)
			if err != nil || len(s) > 0 {
				return string(s), err
			}
		case kind == "number":
			return string(raw), nil
		case f.ID != "" || field == "url":
			return "", fmt.Errorf("%q is %s instead of a string", field, withArticle(kind))
		}
	}
	if _, ok := members.field(f.ID); f.ID != "" && !ok {
		return "", fmt.Errorf("the field %q is missing; %s", f.ID, itHas(members.names))
	}
	return "", nil
}

// text returns the text of a line. A line of a skink feed may have no text, because a feed omits
// fields that a page lacks or that were not stored.
func (f *Fields) text(ask extract.Options, name string, members members) (Text, error) {
	buffer := buffers.Get().(*[]byte)
	defer giveBack(buffer) // textOf copies what it keeps
	text, field, err := f.joined(func(field string) ([]byte, bool, error) {
		raw, ok := members.field(field)
		if !ok {
			return nil, false, nil
		}
		text, err := stringOf(field, buffer, raw)
		return text, true, err
	})
	if err != nil || field != "" {
		return textOf(ask, name, text, fieldType(field)), err
	}
	switch verdict, _ := members.value("verdict"); {
	case len(f.Text) > 0:
		return Text{}, fmt.Errorf("the field %s is missing; %s", orList(f.Text), itHas(members.names))
	case valueKind(verdict) == "string":
		return Text{URL: name}, nil
	}
	return Text{}, fmt.Errorf("%w (%s); %s", ErrNoText, orList(textFields), itHas(members.names))
}

// buffers is a pool of memory for the text of a line.
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

// stringOf returns the value of a string field. The value null counts as "". The result may be
// stored in buffer.
func stringOf(field string, buffer *[]byte, raw []byte) ([]byte, error) {
	switch kind := valueKind(raw); kind {
	case "string":
		return unquotedIn(buffer, raw), nil
	case "null":
		return nil, nil
	default:
		return nil, fmt.Errorf("%q is %s instead of a string", field, withArticle(kind))
	}
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
