package language

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// # Plurals by list and ending
//
// Plurals in the other languages are turned into singulars by list and by ending, both from
// plurals/*.txt. "ojos=ojo" is a word and its singular. "-iones=ión" is an ending and its
// replacement. "-sis" is an ending that is kept, and "lunes" a word that is kept. A listed word
// wins over an ending, and the longest ending decides.
//
// French, Portuguese and Spanish form nearly every plural with -s. For these, the rules cover most
// nouns, and also verbs and adjectives that end the same way. In German, Dutch, Swedish and Italian
// the singular cannot be derived from the plural ("Wege", "Liege"; "libri", "cani"). So the rules
// cover only the endings of suffixes (-ungen, -heden, -ningar, -zioni) and the most common nouns.
// Polish, Russian and Ukrainian decline their nouns. For these, plural forms of any case become the
// nominative singular, for the most common nouns and for suffixes that identify it. A singular form
// that looks like one of these plural forms is changed too. All other words stay unchanged.
//
// The rules were tested against Apertium's analyzers, on those words of Debian's spelling lists
// that can only be plural nouns. The columns are the share with the same result as the analyzer,
// the share left unchanged, and the share with a different result. Most of the different results
// are feminine words, which the analyzer lists under the masculine.
//
//	pt  94   1   5%
//	fr  93   3   4%
//	nl  56  42   2%
//	it  42  54   3%
//	pl  33  66   1%
//	uk  29  71   0%
//	sv  18  82   0%
//
// The rules change 0 to 2% of singulars. German, Russian and Spanish (whose list has no plurals)
// have not been measured. The rules were tuned by looking at these errors, but no data was copied
// into them.

type plurals struct {
	words   map[string]string
	endings map[string]string // ending → replacement; an ending that maps to itself is kept
	longest int               // length of the longest ending, in bytes
}

// minSingular is the minimum number of letters in a singular that an ending rule forms.
const minSingular = 3

var pluralRules = map[string]func() plurals{
	"de": oncePlurals("de"), "es": oncePlurals("es"), "fr": oncePlurals("fr"), "it": oncePlurals("it"), "nl": oncePlurals("nl"),
	"pl": oncePlurals("pl"), "pt": oncePlurals("pt"), "ru": oncePlurals("ru"), "sv": oncePlurals("sv"), "uk": oncePlurals("uk"),
}

func oncePlurals(lang string) func() plurals {
	return sync.OnceValue(func() plurals { return readPlurals("plurals/" + lang + ".txt") })
}

func readPlurals(name string) plurals {
	p := plurals{words: map[string]string{}, endings: map[string]string{}}
	for _, s := range readForms(name) {
		for _, entry := range s.words {
			plural, singular, ok := strings.Cut(entry, "=")
			end, isEnding := strings.CutPrefix(plural, "-")
			if !ok {
				singular = end
			}
			if !isEnding {
				p.words[plural] = singular
				continue
			}
			p.endings[end] = singular
			p.longest = max(p.longest, len(end))
		}
	}
	return p
}

// of returns the singular of a lower-cased word. It applies the rules until they no longer change
// the word. If they still do after three rounds, it returns the original word.
func (p *plurals) of(word string) string {
	one := word
	for range 3 {
		next := p.step(one)
		if next == one {
			return one
		}
		one = next
	}
	return word
}

func (p *plurals) step(word string) string {
	if one, ok := p.words[word]; ok {
		return one
	}
	for i := range word {
		if i == 0 || len(word)-i > p.longest {
			continue
		}
		if one, ok := p.endings[word[i:]]; ok {
			if utf8.RuneCountInString(word[:i])+utf8.RuneCountInString(one) < minSingular {
				return word
			}
			return word[:i] + one
		}
	}
	return word
}
