package language

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// stemmers maps languages to Snowball algorithms. The Norwegian one is for Bokmål, so nn has none.
var stemmers = map[string]func(*snowballstem.Env) bool{
	"ar": arabic.Stem,
	"da": danish.Stem,
	"de": german.Stem,
	"en": english.Stem,
	"es": spanish.Stem,
	"fi": finnish.Stem,
	"fr": french.Stem,
	"ga": irish.Stem,
	"hu": hungarian.Stem,
	"it": italian.Stem,
	"nb": norwegian.Stem,
	"nl": dutch.Stem,
	"no": norwegian.Stem,
	"pt": portuguese.Stem,
	"ro": romanian.Stem,
	"ru": russian.Stem,
	"sv": swedish.Stem,
	"ta": tamil.Stem,
	"tr": turkish.Stem,
}

// longestStem is the length in bytes of the longest word that is stemmed. A stemmer copies the word
// for each replacement, so a one-megabyte word would take minutes. No dictionary word is that long.
const longestStem = 128

var stemEnvs = sync.Pool{New: func() any { return snowballstem.NewEnv("") }}

// Stem removes a word's inflection, and often its derivation, by the Snowball algorithm of the
// language: "running" and "runs" become "run". The result need not be a word, and different words
// may have the same stem. Stemming a stem may shorten it again. Polish and Ukrainian have light
// stemmers that were written for this project; see stem_endings.go. A word longer than 128 bytes,
// or in a language without a stemmer ([HasStem]), is returned unchanged.
func Stem(lang, word string) string {
	if endings := lightEndings[lang]; endings != nil {
		return stemByEndings(word, endings)
	}
	stem := stemmers[lang]
	if stem == nil || len(word) > longestStem || !utf8.ValidString(word) {
		return word
	}
	if lang == "ru" && strings.Contains(word, "ё") {
		word = strings.ReplaceAll(word, "ё", "е") // Snowball's Russian algorithm expects е in place of ё
	}
	env := stemEnvs.Get().(*snowballstem.Env)
	env.SetCurrent(word)
	stem(env)
	result := env.Current()
	env.SetCurrent("") // otherwise the pool would keep the page's text in memory, because word is part of it
	stemEnvs.Put(env)
	if result == "" {
		return word // a token must not be empty
	}
	return result
}
