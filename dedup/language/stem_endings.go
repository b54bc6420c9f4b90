package language

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Polish and Ukrainian have light stemmers that were written for this project, because Snowball has
// no usable algorithm for them. A light stemmer removes the longest declension ending of nouns and
// adjectives. It leaves derivation, conjugation and changes inside a word alone ("wieś" and "wsi"
// stay two words). It is a heuristic: it also cuts words that only look inflected, and two words
// may get the same stem.

// lightEndings lists the endings of nouns and adjectives by language. The list is based on general
// knowledge of grammar.
var lightEndings = map[string][]string{
	"pl": byLength(`iami iach iego iemu iej iom iów ami ach ego emu imi ymi owi owie ich ych ia ie ią ię io iu om ów em im ym ej ą ę a e i o u y`),
	"uk": byLength(`ями ами ові еві єві ого ому ими іми ях ах ям ам ів їв ей ой ою ею єю ій їй ої ий их им ім іх ьою ьої ем єм ом а я о е є у ю и і ї й ь`),
}

// lightStem is the minimum number of letters that must remain after an ending is removed.
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
