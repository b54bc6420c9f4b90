package align

import (
	"slices"
	"strings"
	"testing"
)

func TestCommon(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want []int
	}{
		{"", "", []int{}},
		{"a b", "", []int{-1, -1}},
		{"a b c", "a b c", []int{0, 1, 2}},
		{"a b c d", "a x d", []int{0, -1, -1, 2}},
		{"x a b y", "a b", []int{-1, 0, 1, -1}},
		{"a a a", "a a", []int{0, 1, -1}},
		{"one two three four", "two one four three", []int{-1, 0, -1, 2}},
	} {
		if got := common(strings.Fields(test.a), strings.Fields(test.b)); !slices.Equal(got, test.want) {
			t.Errorf("%q and %q: got %v, want %v", test.a, test.b, got, test.want)
		}
	}
}
