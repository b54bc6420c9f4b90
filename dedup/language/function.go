package language

import (
	"slices"
	"strings"
	"sync"
)

// functionLanguages lists the languages that have a file in the function folder.
var functionLanguages = [...]string{"de", "en", "es", "fr", "it", "nl", "pl", "pt", "ru", "sv", "uk"}

// FunctionWord reports whether a word belongs to a closed class of the language: article, pronoun
// or determiner, preposition, conjunction, particle. The languages are those in functionLanguages.
//
// Adverbs are listed only if they introduce clauses as conjunctions do (when, где, comment). The
// lists omit auxiliary verbs and their contractions (don't, it's). They also omit numerals,
// interjections, and words of quantity (many, viel, много). A word that belongs to two classes is
// listed if it often belongs to a closed class, like Dutch zijn (his, to be) and German sein.
// Otherwise it is not listed, like Swedish var, which usually means "was".
//
// A word joined to its article by elision is not a function word, even if both parts are. Split it
// with [Elide] first.
func FunctionWord(lang, word string) bool {
	if len(lang) != 2 || lang[0]-'a' >= 26 || lang[1]-'a' >= 26 { // a byte below 'a' wraps around to a large number
		return false
	}
	return functionWords()[lang[0]-'a'][lang[1]-'a'][word]
}

// functionWords returns the function words, indexed by the two letters of the language code. It
// uses arrays instead of a map of languages: every word of every page is looked up, and a second
// map lookup would double the cost.
var functionWords = sync.OnceValue(func() *[26][26]map[string]bool {
	var all [26][26]map[string]bool
	for _, lang := range functionLanguages {
		all[lang[0]-'a'][lang[1]-'a'] = listed("function/" + lang + ".txt")
	}
	return &all
})

// elided lists, by language, what elision leaves of a function word before an apostrophe, such as
// "l" in "l'homme". Each language has a fixed set of such words.
var elided = map[string][]string{
	"fr": {"l", "d", "qu", "j", "n", "s", "c", "m", "t", "jusqu", "lorsqu", "puisqu", "quoiqu"},
	"it": {
		"l", "un", "d", "dell", "all", "dall", "nell", "sull", "coll", "c", "n", "m", "t", "s", "v", "gl",
		"agl", "dagl", "degl", "negl", "sugl", "quest", "quell", "anch", "com", "dov", "senz",
	},
	"ca": {"l", "d", "m", "n", "s", "t"},
}

// Elide removes an article, preposition, pronoun or conjunction joined to the front of a word by
// elision: "l'homme" becomes "homme", "dell'arte" becomes "arte". It supports fr, it and ca. Other
// words with an apostrophe stay unchanged: "aujourd'hui", "quelqu'un", "o'neill".
func Elide(lang, word string) string {
	prefixes := elided[lang]
	if prefixes == nil {
		return word
	}
	before, after, ok := strings.Cut(word, "'")
	if !ok || after == "" || after == "s" { // "c's" is an English plural, not "ce s"
		return word
	}
	if slices.Contains(prefixes, before) {
		return after
	}
	return word
}
