package report

import "unicode/utf8"

// Clip shortens s to at most n runes. A shortened s ends in "…", which counts as one of them.
func Clip(s string, n int) string {
	count := 0
	for i := range s {
		if count == n-1 && utf8.RuneCountInString(s[i:]) > 1 {
			return s[:i] + "…"
		}
		count++
	}
	return s
}

// clipMiddle shortens s to at most n runes. It keeps the beginning and the end of s, and puts "…"
// in place of the middle.
func clipMiddle(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	end := len(runes) - (n - 1 - n/2)
	return string(runes[:n/2]) + "…" + string(runes[end:])
}
