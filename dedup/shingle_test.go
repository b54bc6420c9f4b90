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
	words := func(k int) Shingling { return Shingling{Words, k} }
	chars := func(k int) Shingling { return Shingling{Chars, k} }
	for _, c := range []struct {
		why  string
		s    Shingling
		text string
		list string // the shingles in order with repeats, separated by bars
		uniq string // the shingles without repeats
	}{
		{"Broder", words(4), rose, "a rose is a|rose is a rose|is a rose is|a rose is a|rose is a rose", "a rose is a|rose is a rose|is a rose is"},
		{"k=3", words(3), rose, "a rose is|rose is a|is a rose|a rose is|rose is a|is a rose", "a rose is|rose is a|is a rose"},
		{"k=2", words(2), rose, "a rose|rose is|is a|a rose|rose is|is a|a rose", "a rose|rose is|is a"},
		{"characters, k=2", chars(2), "abcdabd", "ab|bc|cd|da|ab|bd", "ab|bc|cd|da|bd"},
		{"characters, k=3", chars(3), "abcdabd", "abc|bcd|cda|dab|abd", "abc|bcd|cda|dab|abd"},
		{"characters, k=4", chars(4), "abcdabd", "abcd|bcda|cdab|dabd", "abcd|bcda|cdab|dabd"},
		{"characters, across words", chars(3), "To be", "to |o b| be", "to |o b| be"},
		{"just as long", words(3), "one two three", "one two three", "one two three"},
		{"shorter than a shingle", words(10), "one two", "one two", "one two"},
		{"nothing", words(10), "", "", ""},
	} {
		var x Text
		x.Read([]byte(c.text))
		list := c.s.strings(&x)
		if got := strings.Join(list, "|"); got != c.list {
			t.Errorf("%s: list %s, want %s", c.why, got, c.list)
		}
		uniq := strings.FieldsFunc(c.uniq, func(r rune) bool { return r == '|' })
		numbers := c.s.Append(nil, &x)
		if set := NewSet(slices.Clone(numbers)); len(numbers) != len(list) || len(set) != len(uniq) {
			t.Errorf("%s: %d numbers, %d in the set; want %d and %d", c.why, len(numbers), len(set), len(list), len(uniq))
		}
	}
}

func TestShinglingCheck(t *testing.T) {
	if err := DefaultShingling().Check(); err != nil {
		t.Error(err)
	}
	for _, bad := range []Shingling{{Words, 0}, {Words, MaxShingle + 1}, {"line", 1}} {
		if bad.Check() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// TestShinglesRoll compares each rolling hash with a hash that is computed from the beginning.
func TestShinglesRoll(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := Text{tokens: rapid.SliceOfN(rapid.Uint64(), 1, 40).Draw(r, "tokens")}
		s := Shingling{Words, rapid.IntRange(1, 12).Draw(r, "k")}
		for i, got := range s.Append(nil, &x) {
			one := Text{tokens: x.tokens[i:min(i+s.K, x.Len())]}
			if want := s.Append(nil, &one)[0]; got != want {
				r.Fatalf("%+v, shingle %d: %x, want %x", s, i, got, want)
			}
		}
	})
}

// strings returns the shingles of t as readable text, in the order of the text and with repeats.
func (s Shingling) strings(t *Text) []string {
	var units []string
	glue := " "
	if s.Unit == Chars {
		glue = ""
		for _, r := range string(t.canon) {
			units = append(units, string(r))
		}
	} else {
		for i := range t.Len() {
			units = append(units, t.Token(i))
		}
	}
	var all []string
	for i := 0; len(units) > 0 && (i == 0 || i+s.K <= len(units)); i++ {
		all = append(all, strings.Join(units[i:min(i+s.K, len(units))], glue))
	}
	return all
}
