package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Field is a line of a header.
type Field struct{ Name, Value string }

// A Header holds the fields of a record, or of an HTTP message in one, in their order and with
// their names as written. Lookup ignores case.
type Header []Field

// Get returns the value of the first field of a name, or "" if there is none.
func (h Header) Get(name string) string {
	if i := h.index(name); i >= 0 {
		return h[i].Value
	}
	return ""
}

// Has reports whether there is a field of a name.
func (h Header) Has(name string) bool { return h.index(name) >= 0 }

func (h Header) index(name string) int {
	return slices.IndexFunc(h, func(f Field) bool { return strings.EqualFold(f.Name, name) })
}

// Values returns the values of all fields of a name.
func (h Header) Values(name string) (all []string) {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			all = append(all, f.Value)
		}
	}
	return all
}

// Add appends a field.
func (h *Header) Add(name, value string) { *h = append(*h, Field{name, value}) }

// Set gives the first field of a name its value, or appends one.
func (h *Header) Set(name, value string) {
	if i := h.index(name); i >= 0 {
		(*h)[i].Value = value
		return
	}
	h.Add(name, value)
}

// append writes the fields and the empty line behind them. It refuses a value with a line end,
// which would make two fields.
func (h Header) append(dst []byte) ([]byte, error) {
	for _, f := range h {
		if f.Name == "" || strings.ContainsFunc(f.Name, notInName) {
			return dst, fmt.Errorf("%q is not a field name", f.Name)
		}
		if strings.ContainsAny(f.Value, "\r\n\x00") || f.Value != strings.Trim(f.Value, blanks) {
			return dst, fmt.Errorf("%s: %q is not a field value", f.Name, f.Value)
		}
		dst = append(dst, f.Name...)
		dst = append(dst, ": "...)
		dst = append(dst, f.Value...)
		dst = append(dst, "\r\n"...)
	}
	return append(dst, "\r\n"...), nil
}

// notInName reports whether a name of a field cannot contain r: names are tokens of RFC 9110,
// section 5.6.2.
func notInName(r rune) bool {
	return r <= ' ' || r >= 0x7F || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// blanks around a value are not part of it.
const blanks = " \t"

// maxHead is the longest head of a record, or of an HTTP message, in bytes. Current servers stop at
// 64 KB; URLs of tracking pixels in old archives are half as long.
const maxHead = 1 << 20

var errHeadTooLong = fmt.Errorf("its head is longer than %d bytes", maxHead)

// A headReader reads the lines of a head, within a bound. Lines may end without a carriage return.
type headReader struct {
	in   *bufio.Reader
	left int // bytes
}

// line returns the next line without its end. If the input ends before the line does, the error is
// io.ErrUnexpectedEOF.
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

// fields reads the fields up to an empty line. A line that begins with a blank continues the field
// before it. A line that is not a field is skipped if lenient, and is an error otherwise.
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
			return all, fmt.Errorf("%q is not a header field", brief(line))
		}
	}
}

// brief shortens a quotation for a message.
func brief(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
