package passage

import (
	"iter"
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
		if open && letters && !alone && plain(text[i]) && i < words[len(words)-1].start+maxWord { // most characters
			i++
			words[len(words)-1].end = i
			continue
		}
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
	if plain(word[len(word)-1]) {
		return false
	}
	word = strings.TrimRightFunc(word, func(r rune) bool {
		return r == '"' || r == '\'' || unicode.In(r, unicode.Pe, unicode.Pf)
	})
	r, _ := utf8.DecodeLastRuneInString(word)
	return strings.ContainsRune(".!?…。！？।॥؟", r)
}

// plain reports whether a byte is a letter of ASCII.
func plain(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// Sentences yields the beginnings of the sentences in a text, each but the first after a word that ends
// a sentence. White space before a sentence is not part of it.
func Sentences(text string) iter.Seq[int] {
	return func(yield func(int) bool) {
		words := appendWords(make([]word, 0, len(text)/5), 0, text)
		for i, w := range words {
			if (i == 0 || endsSentence(text[words[i-1].start:words[i-1].end])) && !yield(w.start) {
				return
			}
		}
	}
}

func hashOf(word string) uint64 { return xxh3.HashString(word) }
