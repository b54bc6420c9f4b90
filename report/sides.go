package report

import (
	_ "embed"
	"unicode/utf8"

	"skink/dedup"
	"skink/internal/align"
)

//go:embed sides.html
var sidesSource string

// Sides are two texts side by side, for the template "sides".
type Sides struct {
	Rows  []align.Row
	Words align.Counts
	Rest  int // bytes that are not shown of the longer text
}

// mostBeside is how many bytes of a text are laid beside another. A browser shows more slowly than
// a person would wait.
const mostBeside = 256 << 10

// Beside lays two texts side by side, word by word in their plain form.
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

// Differ are the first words in which two texts differ, at most n.
func Differ(a, b string, n int) []align.Difference {
	return align.Differences(Beside(a, b).Rows, n)
}
