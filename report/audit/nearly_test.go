package audit

import (
	"testing"

	"skink/store"
)

func TestReplacements(t *testing.T) {
	city := func(name string) string {
		return "Our team of trained workers comes to your house in " + name + " within one hour, and cleans all rooms. Ask in " + name + " for a price."
	}
	content := func(text string) *store.Content { return &store.Content{Text: text} }
	for _, test := range []struct{ name, a, b, want string }{
		{"the same pair once", city("Berlin"), city("Bad Homburg"), "[Berlin | Bad Homburg]"},
		{"more in one", "These are all of our opening hours", "These are all of our new opening hours", "[– | new]"},
		{"nothing", city("Berlin"), city("Berlin"), ""},
		{"many", "a b c 1 d e f 2 g h i 3 j k l 4 m n o 5 p q r", "a b c 6 d e f 7 g h i 8 j k l 9 m n o 0 p q r", "[1 | 6] [2 | 7] [3 | 8] [4 | 9] …"},
	} {
		if got := replacements(content(test.a), content(test.b)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}
