package language

import (
	"strings"
	"sync"
)

// # Adjectives by list and suffix
//
// Adjectives in the other languages are recognized by list and by suffix, both from
// adjectives/*.txt. A section of such a file begins with the endings of one declension, such as "-o
// -a -os -as" in Spanish. Then it lists lemmas that take them ("nuevo") and suffixes that make
// adjectives ("-oso"). So "nuevas" is an adjective because "nuevo" is listed, and "famosas" because
// "famoso" ends in -oso. The last section lists lemmas with such a suffix that are not adjectives
// ("esposo").
//
// A listed lemma covers all its forms. Other adjectives are not recognized: participles, most
// demonyms, and adjectives that only a dictionary could identify.

const notAdjectives = "no adjectives"

type declined struct {
	forms      map[string]bool   // all forms of the listed lemmas
	suffixes   map[string]ending // each key is a suffix with one of its endings, such as "osa" for -oso
	exceptions map[string]bool   // lemmas with such a suffix that are not adjectives
	longest    int               // length of the longest key of suffixes, in bytes
}

// An ending describes the adjectives that end in form: in their lemmas, lemma takes the place of
// form.
type ending struct {
	form, lemma string
	never       bool // words with this ending are never adjectives
}

// minStem is the minimum number of letters before the suffix of a word.
const minStem = 2

var declensions = map[string]func() declined{
	"de": onceDeclined("de"), "es": onceDeclined("es"), "fr": onceDeclined("fr"), "it": onceDeclined("it"), "nl": onceDeclined("nl"),
	"pl": onceDeclined("pl"), "pt": onceDeclined("pt"), "sv": onceDeclined("sv"), "uk": onceDeclined("uk"),
}

func onceDeclined(lang string) func() declined {
	return sync.OnceValue(func() declined { return readDeclined("adjectives/" + lang + ".txt") })
}

func readDeclined(name string) declined {
	d := declined{forms: map[string]bool{}, suffixes: map[string]ending{}}
	for _, s := range readForms(name) {
		if s.title == notAdjectives {
			d.except(s.words)
			continue
		}
		endings := strings.Fields(s.title)
		for i := range endings {
			endings[i] = strings.TrimPrefix(endings[i], "-")
		}
		for _, word := range s.words {
			d.add(word, endings)
		}
	}
	return d
}

// add adds all forms of a lemma, or all forms of a suffix if word begins with a hyphen. endings
// lists the endings of the declension, and word must end in the first of them.
func (d *declined) add(word string, endings []string) {
	word, isSuffix := strings.CutPrefix(word, "-")
	stem := strings.TrimSuffix(word, endings[0])
	for _, e := range endings {
		form := stem + e
		if !isSuffix {
			d.forms[form] = true
			continue
		}
		if _, ok := d.suffixes[form]; !ok {
			d.suffixes[form] = ending{form: e, lemma: endings[0]}
			d.longest = max(d.longest, len(form))
		}
	}
}

// except adds lemmas that are not adjectives. An element that begins with a hyphen is an ending: no
// word with that ending is an adjective.
func (d *declined) except(words []string) {
	d.exceptions = setOf(words)
	for _, word := range words {
		if suffix, ok := strings.CutPrefix(word, "-"); ok {
			d.suffixes[suffix] = ending{never: true}
			d.longest = max(d.longest, len(suffix))
		}
	}
}

// is reports whether a lower-cased word is an adjective. The longest matching suffix decides.
func (d *declined) is(word string) bool {
	if d.forms[word] {
		return true
	}
	letters := 0
	for i := range word {
		if letters++; letters <= minStem || len(word)-i > d.longest {
			continue
		}
		if e, ok := d.suffixes[word[i:]]; ok {
			return !e.never && !d.exceptions[strings.TrimSuffix(word, e.form)+e.lemma]
		}
	}
	return false
}
