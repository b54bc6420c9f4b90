package frontier

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// # The encoding of queries
//
// A browser writes the query of a link in the encoding of the link's page, and all other parts of a
// URL in UTF-8 (URL Standard 4.4, query state). The server of a page in windows-1251 expects the
// same, and does not find what it is asked for in UTF-8. A character that the encoding lacks becomes
// a character reference: "&#128512;", escaped.

// queryEncoding returns the encoding for the queries of links of a page in the named encoding. It
// returns nil for UTF-8 and unknown names, and for UTF-16, which the standard replaces by UTF-8.
func queryEncoding(charset string) encoding.Encoding {
	switch charset {
	case "", "utf-8", "utf-16le", "utf-16be", "replacement", "x-user-defined":
		return nil
	}
	e, _ := htmlindex.Get(charset) // nil with an error
	return e
}

// encodeQuery escapes the non-ASCII characters in the query of a link.
func (b *Base) encodeQuery(ref string) string {
	start := strings.IndexByte(ref, '?')
	if b.charset == nil || start < 0 || strings.IndexByte(ref[:start], '#') >= 0 {
		return ref
	}
	query, fragment, _ := strings.Cut(ref[start:], "#")
	out := append(make([]byte, 0, len(ref)+len(query)), ref[:start]...)
	for query != "" {
		n := end(query, func(r rune) bool { return r >= utf8.RuneSelf })
		out = append(out, query[:n]...)
		query = query[n:]
		n = end(query, func(r rune) bool { return r < utf8.RuneSelf })
		out = b.encodeRun(out, query[:n])
		query = query[n:]
	}
	return string(append(append(out, '#'), fragment...))
}

// end returns the index of the first character for which is returns true, or the length of s.
func end(s string, is func(rune) bool) int {
	if i := strings.IndexFunc(s, is); i >= 0 {
		return i
	}
	return len(s)
}

// encodeRun appends a run of non-ASCII characters.
func (b *Base) encodeRun(out []byte, run string) []byte {
	if text, err := b.charset.NewEncoder().String(run); err == nil {
		return appendQuery(out, text)
	}
	for _, r := range run {
		if text, err := b.charset.NewEncoder().String(string(r)); err == nil {
			out = appendQuery(out, text)
		} else {
			out = fmt.Appendf(out, "%%26%%23%d%%3B", r)
		}
	}
	return out
}

// appendQuery escapes the bytes that a query may not contain.
func appendQuery(out []byte, s string) []byte {
	for i := range len(s) {
		if bytesOf[s[i]]&(inQuery|unreserved) != 0 {
			out = append(out, s[i])
		} else {
			out = fmt.Appendf(out, "%%%02X", s[i])
		}
	}
	return out
}
