package dedup

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestShingles shows the published lists: Broder's "a rose is a rose is a rose",
// and "abcdabd" by characters (Leskovec, Rajaraman and Ullman, "Mining of Massive
// Datasets", section 3.2.1, for k = 2).
func TestShingles(t *testing.T) {
	const rose = "a rose is a rose is a rose"
	words := func(k int) Shingling { return Shingling{Words, k, 1, false} }
	chars := func(k int) Shingling { return Shingling{Chars, k, 1, false} }
	for _, c := range []struct {
		why  string
		s    Shingling
		text string
		list string // with repeats, divided by bars
		uniq string // ordered, without repeats
	}{
		{"Broder", words(4), rose, "a rose is a|rose is a rose|is a rose is|a rose is a|rose is a rose", "a rose is a|rose is a rose|is a rose is"},
		{"k=3", words(3), rose, "a rose is|rose is a|is a rose|a rose is|rose is a|is a rose", "a rose is|rose is a|is a rose"},
		{"k=2", words(2), rose, "a rose|rose is|is a|a rose|rose is|is a|a rose", "a rose|rose is|is a"},
		{"characters, k=2", chars(2), "abcdabd", "ab|bc|cd|da|ab|bd", "ab|bc|cd|da|bd"},
		{"characters, k=3", chars(3), "abcdabd", "abc|bcd|cda|dab|abd", "abc|bcd|cda|dab|abd"},
		{"characters, k=4", chars(4), "abcdabd", "abcd|bcda|cdab|dabd", "abcd|bcda|cdab|dabd"},
		{"characters, across words", chars(3), "To be", "to |o b| be", "to |o b| be"},
		{"end to end", Shingling{Words, 2, 2, false}, "a b c d e", "a b|c d", "a b|c d"},
		{"every second", Shingling{Words, 3, 2, false}, "a b c d e", "a b c|c d e", "a b c|c d e"},
		{"steps over", Shingling{Words, 1, 3, false}, "a b c d e", "a|d", "a|d"},
		{"unordered", Shingling{Words, 2, 1, true}, "b a b", "a b|a b", "a b"},
		{"just as long", words(3), "one two three", "one two three", "one two three"},
		{"shorter than a shingle", words(10), "one two", "one two", "one two"},
		{"nothing", words(10), "", "", ""},
	} {
		var x Text
		x.Read([]byte(c.text))
		list := c.s.Strings(&x)
		if got := strings.Join(list, "|"); got != c.list {
			t.Errorf("%s: list %s, want %s", c.why, got, c.list)
		}
		uniq := Distinct(list)
		if got := strings.Join(uniq, "|"); got != c.uniq {
			t.Errorf("%s: without repeats %s, want %s", c.why, got, c.uniq)
		}
		numbers := c.s.Append(nil, &x)
		if set := NewSet(slices.Clone(numbers)); len(numbers) != len(list) || len(Distinct(numbers)) != len(uniq) || len(set) != len(uniq) {
			t.Errorf("%s: %d numbers, %d in the set; want %d and %d", c.why, len(numbers), len(set), len(list), len(uniq))
		}
	}
}

// TestShinglesUnordered: a swap of neighbours inside a shingle does not count, one
// across its border does.
func TestShinglesUnordered(t *testing.T) {
	s := Shingling{Words, 4, 4, true}
	number := func(text string) []uint64 {
		var x Text
		x.Read([]byte(text))
		return s.Append(nil, &x)
	}
	a := number("one two three four five six seven eight")
	if b := number("two one four three eight seven six five"); !slices.Equal(a, b) {
		t.Error("swapped words inside shingles change them")
	}
	if b := number("one two three five four six seven eight"); a[0] == b[0] || a[1] == b[1] {
		t.Error("a word moved to the next shingle changes neither")
	}
}

func TestShinglingCheck(t *testing.T) {
	if err := DefaultShingling().Check(); err != nil {
		t.Error(err)
	}
	for _, bad := range []Shingling{{Words, 0, 1, false}, {Words, 1, 0, false}, {"line", 1, 1, false}} {
		if bad.Check() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

func TestAutoShingle(t *testing.T) {
	for n, want := range map[int]int{0: 8, 3500: 8, 3501: 9, 7000: 9, 7001: 10} {
		if got := AutoShingle(n); got != want {
			t.Errorf("%d characters: %d words, want %d", n, got, want)
		}
	}
}

// TestShinglesRoll holds the rolling number against one made from the start.
func TestShinglesRoll(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := Text{tokens: rapid.SliceOfN(rapid.Uint64(), 1, 40).Draw(r, "tokens")}
		s := Shingling{Words, rapid.IntRange(1, 12).Draw(r, "k"), rapid.IntRange(1, 5).Draw(r, "step"), rapid.Bool().Draw(r, "unordered")}
		for i, got := range s.Append(nil, &x) {
			at := i * s.Step
			one := Text{tokens: x.tokens[at:min(at+s.K, x.Len())]}
			if want := s.Append(nil, &one)[0]; got != want {
				r.Fatalf("%+v, shingle %d: %x, want %x", s, i, got, want)
			}
		}
	})
}
