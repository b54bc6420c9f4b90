package language

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// How a plural of the other languages is undone.
//
// By list and by ending, both from plurals/*.txt: "ojos=ojo" is a word and its
// singular, "-iones=ión" an ending and what stands in its place, "-sis" an ending
// that is left alone, as is "lunes". A word of the list wins over an ending, and
// the longest ending decides.
//
// French, Portuguese and Spanish form nearly every plural with -s, so there the
// rule reaches most nouns, and the verbs and adjectives that end alike. In German,
// Dutch, Swedish and Italian a plural does not tell its singular ("Wege", "Liege";
// "libri", "cani"), so only the endings of suffixes do (-ungen, -heden, -ningar,
// -zioni) and the commonest nouns. Polish, Russian and Ukrainian decline: there the
// forms of the plural, in whatever case, become the nominative of the singular, for
// the suffixes that tell it and the commonest nouns; so does a case of the singular
// that looks like one of them, any other stays. What none of these reaches stays.
//
// Against the analysers of Apertium, over the nouns of Debian's spelling lists that
// are plural and nothing else, the share made what the analyser says, left alone,
// and made something else (mostly the feminine, which it files under the masculine):
// pt 94, 1, 5 %; fr 93, 3, 4 %; nl 56, 42, 2 %; it 42, 54, 3 %; pl 33, 66, 1 %;
// uk 29, 71, 0 %; sv 18, 82, 0 %. Of singulars 0 to 2 % are changed. German,
// Russian and Spanish (whose list has no plurals) are not measured. The rules were
// tuned on a look at these errors; nothing of the data is in them.

// plurals are those of one language.
type plurals struct {
	words   map[string]string
	endings map[string]string // by ending; one that is its own singular is left alone
	longest int               // ending, in bytes
}

// leastSingular is how many letters a singular must have for an ending to make it.
const leastSingular = 3

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

// of is the singular of a lower-cased word: what the rules make of it, once and
// again, until they leave it alone. Where they do not, the word stays.
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
			if utf8.RuneCountInString(word[:i])+utf8.RuneCountInString(one) < leastSingular {
				return word
			}
			return word[:i] + one
		}
	}
	return word
}
