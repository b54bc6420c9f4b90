package passage

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"skink/dedup/language"
)

// A word is a run of characters without white space between them. In scripts that do not separate
// words, such as Chinese, each character is a word, together with the punctuation beside it. A run
// of more than maxWord bytes counts as several words, so a limit on words also limits bytes.
type word struct{ block, start, end int }

const maxWord = 100 // maximum length of a word in bytes

func appendWords(words []word, block int, text string) []word {
	var open, alone, letters bool // about the last word: whether more characters may follow, whether it is a character that stands alone, and whether it has a letter or digit
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			open = false
			i += n
			continue
		}
		single := language.StandsAlone(r)
		letter := single || unicode.IsLetter(r) || unicode.IsDigit(r)
		switch {
		case !open, letters && letter && (single || alone), i+n-words[len(words)-1].start > maxWord:
			words = append(words, word{block: block, start: i})
			open, alone, letters = true, single, letter
		default:
			alone, letters = alone || single, letters || letter
		}
		i += n
		words[len(words)-1].end = i
	}
	return words
}

// endsSentence reports whether a word ends with a period or a similar mark, perhaps followed by a
// closing quotation mark or bracket.
func endsSentence(word string) bool {
	word = strings.TrimRightFunc(word, func(r rune) bool {
		return r == '"' || r == '\'' || unicode.In(r, unicode.Pe, unicode.Pf)
	})
	r, _ := utf8.DecodeLastRuneInString(word)
	return strings.ContainsRune(".!?…。！？।॥؟", r)
}

func hashOf(word string) uint64 { return xxh3.HashString(word) }
