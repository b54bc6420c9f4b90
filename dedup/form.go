package dedup

import (
	"fmt"
	"slices"
	"strings"

	"skink/dedup/language"
)

// A Form selects the words that are removed or changed in canonical text. Forms can be combined:
// words are removed first, and then the remaining words are changed.
//
// The effect of a form depends on the language of the page. Lists of function words exist for eleven
// languages. These are Dutch, English, German and Swedish; French, Italian, Portuguese and Spanish;
// Polish, Russian and Ukrainian. Stemmers exist for these and a dozen others. In any other language
// words stay unchanged, and [Form.Without] reports this. Package language describes the rules.
type Form uint8

// Plain is the canonical text without further changes. The following measurement made it the
// default. The tool internal/tools/labelpairs generated 328 labeled pairs of English pages from
// testdata/site. On these pairs, skink tune gives each form the following F1 with its 95% interval.
// The measure is resemblance over shingles of ten words, with the threshold chosen by
// cross-validation.
//
//	plain          .990 (.975 to .996)
//	stem           .995 (.982 to .999)
//	nofunction     .943 (.915 to .962)
//
// The gain from stems may be due to chance, and stems make reading a text forty times as slow. Texts
// without adjectives (.985), and with plurals made singular (.990), were no better than plain.
// Leaving words out costs accuracy: shorter texts have fewer shingles, so each change breaks a
// larger share of them. With a threshold of .55 to .70, shingles of two to five words separate
// these pairs without an error; shingles of ten words do so at .50. The default of ten words and .8
// is stricter: it finds 72% of these duplicates and reports no false ones.
const Plain Form = 0

const (
	NoFunction Form = 1 << iota // prepositions, conjunctions, particles, articles and pronouns are dropped
	Stem                        // words are reduced to their stems by the Snowball algorithms, or in Polish and Ukrainian by their endings
)

var formNames = []string{Plain: "plain", NoFunction: "nofunction", Stem: "stem", NoFunction | Stem: "nofunction,stem"}

// ParseForm parses the name of a form, as used on the command line and in a store's settings:
// "plain", or names joined by commas.
func ParseForm(text string) (Form, error) {
	names := slices.Compact(slices.Sorted(strings.SplitSeq(text, ",")))
	if f := slices.Index(formNames, strings.Join(names, ",")); f >= 0 {
		return Form(f), nil
	}
	return Plain, fmt.Errorf("unknown form %q: must be plain, nofunction, stem or nofunction,stem", text)
}

func (f Form) String() string { return formNames[f] }

// Without returns the parts of f that have no rules for the language lang. These parts leave texts
// in lang unchanged. If there are rules for all of f, Without returns [Plain].
func (f Form) Without(lang string) Form {
	var missing Form
	if !language.HasFunctionWords(lang) {
		missing |= NoFunction
	}
	if !language.HasStem(lang) {
		missing |= Stem
	}
	return f & missing
}

// ReadForm reads text into t as [Text.Read] does, and then removes or changes words according to
// form. lang is the primary subtag of the text's language, such as "en".
func (t *Text) ReadForm(text []byte, form Form, lang string) {
	t.Read(text)
	if form == Plain {
		return
	}
	plain, ends, places := t.canon, t.ends, t.places
	t.canon, t.ends, t.tokens = t.other[:0], t.otherEnds[:0], t.tokens[:0]
	t.places = t.places[:0] // reuses the array while it is read, which is safe because writing never overtakes reading
	words := string(plain)  // one conversion for all words is cheaper than one for each
	start := 0
	for i, end := range ends {
		if word := form.of(words[start:end], lang); word != "" {
			begin := len(t.canon)
			t.canon = append(t.separated(), word...)
			t.end(begin)
			if t.locate {
				t.places = append(t.places, places[i])
			}
		}
		start = end + 1
	}
	t.other, t.otherEnds = plain, ends
}

// of applies f to a token's word. It returns "" if f removes the token.
func (f Form) of(word, lang string) string {
	if f&NoFunction != 0 {
		word = language.Elide(lang, word)
		if language.FunctionWord(lang, word) {
			return ""
		}
	}
	if f&Stem != 0 {
		word = language.Stem(lang, word)
	}
	return word
}
