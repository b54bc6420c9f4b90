package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"skink/dedup"
)

// Grouped formats a whole number with commas between groups of thousands.
func Grouped(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted formats a number with a noun, which is in the plural unless the number is 1: "2 pages".
func Counted(n any, noun string) string {
	if s := Grouped(n); s != "1" {
		return s + " " + noun + "s"
	}
	return "1 " + noun
}

// Share formats the share n/of as a percentage with one decimal: "12.5%".
func Share(n, of int64) string {
	return strconv.FormatFloat(percent(n, of), 'f', 1, 64) + "%"
}

func percent(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// contained formats the share of a page that is contained in its leader, such as "97.5%". It never
// rounds up to 100%.
func contained(share float64) string { return dedup.Percent(math.Floor(share*1e3) / 1e3) }

func resemblance(x float64) string { return Decimals(x, 3) }

// Decimals formats a share x, 0 to 1, with n decimals. It never rounds a share below 1 up to 1:
// 0.9999 becomes 0.999.
func Decimals(x float64, n int) string {
	if x < 1 {
		x = min(x, 1-math.Pow10(-n))
	}
	return strconv.FormatFloat(x, 'f', n, 64)
}

// Problems formats error counts by kind on one line, most frequent first.
func Problems(byKind map[string]int64) string { return strings.Join(mostFrequent(byKind), ", ") }

// mostFrequent formats the count of each kind, such as "status 404: 3", most frequent first.
func mostFrequent(byKind map[string]int64) (list []string) {
	kinds := slices.SortedFunc(maps.Keys(byKind), func(a, b string) int {
		return cmp.Or(cmp.Compare(byKind[b], byKind[a]), cmp.Compare(a, b))
	})
	for _, kind := range kinds {
		list = append(list, fmt.Sprintf("%s: %s", cmp.Or(kind, "unknown"), Grouped(byKind[kind])))
	}
	return list
}

// Total returns the sum of counts by kind.
func Total[K ~string](byKind map[K]int64) (n int64) {
	for _, v := range byKind {
		n += v
	}
	return n
}
