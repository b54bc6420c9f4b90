package corpus

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// # Reading JSON lines
//
// A JSON line has many members, and only two are read: the text and its name. encoding/json would
// decode a line twice, once to find the members and once to read the strings. The scanner in this
// file checks a line and finds the bytes of its members in one pass. It accepts the lines that
// encoding/json accepts, and reads the same values from them; a fuzz test compares the two. If a
// line is invalid, the error comes from encoding/json.

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
	s := scanner{raw: raw, found: make(members, 0, 16)}
	s.space()
	if s.next() == '{' && s.value() {
		if s.space(); s.at == len(raw) {
			return s.found, nil
		}
	}
	var all map[string]json.RawMessage
	return nil, json.Unmarshal(raw, &all)
}

// A scanner reads a JSON text. Its methods report whether the bytes from raw[at] onward are valid,
// and advance at past them.
type scanner struct {
	raw   []byte
	at    int
	depth int     // number of open objects and arrays
	found members // members of the outermost object
}

// as in encoding/json
const maxDepth = 10000

func (s *scanner) next() byte {
	if s.at < len(s.raw) {
		return s.raw[s.at]
	}
	return 0
}

func (s *scanner) is(c byte) bool {
	if s.next() != c || s.at == len(s.raw) {
		return false
	}
	s.at++
	return true
}

func (s *scanner) space() {
	for s.at < len(s.raw) && (s.raw[s.at] == ' ' || s.raw[s.at] == '\n' || s.raw[s.at] == '\t' || s.raw[s.at] == '\r') {
		s.at++
	}
}

// There must be no white space before the value.
func (s *scanner) value() bool {
	switch c := s.next(); c {
	case '"':
		return s.string()
	case '{':
		return s.list('}', s.member)
	case '[':
		return s.list(']', s.value)
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *scanner) list(end byte, read func() bool) bool {
	s.at++
	if s.depth++; s.depth > maxDepth {
		return false
	}
	s.space()
	for first := true; !s.is(end); first = false {
		if !first {
			if !s.is(',') {
				return false
			}
			s.space()
		}
		if !read() {
			return false
		}
		s.space()
	}
	s.depth--
	return true
}

func (s *scanner) member() bool {
	start := s.at
	if s.next() != '"' || !s.string() {
		return false
	}
	name := s.raw[start:s.at]
	s.space()
	if !s.is(':') {
		return false
	}
	s.space()
	start = s.at
	if !s.value() {
		return false
	}
	if s.depth == 1 {
		s.found = append(s.found, member{unquoted(name), s.raw[start:s.at]})
	}
	return true
}

func (s *scanner) word(w string) bool {
	if !bytes.HasPrefix(s.raw[s.at:], []byte(w)) {
		return false
	}
	s.at += len(w)
	return true
}

func (s *scanner) number() bool {
	s.is('-')
	if !s.is('0') && !s.digits() {
		return false
	}
	if s.is('.') && !s.digits() {
		return false
	}
	if s.is('e') || s.is('E') {
		if !s.is('+') {
			s.is('-')
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	start := s.at
	for '0' <= s.next() && s.next() <= '9' {
		s.at++
	}
	return s.at > start
}

func (s *scanner) string() bool {
	s.at++
	for {
		s.at += plainPrefix(s.raw[s.at:])
		switch c := s.next(); {
		case c == '"':
			s.at++
			return true
		case c != '\\':
			return false // a control character, or the end of raw
		}
		s.at++
		switch s.next() {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			s.at++
		case 'u':
			if hex4(s.raw[s.at+1:]) < 0 {
				return false
			}
			s.at += 5
		default:
			return false
		}
	}
}

// plainPrefix returns the number of bytes before the first quote, backslash or control character in
// b. It looks at eight bytes at once. If a byte of x is 0, its high bit is set in x - ones but
// clear in x. Borrows may also mark bytes after it, so only the first mark is used.
func plainPrefix(b []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^('"'*ones), x^('\\'*ones)
		if m := ((quote-ones)&^quote | (slash-ones)&^slash | (x-' '*ones)&^x) & high; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
		i++
	}
	return i
}

// hex4 returns -1 if b does not begin with four hexadecimal digits.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// unquoted returns the value of a valid JSON string. As in encoding/json, U+FFFD replaces each
// invalid UTF-8 byte and each unpaired surrogate. The result may be a part of raw.
func unquoted(raw []byte) []byte { return unquotedIn(new([]byte), raw) }

// unquotedIn is like unquoted. If the result is not part of raw, it is stored in buffer, which
// grows as needed.
func unquotedIn(buffer *[]byte, raw []byte) []byte {
	raw = raw[1 : len(raw)-1]
	if !utf8.Valid(raw) {
		raw = []byte(string([]rune(string(raw))))
	}
	n := bytes.IndexByte(raw, '\\')
	if n < 0 {
		return raw
	}
	*buffer = slices.Grow((*buffer)[:0], len(raw)) // a value is never longer than its JSON
	out := *buffer
	for ; n >= 0; n = bytes.IndexByte(raw, '\\') {
		out = append(out, raw[:n]...)
		c := raw[n+1]
		raw = raw[n+2:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := hex4(raw)
			raw = raw[4:]
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
					low = hex4(raw[2:])
				}
				if r = utf16.DecodeRune(r, low); r != unicode.ReplacementChar {
					raw = raw[6:]
				}
			}
			out = utf8.AppendRune(out, r)
			continue
		}
		out = append(out, c)
	}
	return append(out, raw...)
}
