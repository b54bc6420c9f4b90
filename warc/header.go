package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Field is a named value in the header of a record or of an HTTP message.
type Field struct{ Name, Value string }

// A Header holds the fields of a WARC record, or of the HTTP message in it. It keeps their order
// and the case of their names. Lookups by name ignore case.
type Header []Field

// Get returns the value of the first field called name, or "" if there is none.
func (h Header) Get(name string) string {
	if i := h.index(name); i >= 0 {
		return h[i].Value
	}
	return ""
}

// Has reports whether there is a field called name.
func (h Header) Has(name string) bool { return h.index(name) >= 0 }

func (h Header) index(name string) int {
	return slices.IndexFunc(h, func(f Field) bool { return strings.EqualFold(f.Name, name) })
}

// Add appends a field.
func (h *Header) Add(name, value string) { *h = append(*h, Field{name, value}) }

// Set replaces the value of the first field called name, or appends a field if there is none.
func (h *Header) Set(name, value string) {
	if i := h.index(name); i >= 0 {
		(*h)[i].Value = value
		return
	}
	h.Add(name, value)
}

// append appends the fields to dst, one per line, and an empty line. It returns an error for an
// invalid name, and for a value that contains a line end, because such a value would be read as two
// fields.
func (h Header) append(dst []byte) ([]byte, error) {
	for _, f := range h {
		if f.Name == "" || strings.ContainsFunc(f.Name, notInName) {
			return dst, fmt.Errorf("%q is not a valid field name", f.Name)
		}
		if strings.ContainsAny(f.Value, "\r\n\x00") || f.Value != strings.Trim(f.Value, blanks) {
			return dst, fmt.Errorf("%[2]q is not a valid value of the field %[1]s", f.Name, f.Value)
		}
		dst = append(dst, f.Name...)
		dst = append(dst, ": "...)
		dst = append(dst, f.Value...)
		dst = append(dst, "\r\n"...)
	}
	return append(dst, "\r\n"...), nil
}

// notInName reports whether r is not allowed in a field name. Names consist of the token characters
// of RFC 9110, section 5.6.2.
func notInName(r rune) bool {
	return r <= ' ' || r >= 0x7F || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// blanks are the characters around a field's value that do not belong to it.
const blanks = " \t"

// maxHead is the maximum length in bytes of the head of a record or of an HTTP message; longer
// heads count as damage. The limit is far above the lengths that occur in practice: servers refuse
// requests with heads of more than about 64 KB, and the longest URLs in old archives have about 32
// KB.
const maxHead = 1 << 20

var errHeadTooLong = fmt.Errorf("the header is longer than %d bytes", maxHead)

// A headReader reads the lines of the head of a record or of an HTTP message, up to a limit in
// bytes. A line may end with "\n" alone.
type headReader struct {
	in   *bufio.Reader
	left int // bytes that may still be read
}

// line returns the next line, without its line end. It returns io.ErrUnexpectedEOF if the input
// ends within the line.
func (h *headReader) line() (string, error) {
	var long []byte
	for {
		part, err := h.in.ReadSlice('\n')
		if h.left -= len(part); h.left < 0 {
			return "", errHeadTooLong
		}
		if err == nil && long == nil {
			return string(bytes.TrimRight(part, "\r\n")), nil
		}
		long = append(long, part...)
		switch {
		case err == nil:
			return string(bytes.TrimRight(long, "\r\n")), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", unexpected(err)
		}
	}
}

// fields reads fields up to and including an empty line. A line that begins with a space or a tab
// continues the value of the previous field. If lenient is true, a line that is not a field is
// skipped; otherwise it is an error.
func (h *headReader) fields(lenient bool) (all Header, err error) {
	for {
		line, err := h.line()
		if err != nil {
			return all, err
		}
		if line == "" {
			return all, nil
		}
		if strings.ContainsRune(blanks, rune(line[0])) && len(all) > 0 {
			last := &all[len(all)-1]
			last.Value = strings.Trim(last.Value+" "+strings.Trim(line, blanks), blanks)
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name = strings.TrimRight(name, blanks)
		switch {
		case ok && name != "":
			all.Add(name, strings.Trim(value, blanks))
		case !lenient:
			return all, fmt.Errorf("%q is not a valid header field", brief(line))
		}
	}
}

func brief(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
