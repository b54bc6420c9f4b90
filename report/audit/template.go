package audit

import (
	"slices"
	"strings"

	"skink/dedup/align"
	"skink/report"
)

// # Templates of similar pages
//
// Pages made from one template differ in a few places, such as the name of a city, a number or a
// date. A [Template] consists of two kinds of parts: words that all texts of a group share, in the
// order of the first text, and slots, which each text fills with its own words. To find them, the
// first text is compared with each of the others: the longest common subsequence of the two gives
// the matching words. Words that match in all comparisons are shared; the words between them form
// slots.

// A Template describes a group of similar texts: the words that all of them share, and the slots
// between these words. See [TemplateOf].
type Template struct {
	Parts []Piece
}

// A Piece of a template is either words that all texts share, or a slot where they differ.
type Piece struct {
	Text string   // shared words; "" for a slot
	Slot []string // the words of each text in the slot, in the order of the texts; "" if a text has none there
}

// templateTexts and templateWords limit the number of texts, and of words in each text, that
// [TemplateOf] compares. The longest common subsequence of two texts takes time and memory
// proportional to the product of their lengths. With these limits, it takes a millisecond or two. A
// report shows only the first few differences anyway.
const (
	templateTexts = 8
	templateWords = 600
)

// TemplateOf returns the template of some texts. It uses at most the first templateTexts texts, and
// at most the first templateWords words of each.
func TemplateOf(texts []string) Template {
	if len(texts) == 0 {
		return Template{}
	}
	var words [][]string
	for _, text := range texts[:min(len(texts), templateTexts)] {
		all := strings.Fields(text)
		words = append(words, all[:min(len(all), templateWords)])
	}
	first := words[0]
	matches := make([][]int, len(words)) // matches[k][i] is the index in text k of word i of the first text; -1 if there is no match
	common := make([]bool, len(first))
	for i := range common {
		common[i] = true
	}
	for k := range words {
		matches[k] = align.Common(first, words[k])
		for i, at := range matches[k] {
			common[i] = common[i] && at >= 0
		}
	}
	return assemble(words, matches, common)
}

// assemble builds the template. The argument words contains the words of each text. If all texts
// have word i of the first text, common[i] is true, and matches[k][i] is the index of that word in
// text k.
func assemble(words [][]string, matches [][]int, common []bool) (t Template) {
	ends := make([]int, len(words)) // for each text, the index of its first word that is not in a part yet
	slot := func(until func(text int) int) {
		var values []string
		for k := range words {
			values = append(values, strings.Join(words[k][ends[k]:until(k)], " "))
		}
		if slices.ContainsFunc(values, func(v string) bool { return v != "" }) {
			t.Parts = append(t.Parts, Piece{Slot: values})
		}
	}
	for i := 0; i < len(common); i++ {
		if !common[i] {
			continue
		}
		slot(func(text int) int { return matches[text][i] })
		run := words[0][i : i+1]
		for k := range words {
			ends[k] = matches[k][i] + 1
		}
		for i+1 < len(common) && common[i+1] && follows(matches, i) {
			i++
			run = words[0][i-len(run) : i+1]
			for k := range words {
				ends[k] = matches[k][i] + 1
			}
		}
		t.Parts = append(t.Parts, Piece{Text: strings.Join(run, " ")})
	}
	slot(func(text int) int { return len(words[text]) })
	return t
}

// follows reports whether words i and i+1 of the first text are adjacent in all texts.
func follows(matches [][]int, i int) bool {
	for _, m := range matches {
		if m[i+1] != m[i]+1 {
			return false
		}
	}
	return true
}

const (
	shownSlots  = 3  // maximum number of slots in the result of String
	shownValues = 4  // maximum number of values of a slot
	shownWords  = 2  // maximum number of common words before and after a slot
	shownValue  = 60 // maximum length of a value, in bytes
)

// String returns the first slots with some of their values and the words around them, such as
// "house in [Berlin | Munich | Bremen] within one … and 8 more places".
func (t Template) String() string {
	var shown []string
	slots := 0
	for i, p := range t.Parts {
		if p.Slot != nil {
			slots++
		}
		switch {
		case slots > shownSlots: // is only counted
		case p.Slot != nil:
			shown = append(shown, "["+values(p.Slot)+"]")
		case slots == shownSlots:
			shown = append(shown, head(p.Text))
		default:
			shown = append(shown, around(p.Text, i > 0, i+1 < len(t.Parts)))
		}
	}
	if left := slots - shownSlots; left > 0 {
		shown = append(shown, "and "+report.Counted(left, "more place"))
	}
	return strings.Join(shown, " ")
}

// values returns the distinct values of a slot, at most shownValues, separated by "|".
func values(slot []string) string {
	var all []string
	for _, v := range slot {
		switch {
		case v == "":
			v = "–"
		case len(v) > shownValue:
			v = head(v)
		}
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	if len(all) > shownValues {
		all = append(all[:shownValues], "…")
	}
	return strings.Join(all, " | ")
}

// head returns the first words of a text, followed by "…" if there are more.
func head(text string) string {
	words := strings.Fields(text)
	if len(words) <= shownWords+1 {
		return text
	}
	return strings.Join(words[:shownWords], " ") + " …"
}

// around shortens the common text between two slots to the words next to the slots. The arguments
// before and after report whether there is a slot before and after the text.
func around(text string, before, after bool) string {
	words := strings.Fields(text)
	switch {
	case before && after && len(words) > 2*shownWords+1:
		return strings.Join(words[:shownWords], " ") + " … " + strings.Join(words[len(words)-shownWords:], " ")
	case before && !after:
		return head(text)
	case !before && after && len(words) > shownWords+1:
		return "… " + strings.Join(words[len(words)-shownWords:], " ")
	}
	return text
}
