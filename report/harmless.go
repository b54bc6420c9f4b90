package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The strings of a report were written by strangers. Each format has its own
// way to be harmed: a terminal obeys control characters, a spreadsheet runs
// formulas, a browser follows links. HTML's own escaping is html/template's.

// visible makes s safe to show on a terminal: what cannot be seen (controls,
// ANSI escapes, marks that turn the direction of writing, bytes that are not
// UTF-8) is spelled out as in a Go string. The two joiners stay: Persian words
// and family emoji need them.
func visible(s string) string {
	if isVisible(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case showable(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
		i += n
	}
	return b.String()
}

func isVisible(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !showable(r) }) < 0
}

func showable(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return strconv.IsPrint(r) || r == nonJoiner || r == joiner
}

// oneLine makes s valid UTF-8 in which every control character is a space.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// cell makes s safe in a spreadsheet, which takes a cell with one of these
// first characters for a formula: a leading apostrophe makes it text.
func cell(s string) string {
	if s != "" && strings.IndexByte("=+-@\t\r", s[0]) >= 0 {
		s = "'" + s
	}
	return oneLine(s)
}

// clip shortens s to at most n runes.
func clip(s string, n int) string {
	count := 0
	for i := range s {
		if count == n-1 && utf8.RuneCountInString(s[i:]) > 1 {
			return s[:i] + "…"
		}
		count++
	}
	return s
}
