package audit

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTemplate(t *testing.T) {
	city := func(name string) string {
		return "Our team of trained workers comes to your house in " + name + " within one hour, and cleans all rooms. Ask in " + name + " for a price."
	}
	for _, test := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"names", []string{city("Berlin"), city("Munich"), city("Bad Homburg")},
			"… house in [Berlin | Munich | Bad Homburg] within one … Ask in [Berlin | Munich | Bad Homburg] for a price."},
		{"many", []string{city("A"), city("B"), city("C"), city("D"), city("E"), city("A")}, "… house in [A | B | C | D | …] within one … Ask in [A | B | C | D | …] for a price."},
		{"more in one", []string{"a b c", "a b x c"}, "a b [– | x] c"},
		{"at the ends", []string{"x a b", "a b y"}, "[x | –] a b [– | y]"},
		{"all", []string{"a b", "c d"}, "[a b | c d]"},
		{"nothing", []string{"a b", "a b"}, "a b"},
		{"one text", []string{"a b"}, "a b"},
		{"empty", nil, ""},
		{"many places", []string{"a 1 b 2 c 3 d 4 e 5 f", "a 6 b 7 c 8 d 9 e 0 f"}, "a [1 | 6] b [2 | 7] c [3 | 8] d and 2 more places"},
	} {
		if got := TemplateOf(test.texts).String(); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// If the slots of a template are filled with the words of one text, the result must be that text.
func TestTemplateIsFilledIn(t *testing.T) {
	text := rapid.Custom(func(r *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 12).Draw(r, "words"), " ")
	})
	rapid.Check(t, func(r *rapid.T) {
		texts := rapid.SliceOfN(text, 1, templateTexts).Draw(r, "texts")
		template := TemplateOf(texts)
		for k, want := range texts {
			var got []string
			for _, p := range template.Parts {
				if p.Slot != nil {
					got = append(got, strings.Fields(p.Slot[k])...)
				} else {
					got = append(got, strings.Fields(p.Text)...)
				}
			}
			if strings.Join(got, " ") != want {
				r.Fatalf("text %d is %q, filled in %q", k, want, got)
			}
		}
	})
}
