package pdf

import (
	"slices"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// The lines are written as they are drawn, from left to right.
func TestLogical(t *testing.T) {
	for _, test := range []struct {
		name, drawn string
		rtl         bool
		want        string
	}{
		{"Hebrew with numbers", "2.5-ל 06:30 םולש", true, "שלום 06:30 ל-2.5"},
		{"percent in Hebrew", "8% םולש", true, "שלום 8%"},
		{"percent in Arabic", "ةينازيملا نم %8", true, "8% من الميزانية"},
		{"Arabic digits", "رتم ٥٫٢ ىلإ", true, "إلى ٥٫٢ متر"},
		{"Latin name and number", "ماع Tidal Gauge 3000 عون", true, "نوع Tidal Gauge 3000 عام"},
		{"address", ".https://example.org/a_(b)/c םולש", true, "שלום https://example.org/a_(b)/c."},
		{"brackets as drawn", ".(ןודנול) תרבח", true, "חברת (לונדון)."},
		{"brackets as meant", ".)ןודנול( תרבח", true, "חברת (לונדון)."},
		{"quotation marks", ".»מ« א", true, "א «מ»."},
		{"words in a Latin line", "sign םולש 12 םולש says (ןודנול) so", false, "sign שלום 12 שלום says (לונדון) so"},
		{"marks stay on their letters", "אָב ג", true, "ג באָ"},
	} {
		if got := brackets(logical([]rune(test.drawn), test.rtl)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// No character is lost or added, in either direction.
func TestLogicalKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOf(rapid.SampledFrom([]rune("אבגابپ12٣xy .,:/%(-)[]«»ָً"))).Draw(t, "drawn")
		got := []rune(logical(drawn, rapid.Bool().Draw(t, "rtl")))
		slices.Sort(got)
		slices.Sort(drawn)
		if !slices.Equal(got, drawn) || !utf8.ValidString(brackets(string(got))) {
			t.Errorf("got %q, want the characters of %q", got, drawn)
		}
	})
}
