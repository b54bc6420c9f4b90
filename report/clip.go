package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Width returns the number of columns that s takes on a terminal. Wide characters, such as Chinese
// characters and most emoji, take two (UAX #11). Combining marks and invisible characters take
// none.
func Width(s string) (columns int) {
	for _, r := range s {
		columns += runeWidth(r)
	}
	return columns
}

func runeWidth(r rune) int {
	switch {
	case r < 0x300: // smaller code points are not combining marks
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Clip shortens s to at most n terminal columns; see [Width]. If s is too long, the result ends in
// "…", which takes up one column.
func Clip(s string, n int) string {
	columns, end := 0, 0
	for i, r := range s {
		if columns < n { // an ellipsis still fits
			end = i
		}
		if columns += runeWidth(r); columns > n {
			return s[:end] + "…"
		}
	}
	return s
}

// clipMiddle shortens s to at most n terminal columns; see [Width]. It replaces the middle of s
// with "…".
func clipMiddle(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	end := s
	for columns := Width(s); columns > n-1-n/2; {
		r, size := utf8.DecodeRuneInString(end)
		end, columns = end[size:], columns-runeWidth(r)
	}
	end = strings.TrimLeftFunc(end, func(r rune) bool { return runeWidth(r) == 0 }) // a combining mark stays with the preceding character
	return Clip(s, n/2+1) + end
}
