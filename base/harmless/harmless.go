// Package harmless makes untrusted text safe to show to people and to pass to programs. Titles,
// page text, file names, certificate names, headers, and errors that quote a server are untrusted.
// A terminal obeys control characters, bidirectional marks make a line read differently from its
// bytes, and a line break can forge a line of output.
//
// There is a guard for each output format: [Text] before a terminal or a text file, [JSON], [CSV]
// and [HTML] behind an encoder or a template. With a guard, the code that prints need not handle
// dangerous bytes. But a guard cannot know where a field ends. So pass a field of a line through
// [Line], a table cell through [Cell], and multi-line text through [Lines].
package harmless

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Dangerous reports whether a character controls a terminal or changes the text direction. These
// are the C0 and C1 controls, DEL, and the characters with the Unicode property Bidi_Control. Line
// breaks and tabs count as dangerous, too, because only the code that lays out a text knows which
// of them it wrote itself.
func Dangerous(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// Line returns a string that is safe as a field of a line. It escapes invisible characters, and
// bytes that are not UTF-8, as in a Go string. It keeps the zero-width joiner and non-joiner,
// because Persian words and family emoji need them.
func Line(s string) string { return spelled(s, showable) }

func showable(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return strconv.IsPrint(r) || r == nonJoiner || r == joiner
}

// Lines removes dangerous characters from multi-line text, but keeps line breaks and tabs. Unlike
// [Line], it inserts no escapes, so words stay intact for programs that read the text.
func Lines(s string) string {
	return strings.Map(func(r rune) rune {
		if Dangerous(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Clip shortens s to at most n bytes of valid UTF-8. An ellipsis stands for what is missing.
func Clip(s string, n int) string {
	if s = strings.ToValidUTF8(s, "\uFFFD"); len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Plain replaces control characters with spaces. It is for text on an HTML page, where [HTML]
// handles characters that change the text direction.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Cell returns a string as a table cell: one line, without characters that change the text
// direction. A spreadsheet treats a cell with certain first characters as a formula; Cell prepends
// an apostrophe, so the cell counts as text.
func Cell(s string) string {
	command := s != "" && strings.IndexByte("\t\r", s[0]) >= 0
	s = Lines(Plain(s))
	if command || s != "" && strings.IndexByte("=+-@", s[0]) >= 0 {
		s = "'" + s
	}
	return s
}

// spelled returns s with escapes in place of invalid bytes and of characters for which shown
// returns false.
func spelled(s string, shown func(rune) bool) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !shown(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case shown(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
		i += n
	}
	return b.String()
}

// Text returns a guard for output that people read. Dangerous characters are escaped as in a Go
// string, except tabs and line breaks. CRLF counts as one line break.
func Text(w io.Writer) *Guard {
	return &Guard{to: w, spell: func(dst []byte, r rune, bad byte) []byte {
		if r == utf8.RuneError {
			return fmt.Appendf(dst, `\x%02x`, bad)
		}
		quoted := strconv.QuoteRuneToASCII(r)
		return append(dst, quoted[1:len(quoted)-1]...)
	}}
}

// CSV returns a guard for CSV output whose cells went through [Cell]. It also ends lines with CRLF,
// as RFC 4180 requires.
func CSV(w io.Writer) *Guard { return Text(lineEnds{w}) }

type lineEnds struct{ to io.Writer }

func (l lineEnds) Write(p []byte) (int, error) {
	if _, err := l.to.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// JSON returns a guard for encoded JSON. It does not change the decoded values: dangerous
// characters occur only in strings, where the guard replaces them with their JSON escapes.
func JSON(w io.Writer) *Guard { return &Guard{to: w, spell: spellJSON} }

func spellJSON(dst []byte, r rune, _ byte) []byte { return fmt.Appendf(dst, `\u%04x`, r) } // all dangerous characters are below U+10000

// HTML returns a guard for an HTML page. It replaces characters that change the text direction with
// character references, so that a browser still obeys them. Control characters have no character
// reference, and become U+FFFD.
func HTML(w io.Writer) *Guard {
	return &Guard{to: w, spell: func(dst []byte, r rune, _ byte) []byte {
		if unicode.Is(unicode.Bidi_Control, r) {
			return fmt.Appendf(dst, "&#x%x;", r)
		}
		return utf8.AppendRune(dst, utf8.RuneError)
	}}
}

// AppendJSON returns b with the dangerous characters from index start onwards escaped as by [JSON].
func AppendJSON(b []byte, start int) []byte {
	at := firstDangerous(b[start:])
	if at < 0 {
		return b
	}
	tail := append([]byte(nil), b[start+at:]...)
	return guarded(b[:start+at], tail, spellJSON)
}

// A Guard is a writer that does not pass on dangerous characters.
type Guard struct {
	to    io.Writer
	spell func(dst []byte, r rune, bad byte) []byte // if r is utf8.RuneError, bad is the invalid byte
	wrong error                                     // first error from to
	part  []byte                                    // first bytes of a character that the next Write should complete
}

// Write writes p without dangerous characters. An incomplete character at the end of p is kept for
// the next call.
func (g *Guard) Write(p []byte) (int, error) {
	whole := p
	if len(g.part) > 0 {
		whole = append(g.part, p...)
		g.part = nil
	}
	if cut := cutRune(whole); cut > 0 {
		g.part = append([]byte(nil), whole[len(whole)-cut:]...)
		whole = whole[:len(whole)-cut]
	}
	if firstDangerous(whole) >= 0 {
		whole = guarded(make([]byte, 0, len(whole)+64), whole, g.spell)
	}
	if len(whole) > 0 {
		if _, err := g.to.Write(whole); err != nil {
			g.wrong = cmp.Or(g.wrong, err)
			return 0, err
		}
	}
	return len(p), nil
}

// Flush writes the incomplete character that Write has kept, if any. It returns the first error of
// all calls of Write.
func (g *Guard) Flush() error {
	if len(g.part) == 0 || g.wrong != nil {
		return g.wrong
	}
	rest := guarded(nil, g.part, g.spell)
	g.part = nil
	_, err := g.to.Write(rest)
	return err
}

func cutRune(p []byte) int {
	if len(p) > 0 && p[len(p)-1] == '\r' {
		return 1 // may be the first half of a CRLF
	}
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if tail := p[len(p)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

func guarded(dst, p []byte, spell func([]byte, rune, byte) []byte) []byte {
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		switch {
		case r == '\r' && len(p) > 1 && p[1] == '\n':
			dst, n = append(dst, '\r', '\n'), 2
		case r == utf8.RuneError && n == 1, Dangerous(r) && r != '\n' && r != '\t':
			dst = spell(dst, r, p[0])
		default:
			dst = append(dst, p[:n]...)
		}
		p = p[n:]
	}
	return dst
}

// firstDangerous returns the index of the first dangerous character in p, 0 if p is not valid
// UTF-8, or -1 if p is harmless. It decodes only characters whose first byte is in suspect. Most
// output has no such bytes, and is checked as fast as it can be read.
func firstDangerous(p []byte) int {
	if !utf8.Valid(p) {
		return 0
	}
	for i, c := range p {
		if suspect[c] {
			if r, _ := utf8.DecodeRune(p[i:]); Dangerous(r) {
				return i
			}
		}
	}
	return -1
}

// suspect marks the bytes that begin the UTF-8 encoding of a dangerous character, except line
// breaks and tabs.
var suspect = func() (table [256]bool) {
	for r := range rune(0x10000) {
		if Dangerous(r) && r != '\n' && r != '\t' {
			table[utf8.AppendRune(nil, r)[0]] = true
		}
	}
	return table
}()

// Error returns the text of an error for users and logs. The text contains no passwords. It is one
// line, although some libraries return paragraphs.
func Error(err error) string {
	return WithoutUser(strings.Join(strings.Fields(strings.ToValidUTF8(err.Error(), "\uFFFD")), " "))
}

// userInfo matches the user and password in a URL, and the colon before them. The URL may lack a
// scheme. A password may contain characters that should be encoded, unless its beginning looks like
// a port.
var userInfo = regexp.MustCompile(`(://)[^\s/\\?#":]+:[^\s/\\?#"]*[^\s/\\?#"0-9][^\s"]*@|(:/{0,2})[^\s/\\?#":][^\s/\\?#"]*@`)

// password matches the name of a parameter of a URL that is a password, and its value.
var password = regexp.MustCompile(`(?i)([?&](?:ssl)?password=)[^\s&"]*`)

// WithoutUser returns text with "…" in place of everything that may be the user and password of a
// URL, or the value of its parameter "password".
func WithoutUser(text string) string {
	return password.ReplaceAllString(userInfo.ReplaceAllString(text, "$1$2…@"), "$1…")
}

// Quoted returns a word quoted for a shell.
func Quoted(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-./:@%+=,", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
