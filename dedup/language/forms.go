package language

import (
	"embed"
	"slices"
	"strings"
)

// Word forms. The functions below remove inflections and whole classes of words from canonical
// text, one word at a time.
//
// [FunctionWord] recognizes articles, pronouns, prepositions and other function words of a
// language. [Stem] removes any inflection, and [Elide] removes an article joined to the word by
// elision. All are pure functions of a language and one lower-cased token, with ' as its apostrophe.
// The language is a code as [Primary] or [Detect] returns it. In an unknown language, no word is a
// function word, and every word is returned unchanged. Callers should check [HasFunctionWords] and
// [HasStem] first, and tell the user if a language is not supported.
//
// The functions look at a word without its neighbors, so they have to guess when a word has two
// uses. "that" is a pronoun or a conjunction, and is removed in either case. This does not harm a
// comparison of two texts, because both are treated the same way. But a text without its function
// words also loses its negations.
//
// The data is in files beside this one. The first lines of each file name its source and license.

//go:embed function/*.txt adjectives/en.txt
var formFiles embed.FS

// HasFunctionWords reports whether a language has a list of function words.
func HasFunctionWords(lang string) bool { return slices.Contains(functionLanguages[:], lang) }

// HasStem reports whether a language has a stemmer.
func HasStem(lang string) bool { return stemmers[lang] != nil || lightEndings[lang] != nil }

type section struct {
	title string
	words []string
}

// readForms reads an embedded file. Words are separated by white space, and a blank line ends a
// section. A line that begins with # is the title of its section. The first section is about the
// file itself and is left out.
func readForms(name string) []section {
	text, err := formFiles.ReadFile(name)
	if err != nil {
		panic(err) // embedded files can always be read
	}
	var sections []section
	for part := range strings.SplitSeq(string(text), "\n\n") {
		var s section
		for line := range strings.Lines(part) {
			if title, ok := strings.CutPrefix(line, "#"); ok {
				s.title = strings.TrimSpace(title)
				continue
			}
			s.words = append(s.words, strings.Fields(line)...)
		}
		if len(s.words) > 0 {
			sections = append(sections, s)
		}
	}
	return sections
}

func setOf(words []string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, word := range words {
		set[word] = true
	}
	return set
}
