package corpus

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// # Reading JSON lines
//
// A JSON line has many members, and only two are read: the text and its name. encoding/json would
// decode a line twice, once to find the members and once to read the strings. Package jsontext
// checks a line and finds the bytes of its members in one pass. It accepts the lines that
// encoding/json accepts; a fuzz test compares the two. If a line is invalid, the error comes from
// encoding/json.

type member struct {
	name  []byte
	value []byte // JSON of the value, without surrounding white space
}

type members []member

// If several members have the name, value returns the value of the last one.
func (m members) value(name string) (value []byte, ok bool) {
	for i := len(m) - 1; i >= 0; i-- {
		if string(m[i].name) == name {
			return m[i].value, true
		}
	}
	return nil, false
}

// field is like value, but the name may also be a path; see [Fields].
func (m members) field(name string) (value []byte, ok bool) {
	if value, ok = m.value(name); ok {
		return value, true
	}
	for at := range name {
		if name[at] != '.' {
			continue
		}
		if outer, has := m.value(name[:at]); has && valueKind(outer) == "object" {
			inner, _ := membersOf(outer)
			if value, ok = inner.field(name[at+1:]); ok {
				return value, true
			}
		}
	}
	return nil, false
}

func (m members) find(field string, buffer *[]byte) (value []byte, kind string, ok bool) {
	value, ok = m.field(field)
	switch kind = valueKind(value); kind {
	case "string":
		value = unquotedIn(buffer, value)
	case "null":
		value = nil
	}
	return value, kind, ok
}

func (m members) names(yield func(string) bool) {
	for i := range m {
		name := string(m[i].name)
		if _, again := m[i+1:].value(name); !again && !yield(name) {
			return
		}
	}
}

// membersOf returns the members of the JSON object in raw. The values are parts of raw. If raw is
// null, it returns nil and no error. The errors are those of encoding/json.
func membersOf(raw []byte) (members, error) {
	// The decoder reads a bytes.Buffer in place, so what it returns stays valid.
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	found := make(members, 0, 16)
	if open, err := d.ReadToken(); err == nil && open.Kind() == '{' {
		for d.PeekKind() == '"' {
			name, _ := d.ReadValue()
			value, err := d.ReadValue()
			if err != nil {
				break
			}
			found = append(found, member{unquoted(name), value})
		}
		if _, err := d.ReadToken(); err == nil && d.StackDepth() == 0 {
			if _, err := d.ReadToken(); err == io.EOF {
				return found, nil
			}
		}
	}
	var all map[string]json.RawMessage
	return nil, json.Unmarshal(raw, &all)
}

// unquoted returns the value of a valid JSON string. As in encoding/json, U+FFFD replaces each
// invalid UTF-8 byte and each unpaired surrogate. The result may be a part of raw.
func unquoted(raw []byte) []byte { return unquotedIn(new([]byte), raw) }

// unquotedIn is like unquoted. If the result is not part of raw, it is stored in buffer, which
// grows as needed.
func unquotedIn(buffer *[]byte, raw []byte) []byte {
	if plain := raw[1 : len(raw)-1]; bytes.IndexByte(plain, '\\') < 0 && utf8.Valid(plain) {
		return plain
	}
	*buffer, _ = jsontext.AppendUnquote((*buffer)[:0], raw) // the only possible error is invalid UTF-8, which has been replaced
	return *buffer
}
