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

// Grouped writes a whole number with a comma between thousands.
func Grouped(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted returns a number with a noun, in the plural unless the number is 1: "2 pages".
func Counted(n any, noun string) string {
	if s := Grouped(n); s != "1" {
		return s + " " + noun + "s"
	}
	return "1 " + noun
}

// Share returns the share n/of in percent with one decimal: "12.5 %".
func Share(n, of int64) string {
	return strconv.FormatFloat(percent(n, of), 'f', 1, 64) + " %"
}

func percent(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// resemblance formats a resemblance, 0 to 1, with three decimals.
func resemblance(x float64) string { return Decimals(x, 3) }

// Decimals formats a share x, 0 to 1, with n decimals. A share below 1 is never rounded up to 1: .9999
// becomes 0.999.
func Decimals(x float64, n int) string {
	if x < 1 {
		x = min(x, 1-math.Pow10(-n))
	}
	return strconv.FormatFloat(x, 'f', n, 64)
}

// Problems formats counts of errors by kind on one line, the most frequent first.
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

// total returns the sum of the counts of all kinds.
func total(byKind map[string]int64) (n int64) {
	for _, v := range byKind {
		n += v
	}
	return n
}
