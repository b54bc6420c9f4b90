package language

import (
	"embed"
	"strings"
	"sync"
)

// Each file lists function words of one language: those in the words folder are for [Detect], those in
// the function folder are for [FunctionWord]. Lines that begin with # are comments. They name the source
// of the words.
//
//go:embed words/*.txt function/*.txt
var files embed.FS

// languages lists the languages distinguished by function words: those in Latin script, then those
// in Cyrillic.
var languages = [...]string{
	"en", "es", "de", "fr", "it", "pt", "nl", "pl", "sv", "da", "no", "fi", "cs", "ro", "tr", "hu", "id", "ca",
	"ru", "uk", "bg", "be", "sr",
}

// Bit i of a langSet represents languages[i].
type langSet uint64

const (
	latin    langSet = 1<<18 - 1
	cyrillic langSet = 1<<23 - 1 - latin
)

// longest is the length in bytes of the longest word that is looked up. No listed word is longer.
const longest = 24

// listed returns the words of a file.
func listed(file string) map[string]bool {
	text, err := files.ReadFile(file)
	if err != nil {
		panic(err) // embedded files can always be read
	}
	words := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			words[word] = true
		}
	}
	return words
}

// A wordIndex is a hash table that maps words to the languages that use them. A free slot has an
// empty set of languages.
type wordIndex [1 << 12]struct {
	key  uint64
	word string
	in   langSet
}

var index = sync.OnceValue(func() *wordIndex {
	all := new(wordIndex)
	for i, lang := range languages {
		for word := range listed("words/" + lang + ".txt") {
			key := keyOf([]byte(word))
			slot := all.slot(key, word)
			all[slot].key, all[slot].word = key, word
			all[slot].in |= 1 << i
		}
	}
	return all
})

func keyOf(word []byte) (key uint64) {
	for _, c := range word {
		key = key<<8 | uint64(c)
	}
	return key
}

// find returns the languages that use a word. key is the key of the lower-cased word. The word
// itself may contain ASCII capital letters.
func (x *wordIndex) find(key uint64, word string) langSet { return x[x.slot(key, word)].in }

// slot returns the slot of a word, or the free slot where it belongs. The key alone identifies a
// word of up to eight bytes.
func (x *wordIndex) slot(key uint64, word string) uint64 {
	for slot := key * 0x9E3779B97F4A7C15 >> 52; ; slot = (slot + 1) % uint64(len(x)) {
		if e := &x[slot]; e.in == 0 || e.key == key && len(e.word) == len(word) && (len(word) <= 8 || strings.EqualFold(e.word, word)) {
			return slot
		}
	}
}
