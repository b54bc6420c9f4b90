package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The functions in this file write numbers for people. Programs read JSON or CSV instead.

// Grouped writes a whole number with a comma between thousands: 1,234,567. n must not be negative.
func Grouped(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted writes a number with its noun, in the plural unless n is 1: "1 page", "1,200 pages".
func Counted(n any, noun string) string {
	if s := Grouped(n); s != "1" {
		return s + " " + noun + "s"
	}
	return "1 " + noun
}

// Share writes n as a percentage of the total of, with one decimal: "12.5 %". It writes "0.0 %" if
// of is 0.
func Share(n, of int64) string {
	return strconv.FormatFloat(percent(n, of), 'f', 1, 64) + " %"
}

func percent(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// resemblance writes a resemblance, 0 to 1, with three decimals.
func resemblance(x float64) string { return Decimals(x, 3) }

// Decimals writes x, 0 to 1, with n decimals. An x below 1 is never rounded up to 1: 0.9999 with
// three decimals is 0.999.
func Decimals(x float64, n int) string {
	if x < 1 {
		x = min(x, 1-math.Pow10(-n))
	}
	return strconv.FormatFloat(x, 'f', n, 64)
}

// Problems writes on one line how many errors there are of each kind, most frequent first:
// "timeout: 12, refused: 3".
func Problems(byKind map[string]int64) string {
	kinds := slices.SortedFunc(maps.Keys(byKind), func(a, b string) int {
		return cmp.Or(cmp.Compare(byKind[b], byKind[a]), cmp.Compare(a, b))
	})
	list := make([]string, len(kinds))
	for i, kind := range kinds {
		list[i] = fmt.Sprintf("%s: %s", cmp.Or(kind, "unknown"), Grouped(byKind[kind]))
	}
	return strings.Join(list, ", ")
}

// total returns the sum of all counts.
func total(byKind map[string]int64) (n int64) {
	for _, v := range byKind {
		n += v
	}
	return n
}
