package report

import (
	_ "embed"
	"iter"
	"strings"

	"skink/dedup"
	"skink/dedup/align"
)

//go:embed sides.html
var sidesSource string

// Sides holds two texts aligned side by side, for the HTML template "sides".
type Sides struct {
	Rows  []align.Row
	Words align.Counts
	Names [2]string // what the two texts are called
	Rest  int       // bytes left out at the end of the longer text; 0 if both texts are complete
}

// A Stretch of two aligned texts is one difference, or a run of equal rows.
type Stretch struct {
	Rows   []align.Row
	At     int  // index of the first row
	Number int  // number of the difference, from 1; 0 if the rows are equal
	Folded bool // hidden until the reader expands the rows
}

// Blocks returns how many blocks of the first text the stretch contains.
func (p Stretch) Blocks() (n int) {
	for _, r := range p.Rows {
		n += len(r.A)
	}
	return n
}

// Next and Previous return the numbers of the neighboring differences.
func (p Stretch) Next() int     { return p.Number + 1 }
func (p Stretch) Previous() int { return p.Number - 1 }

// Differences returns the number of rows in which the texts differ.
func (s Sides) Differences() (n int) {
	for _, r := range s.Rows {
		if r.Kind != align.Same {
			n++
		}
	}
	return n
}

// Stretches divides the rows into stretches, in order. Each difference is a stretch. Equal rows are folded,
// except rows next to a difference. If the texts do not differ, the first row is not folded either.
// A single row is never folded.
func (s Sides) Stretches() (all []Stretch) {
	number := 0
	for i := 0; i < len(s.Rows); {
		if s.Rows[i].Kind != align.Same {
			number++
			all = append(all, Stretch{Rows: s.Rows[i : i+1], At: i, Number: number})
			i++
			continue
		}
		end := i
		for end < len(s.Rows) && s.Rows[end].Kind == align.Same {
			end++
		}
		from, to := i, end
		if i > 0 || end == len(s.Rows) {
			from++
		}
		if end < len(s.Rows) {
			to--
		}
		if to-from < 2 {
			from, to = end, end
		}
		for _, p := range []Stretch{{Rows: s.Rows[i:from], At: i}, {Rows: s.Rows[from:to], At: from, Folded: true}, {Rows: s.Rows[to:end], At: to}} {
			if len(p.Rows) > 0 {
				all = append(all, p)
			}
		}
		i = end
	}
	return all
}

// These are the maximum numbers of bytes of each text that Beside and Differ compare. A browser
// would take too long to display more.
const (
	maxBeside = 256 << 10
	maxDiffer = 1 << 20
)

// Beside aligns two texts with the given names word by word. Differences in case and punctuation are
// ignored.
func Beside(names, texts [2]string) Sides {
	s := Sides{Names: names, Rest: max(len(texts[0]), len(texts[1])) - maxBeside}
	s.Rows, s.Words = align.Texts(sidesOf(texts, maxBeside))
	s.Rest = max(s.Rest, 0)
	return s
}

func sidesOf(texts [2]string, limit int) (a, b align.Side) {
	var sides [2]align.Side
	for i, text := range texts {
		cut := len(text) > limit
		if cut {
			text = strings.ToValidUTF8(text[:limit], "")
		}
		tokens := new(dedup.Text)
		tokens.Locate()
		tokens.ReadString(text)
		sides[i] = align.Side{Text: text, Tokens: tokens, Cut: cut}
	}
	return sides[0], sides[1]
}

// Differ yields the differences between two texts, compared as in [Beside].
func Differ(texts [2]string) iter.Seq[align.Difference] {
	return align.Differences(sidesOf(texts, maxDiffer))
}
