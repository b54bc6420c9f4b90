package dedup

import (
	"fmt"
	"slices"

	"skink/dedup/language"
)

// A Form selects the words of canonical text that are compared.
type Form uint8

// Plain is the canonical text with all its words. The following measurement made it the
// default. The tool internal/tools/labelpairs generated 328 labeled pairs of English pages from
// testdata/site. On these pairs, skink tune gives each form the following F1 with its 95% interval.
// The measure is resemblance over shingles of ten words, with the threshold chosen by
// cross-validation.
//
//	plain          .990 (.975 to .996)
//	nofunction     .943 (.915 to .962)
//
// Texts without adjectives (.985), with stems (.995), and with plurals made singular (.990) were no better than plain.
// Leaving words out costs accuracy: shorter texts have fewer shingles, so each change breaks a
// larger share of them. With a threshold of .55 to .70, shingles of two to five words separate
// these pairs without an error; shingles of ten words do so at .50. The default of ten words and .8
// is stricter: it finds 72% of these duplicates and reports no false ones.
const Plain Form = 0

// NoFunction drops prepositions, conjunctions, particles, articles and pronouns. Lists of these words exist for eleven
// languages. These are Dutch, English, German and Swedish; French, Italian, Portuguese and Spanish; Polish, Russian and
// Ukrainian. In any other language no word is dropped.
const NoFunction Form = 1

var formNames = []string{Plain: "plain", NoFunction: "nofunction"}

// ParseForm parses the name of a form, as used on the command line and in a store's settings.
func ParseForm(text string) (Form, error) {
	if f := slices.Index(formNames, text); f >= 0 {
		return Form(f), nil
	}
	return Plain, fmt.Errorf("unknown form %q: must be plain or nofunction", text)
}

func (f Form) String() string { return formNames[f] }

// ReadForm reads text into t as [Text.Read] does, and then removes words according to form. lang is the primary subtag of
// the text's language, such as "en".
func (t *Text) ReadForm(text []byte, form Form, lang string) {
	t.Read(text)
	if form == Plain {
		return
	}
	words, ends, places := string(t.canon), t.ends, t.places
	t.canon, t.ends, t.tokens, t.places = t.canon[:0], t.ends[:0], t.tokens[:0], t.places[:0] // writing never overtakes reading
	start := 0
	for i, end := range ends {
		if word := language.Elide(lang, words[start:end]); !language.FunctionWord(lang, word) {
			begin := len(t.canon)
			t.canon = append(t.separated(), word...)
			t.end(begin)
			if t.locate {
				t.places = append(t.places, places[i])
			}
		}
		start = end + 1
	}
}
