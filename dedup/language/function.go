package language

import "sync"

// Word forms. The functions below look at canonical text one word at a time.
//
// [FunctionWord] recognizes articles, pronouns, prepositions and other function words of a
// language. It is a pure function of a language and one lower-cased token, with ' as its apostrophe.
// The language is a code as [Primary] or [Detect] returns it. In an unknown language, no word is a
// function word, and every word is returned unchanged.
//
// The functions look at a word without its neighbors, so they have to guess when a word has two
// uses. "that" is a pronoun or a conjunction, and is removed in either case. This does not harm a
// comparison of two texts, because both are treated the same way. But a text without its function
// words also loses its negations.
//
// The data is in files beside this one. The first lines of each file name its source and license.

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
// A word joined to its article by elision, such as l'une, is not a function word.
func FunctionWord(lang, word string) bool { return functionWords()[lang][word] }

// functionWords returns the function words by language.
var functionWords = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, lang := range functionLanguages {
		all[lang] = listed("function/" + lang + ".txt")
	}
	return all
})
