package report

import (
	"fmt"
	"strings"
	"testing"
)

// TestBeside checks that two texts have no difference with the same words, and that
// the end of a long text is no difference after words that only one text has.
func TestBeside(t *testing.T) {
	if s := Beside([2]string{}, [2]string{"The cats of the house", "the CATS, of the house!"}); s.Differences() > 0 {
		t.Errorf("%+v, want no difference in case and punctuation", s.Rows)
	}
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, "word%d ", i)
	}
	first := strings.Repeat("Prologue. ", 400)
	if s := Beside([2]string{}, [2]string{b.String(), first + b.String()}); s.Words.Removed > 0 || s.Words.Added != 400 || s.Rest == 0 {
		t.Errorf("%+v, rest %d, want only the first 400 words added", s.Words, s.Rest)
	}
}

// TestParts checks which rows are folded. In each case a letter is a block. The two texts are equal
// in lower-case letters, and differ in upper-case letters. A result in brackets is folded.
func TestParts(t *testing.T) {
	for blocks, want := range map[string]string{
		"a":           "a",
		"ab":          "ab",
		"abc":         "a [bc]",
		"A":           "A1",
		"AB":          "A1 B2",
		"aB":          "a B1",
		"abC":         "ab C1",
		"abcD":        "[ab] c D1",
		"AbcD":        "A1 bc D2",
		"AbcdE":       "A1 bcd E2",
		"AbcdeF":      "A1 b [cd] e F2",
		"AbcdefgHijk": "A1 b [cdef] g H2 i [jk]",
	} {
		var a, b []string
		for _, c := range blocks {
			a = append(a, fmt.Sprintf("block %c of the text", c))
			b = append(b, a[len(a)-1])
			if c < 'a' {
				b[len(b)-1] += ", changed"
			}
		}
		s := Beside([2]string{}, [2]string{strings.Join(a, "\n"), strings.Join(b, "\n")})
		var got []string
		folded := 0
		for _, p := range s.Stretches() {
			names := ""
			for _, r := range p.Rows {
				for _, block := range r.A {
					names += strings.TrimPrefix(block[0].Text, "block ")[:1]
				}
			}
			switch {
			case p.Folded:
				names = "[" + names + "]"
				folded += p.Blocks()
			case p.Number > 0:
				names += fmt.Sprint(p.Number)
			}
			got = append(got, names)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: parts %s, want %s", blocks, got, want)
		}
		if n := strings.IndexByte(want, ']') - strings.IndexByte(want, '[') - 1; strings.Count(want, "[") == 1 && folded != n {
			t.Errorf("%s: %d folded blocks, want %d", blocks, folded, n)
		}
	}
}
