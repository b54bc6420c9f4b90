package language

import (
	"strings"
	"sync"
)

// functionLanguages have a file in function/.
var functionLanguages = [...]string{"de", "en", "es", "fr", "it", "nl", "pl", "pt", "ru", "sv", "uk"}

// FunctionWord says whether a word belongs to a closed class of the language: article, pronoun or
// determiner, preposition, conjunction, particle. The languages are de, en, es, fr, it, nl, pl, pt,
// ru, sv and uk.
//
// The line: adverbs are in only if they introduce clauses as conjunctions do (when, где, comment).
// Auxiliary verbs are out, and so are contractions that hold one (don't, it's), numerals,
// quantities (many, viel, много) and interjections. A word of two classes is in if the closed one
// is a frequent use of it (Dutch zijn: his, to be; German sein), else out (Spanish sobre is in,
// Swedish var, which is mostly "was", and English like are out).
//
// A word that elision has joined to its article is no function word, though both may be: take it
// apart with [Elide] first.
func FunctionWord(lang, word string) bool {
	if len(lang) != 2 || lang[0]-'a' >= 26 || lang[1]-'a' >= 26 { // below a wraps around
		return false
	}
	return functionWords()[lang[0]-'a'][lang[1]-'a'][word]
}

// functionWords holds each language's words at the two letters of its code: every word of a page is
// looked up, and a map of languages would cost as much again as the map of words.
var functionWords = sync.OnceValue(func() *[26][26]map[string]bool {
	var all [26][26]map[string]bool
	for _, lang := range functionLanguages {
		words := map[string]bool{}
		for _, s := range readForms("function/" + lang + ".txt") {
			for _, word := range s.words {
				words[word] = true
			}
		}
		all[lang[0]-'a'][lang[1]-'a'] = words
	}
	return &all
})

// elided holds what stands before the apostrophe when a function word is joined to the next word by
// elision. They are closed lists of each grammar.
var elided = map[string][]string{
	"fr": {"l", "d", "qu", "j", "n", "s", "c", "m", "t", "jusqu", "lorsqu", "puisqu", "quoiqu"},
	"it": {
		"l", "un", "d", "dell", "all", "dall", "nell", "sull", "coll", "c", "n", "m", "t", "s", "v", "gl",
		"agl", "dagl", "degl", "negl", "sugl", "quest", "quell", "anch", "com", "dov", "senz",
	},
	"ca": {"l", "d", "m", "n", "s", "t"},
}

// Elide takes off an article, preposition, pronoun or conjunction that elision has joined to the
// front of a word: "l'homme" is "homme", "dell'arte" is "arte". It knows fr, it and ca. What merely
// contains an apostrophe stays: "aujourd'hui", "quelqu'un", "o'neill".
func Elide(lang, word string) string {
	prefixes := elided[lang]
	if prefixes == nil {
		return word
	}
	before, after, ok := strings.Cut(word, "'")
	if !ok || after == "" || after == "s" { // "c's" is not "ce s"
		return word
	}
	for _, prefix := range prefixes {
		if before == prefix {
			return after
		}
	}
	return word
}
