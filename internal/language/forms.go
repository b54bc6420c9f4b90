package language

import (
	"embed"
	"slices"
	"strings"
)

// Word forms: what canonical text can be freed of, one word at a time.
//
// [FunctionWord] knows a language's closed classes, [Adjective] its adjectives, [Singular] takes
// off a plural, [Stem] whatever inflection there is, [Elide] an article that elision has joined to
// the word. All are pure functions of a language (as [Primary] or [Detect] names it) and one
// lower-cased token whose apostrophes are '. In a language that a function does not know, no word
// is a function word or an adjective, and every word is returned as it is: ask [HasForms] and
// [HasStem] first, and say so.
//
// They look at one word and not at its neighbours, so they guess where a word has two uses ("that"
// is a pronoun or a conjunction: gone either way; "open" is an adjective or a verb: it stays). Two
// texts are treated alike, which is what comparing them needs; what is lost is only what the
// classes say, so a text without its function words also loses its negations.
//
// The data is in files beside this one, each with its source and licence in its head.

//go:embed function/*.txt adjectives/*.txt plurals/*.txt
var formFiles embed.FS

// HasForms says whether a language has lists of function words, and rules for adjectives and
// plurals.
func HasForms(lang string) bool { return slices.Contains(functionLanguages[:], lang) }

// HasStem says whether a language has a stemmer.
func HasStem(lang string) bool { return stemmers[lang] != nil || lightEndings[lang] != nil }

// section is a part of a file of words.
type section struct {
	title string
	words []string
}

// readForms reads an embedded file. Words stand between white space; each blank line ends a
// section, and the last line that begins with # before its words is its title. The first section is
// the head of the file and has no words: it is left out.
func readForms(name string) []section {
	text, err := formFiles.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
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
