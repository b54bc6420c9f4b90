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

// Numbers are written for people here. Programs read JSON or CSV.

// Grouped writes a whole number with a comma between thousands.
func Grouped(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted writes a number of things.
func Counted(n any, noun string) string {
	if s := Grouped(n); s != "1" {
		return s + " " + noun + "s"
	}
	return "1 " + noun
}

// Share is n of a whole, in percent with one decimal.
func Share(n, of int64) string {
	return strconv.FormatFloat(percent(n, of), 'f', 1, 64) + " %"
}

func percent(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// resemblance has three decimals.
func resemblance(x float64) string { return Decimals(x, 3) }

// Decimals writes a share with so many; 1.000 is kept for 1 alone.
func Decimals(x float64, n int) string {
	if x < 1 {
		x = min(x, 1-math.Pow10(-n))
	}
	return strconv.FormatFloat(x, 'f', n, 64)
}

// Problems lists errors by kind, most frequent first, as one line.
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

// total is the sum of what is counted by kind.
func total(byKind map[string]int64) (n int64) {
	for _, v := range byKind {
		n += v
	}
	return n
}
