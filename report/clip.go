package report

import (
	"unicode"

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
	runes := []rune(s)
	begin, columns := 0, runeWidth(runes[0])
	for columns <= n/2 {
		begin++
		columns += runeWidth(runes[begin])
	}
	end := len(runes)
	columns = 0
	for i := end - 1; ; i-- {
		w := runeWidth(runes[i])
		if columns += w; columns > n-1-n/2 {
			return string(runes[:begin]) + "…" + string(runes[end:])
		}
		if w > 0 { // a combining mark has width 0, and stays with the preceding character
			end = i
		}
	}
}
