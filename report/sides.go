package report

import (
	_ "embed"
	"unicode/utf8"

	"skink/dedup"
	"skink/internal/align"
)

//go:embed sides.html
var sidesSource string

// Sides is the data for the template "sides": two texts aligned word by word.
type Sides struct {
	Rows  []align.Row
	Words align.Counts
	Rest  int // how many bytes of the longer text were not compared, because it is longer than mostBeside
}

// mostBeside is how many bytes of each text are shown side by side. A browser would take too long
// to show more.
const mostBeside = 256 << 10

// Beside aligns two texts by their words. Words count as equal if only letter case or punctuation
// differs. It compares the first mostBeside bytes of each text.
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

// Differ returns the first places, at most n, in which two texts differ.
func Differ(a, b string, n int) []align.Difference {
	return align.Differences(Beside(a, b).Rows, n)
}
