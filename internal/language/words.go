package language

import (
	"embed"
	"io/fs"
	"strings"
	"sync"
)

// Each file in the folder words holds the function words of one language. A line that begins with #
// is a comment, such as the source of the words.
//
//go:embed words/*.txt
var files embed.FS

// languages lists the languages that are distinguished by function words: first those in Latin
// letters, then those in Cyrillic letters.
var languages = []string{
	"en", "es", "de", "fr", "it", "pt", "nl", "pl", "sv", "da", "no", "fi", "cs", "ro", "tr", "hu", "id", "ca",
	"ru", "uk", "bg", "be", "sr",
}

// langSet is a set of languages. Bit i stands for languages[i].
type langSet uint64

const (
	latin    langSet = 1<<18 - 1
	cyrillic langSet = 1<<23 - 1 - latin
)

// longest is the length in bytes of the longest word that is looked up. No word in the lists is
// longer.
const longest = 24

// lists reads the embedded files once.
var lists = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	names, err := fs.Glob(files, "words/*.txt")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // an embedded file can always be read
		}
		lang := strings.TrimSuffix(strings.TrimPrefix(name, "words/"), ".txt")
		all[lang] = parseList(string(text))
	}
	return all
})

// parseList returns the words of a list. White space separates words, and a line that begins with #
// is a comment.
func parseList(text string) map[string]bool {
	words := map[string]bool{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			words[word] = true
		}
	}
	return words
}

// index maps each word to the languages that use it.
var index = sync.OnceValue(func() map[string]langSet {
	all := map[string]langSet{}
	for i, lang := range languages {
		for word := range lists()[lang] {
			all[word] |= 1 << i
		}
	}
	return all
})
