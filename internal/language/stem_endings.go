package language

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Stems of Polish and Ukrainian, for which Snowball has no algorithm that this
// project could use: light stemmers of its own. A light stemmer takes off the
// longest ending of the declension of nouns and adjectives, and leaves derivation,
// conjugation and the changes inside a word alone ("wieś" and "wsi" stay two). It
// is a heuristic: what merely ends like an inflected word is cut as well, and two
// words may meet.

// Endings of nouns and adjectives, from common grammar.
var lightEndings = map[string][]string{
	"pl": byLength(`iami iach iego iemu iej iom iów ami ach ego emu imi ymi owi owie ich ych ia ie ią ię io iu om ów em im ym ej ą ę a e i o u y`),
	"uk": byLength(`ями ами ові еві єві ого ому ими іми ях ах ям ам ів їв ей ой ою ею єю ій їй ої ий их им ім іх ьою ьої ем єм ом а я о е є у ю и і ї й ь`),
}

// lightStem is how many letters a light stemmer leaves at least.
const lightStem = 3

func byLength(list string) []string {
	words := strings.Fields(list)
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	return words
}

func stemByEndings(word string, endings []string) string {
	for _, e := range endings {
		if stem, ok := strings.CutSuffix(word, e); ok && utf8.RuneCountInString(stem) >= lightStem {
			return stem
		}
	}
	return word
}
