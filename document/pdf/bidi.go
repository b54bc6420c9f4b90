package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/structs"
	"golang.org/x/text/unicode/bidi"
)

// # Right-to-left text
//
// PDFium gives some words of such a page from left to right and others from right to left, and
// ends lines within words. So the lines of these pages are read from the positions of their glyphs.
//
//   - Lines: what PDFium calls lines is one line if both have about the same height on the page.
//   - Spaces: a gap that is wide compared with the glyphs is a space. A mark follows the letter that
//     it is on.
//   - Order: the Unicode bidirectional algorithm, applied to the glyphs from left to right, finds
//     the runs of each direction. A line of both directions runs as most letters of its page do.
//   - Brackets: a bracket opens if a space is before it and not behind it.
//
// Known weaknesses: a number beside a Latin word may belong before or after it, because both look
// the same on paper. Rotated lines are not read.

// A glyph is a character at its position on the page.
type glyph struct {
	r      rune
	box    structs.FPDF_FS_RECTF
	origin float32 // where its advance begins, left of the box or in it
}

// isRTL reports whether a character belongs to a script that is written from right to left.
func isRTL(r rune) bool {
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL
}

func isLTR(r rune) bool {
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.L
}

// rightToLeft returns the text of a page with the given number of characters, in reading order.
func rightToLeft(p pdfium.Pdfium, page references.FPDF_TEXTPAGE, count int) (string, error) {
	lines := [][]glyph{nil}
	balance := 0 // number of characters from right to left, less those from left to right
	for i := range count {
		char, err := p.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: page, Index: i})
		if err != nil {
			return "", err
		}
		g := glyph{r: rune(char.Unicode)}
		switch {
		case g.r == '\n':
			lines = append(lines, nil)
			continue
		case isRTL(g.r):
			balance++
		case isLTR(g.r):
			balance--
		}
		if loose, err := p.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: page, Index: i}); err == nil {
			g.box = loose.Rect
		}
		if origin, err := p.FPDFText_GetCharOrigin(&requests.FPDFText_GetCharOrigin{TextPage: page, Index: i}); err == nil {
			g.origin = float32(origin.X)
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], g)
	}
	var text strings.Builder
	for _, line := range joined(lines) {
		text.WriteString(lineText(line, balance > 0) + "\n")
	}
	return text.String(), nil
}

// joined joins the lines that are beside each other, if one of them has text from right to left.
func joined(lines [][]glyph) (all [][]glyph) {
	for _, line := range lines {
		if last := len(all) - 1; last >= 0 && (hasRTL(line) || hasRTL(all[last])) && beside(all[last], line) {
			all[last] = append(all[last], line...)
		} else {
			all = append(all, line)
		}
	}
	return all
}

func hasRTL(line []glyph) bool {
	return slices.ContainsFunc(line, func(g glyph) bool { return isRTL(g.r) })
}

// beside reports whether two lines share at least half of the height of one of them.
func beside(a, b []glyph) bool {
	aBottom, aTop := height(a)
	bBottom, bTop := height(b)
	return min(aTop, bTop)-max(aBottom, bBottom) > min(aTop-aBottom, bTop-bBottom)/2
}

func height(line []glyph) (bottom, top float32) {
	bottom, top = math.MaxFloat32, -math.MaxFloat32
	for _, g := range line {
		if g.box.Top > g.box.Bottom {
			bottom, top = min(bottom, g.box.Bottom), max(top, g.box.Top)
		}
	}
	return bottom, top
}

func lineText(line []glyph, rtl bool) string {
	if !hasRTL(line) {
		var text strings.Builder
		for _, g := range line {
			text.WriteRune(g.r)
		}
		return text.String()
	}
	visual := leftToRight(line)
	return brackets(logical(visual, rtl || !slices.ContainsFunc(visual, isLTR)))
}

// gap is the least width of a space, compared with the middle width of the glyphs of its line. Gaps
// inside words are below .3 in the fonts of the test, spaces above .4.
const gap = .35

// leftToRight returns the characters of a line in the order of their positions, with spaces.
func leftToRight(line []glyph) (all []rune) {
	line = slices.DeleteFunc(line, func(g glyph) bool { return unicode.IsSpace(g.r) || unicode.IsControl(g.r) })
	var letters, marks []glyph
	var widths []float32
	for _, g := range line {
		if unicode.Is(unicode.Mn, g.r) {
			marks = append(marks, g)
		} else {
			letters, widths = append(letters, g), append(widths, g.box.Right-g.box.Left)
		}
	}
	slices.SortStableFunc(letters, func(a, b glyph) int { return cmp.Compare(a.center(), b.center()) })
	slices.Sort(widths)
	over := map[int][]rune{}
	ends := make([]float32, len(letters))
	for i, g := range letters {
		ends[i] = g.box.Right
	}
	for _, g := range marks {
		i := nearest(letters, g)
		over[i], ends[i] = append(over[i], g.r), max(ends[i], g.box.Right)
	}
	for i, g := range letters {
		if i > 0 && min(g.box.Left, g.origin)-ends[i-1] > widths[len(widths)/2]*gap {
			all = append(all, ' ')
		}
		all = append(append(all, g.r), over[i]...)
	}
	return all
}

func (g glyph) center() float32 { return (g.box.Left + g.box.Right) / 2 }

func abs(x float32) float32 { return max(x, -x) }

func nearest(letters []glyph, mark glyph) (at int) {
	for i, g := range letters {
		if unicode.IsLetter(g.r) && abs(g.center()-mark.center()) < abs(letters[at].center()-mark.center()) {
			at = i
		}
	}
	return at
}

// logical returns the text of a line in reading order.
func logical(visual []rune, rtl bool) string {
	base := "\u200e" // a mark of the direction of the line
	switch {
	case rtl && slices.ContainsFunc(visual, func(r rune) bool { return unicode.Is(unicode.Arabic, r) }):
		base = "\u061c" // numbers follow other rules after Arabic letters than after Hebrew ones
	case rtl:
		base = "\u200f"
	}
	var p bidi.Paragraph
	p.SetString(base + string(visual))
	order, err := p.Order()
	if err != nil {
		return string(visual)
	}
	runs := make([]string, order.NumRuns())
	for i := range runs {
		run := order.Run(i)
		runs[i] = strings.TrimPrefix(run.String(), base)
		if run.Direction() == bidi.RightToLeft {
			runs[i] = reversed(runs[i])
		}
	}
	if rtl {
		slices.Reverse(runs)
		return strings.Join(runs, "")
	}
	for i := 1; i < len(runs); i += 2 { // the first run is from left to right, because of base
		end := i + 1
		for end+1 < len(runs) && !strings.ContainsFunc(runs[end], isLTR) {
			end += 2 // a number
		}
		slices.Reverse(runs[i:end])
		i = end - 1
	}
	return strings.Join(runs, "")
}

// reversed reverses the letters of a run. Marks stay behind their letters.
func reversed(text string) string {
	var all []rune
	marks := 0
	for _, r := range text {
		marks++
		if !unicode.Is(unicode.Mn, r) || marks > len(all) {
			marks = 0
		}
		all = slices.Insert(all, marks, r)
	}
	return string(all)
}

// opening and closing are the brackets that are drawn as their counterparts from right to left.
var opening, closing = []rune("([{«‹"), []rune(")]}»›")

// brackets turns the brackets of a line around that have the wrong neighbours, because PDFium gives
// some as they are drawn and others as they are meant.
func brackets(line string) string {
	text := []rune(line)
	for i, r := range text {
		kind := max(slices.Index(opening, r), slices.Index(closing, r))
		if kind < 0 {
			continue
		}
		before, after := distance(text, i-1), distance(text, i+1)
		if before > after {
			text[i] = opening[kind]
		} else if before < after {
			text[i] = closing[kind]
		}
	}
	return string(text)
}

// distance says how clearly a character is outside of the brackets beside it.
func distance(text []rune, i int) int {
	switch {
	case i < 0 || i >= len(text) || unicode.IsSpace(text[i]):
		return 2
	case unicode.IsPunct(text[i]):
		return 1
	}
	return 0
}
