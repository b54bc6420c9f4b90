package report

import (
	_ "embed"
	"unicode/utf8"

	"skink/dedup"
	"skink/internal/align"
)

//go:embed sides.html
var sidesSource string

// Sides holds two texts aligned side by side, for the HTML template "sides".
type Sides struct {
	Rows  []align.Row
	Words align.Counts
	Rest  int // number of bytes at the end of the longer text that are left out; 0 if both texts are complete
}

// mostBeside is the largest number of bytes of each text that Beside compares. A browser would take
// too long to display more.
const mostBeside = 256 << 10

// Beside aligns two texts word by word. Words are compared in canonical form, so differences in
// case and punctuation are ignored.
func Beside(a, b string) Sides {
	s := Sides{Rest: max(len(a), len(b)) - mostBeside}
	s.Rows, s.Words = align.Texts(sideOf(a), sideOf(b))
	s.Rest = max(s.Rest, 0)
	return s
}

func sideOf(text string) align.Side {
	if len(text) > mostBeside {
		end := mostBeside
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	tokens := new(dedup.Text)
	tokens.Locate()
	tokens.Read([]byte(text))
	return align.Side{Text: text, Tokens: tokens}
}

// Differ returns the first n differences between two texts, or all if there are fewer.
func Differ(a, b string, n int) []align.Difference {
	return align.Differences(Beside(a, b).Rows, n)
}
