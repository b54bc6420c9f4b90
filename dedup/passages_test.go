package dedup

import (
	"slices"
	"testing"
)

func TestPassages(t *testing.T) {
	for _, c := range []struct {
		why, a, b string
		k         int
		want      []Passage
	}{
		{"one in the middle", "x y the quick brown fox z", "u the quick brown fox v", 3, []Passage{{2, 1, 4}}},
		{"two, longest first", "a b c 1 d e f g", "d e f g 2 a b c", 3, []Passage{{4, 0, 4}, {0, 5, 3}}},
		{"the whole", "a b c d", "A, b. C d!", 2, []Passage{{0, 0, 4}}},
		{"the longest of two places", "a b c d", "a b x a b c d", 2, []Passage{{0, 3, 4}}},
		{"nothing", "a b c", "d e f", 2, nil},
		{"both shorter than a shingle", "a b", "a b", 5, []Passage{{0, 0, 2}}},
		{"one shorter than a shingle", "a b", "a b c d e", 5, nil},
		{"empty", "", "a", 2, nil},
	} {
		var a, b Text
		a.Read([]byte(c.a))
		b.Read([]byte(c.b))
		if got := Passages(&a, &b, c.k); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
}

func TestSpan(t *testing.T) {
	const text = "«Don’t» stop: naïve 我们, end"
	var x Text
	x.Locate()
	x.Read([]byte(text))
	var got []string
	for i := range x.Len() {
		s := x.Span(i)
		got = append(got, text[s.Start:s.End])
	}
	if want := []string{"Don’t", "stop", "naïve", "我", "们", "end"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
