package language

import (
	"strings"
	"sync"
)

// EnglishAdjective reports whether an English word is mainly an adjective.
//
// It uses a list of lemmas from WordNet. A lemma is listed if its adjectival senses outnumber all
// its other senses in WordNet's tagged corpus: noun, adverb, and the verb that the word is a form
// of. So "open", "present", "following" and "based" are not adjectives. The list contains 80% of the
// corpus's adjectives, and 1.0% of its other words, counted by lemma. Rules cover comparatives and
// superlatives.
func EnglishAdjective(word string) bool {
	known := englishAdjectives()
	if known.adjectives[word] || known.degrees[word] {
		return true
	}
	stem, ok := strings.CutSuffix(word, "er")
	if !ok {
		stem, ok = strings.CutSuffix(word, "est")
	}
	return ok && len(stem) >= 3 && !known.others[word] && isCompared(stem, known.adjectives)
}

type englishLists struct{ adjectives, degrees, others map[string]bool }

var englishAdjectives = sync.OnceValue(func() englishLists {
	s := readForms("adjectives/en.txt")
	return englishLists{adjectives: setOf(s[0].words), degrees: setOf(s[1].words), others: setOf(s[2].words)}
})

// isCompared reports whether a word is the comparative or superlative of one of the adjectives:
// smaller, larger, happier, biggest. stem is the word without -er or -est.
func isCompared(stem string, adjectives map[string]bool) bool {
	last := len(stem) - 1
	if stem[last] == 'i' {
		y := stem[:last] + "y"
		return adjectives[y] && isShort(y)
	}
	if adjectives[stem] && isShort(stem) {
		return true
	}
	if e := stem + "e"; adjectives[e] && isShort(e) {
		return true
	}
	return stem[last] == stem[last-1] && adjectives[stem[:last]] && isShort(stem[:last])
}

// isShort reports whether an adjective is compared with -er. Such an adjective has one syllable, or
// two syllables and the ending -y, -le or -ow. Other adjectives use "more" and "most". A longer
// word ending in -er is a noun: foreigner, commoner.
func isShort(word string) bool {
	syllables, inVowel := 0, false
	for i := range len(word) {
		vowel := strings.IndexByte("aeiouy", word[i]) >= 0
		if vowel && !inVowel {
			syllables++
		}
		inVowel = vowel
	}
	if strings.HasSuffix(word, "e") && !strings.HasSuffix(word, "le") && !strings.HasSuffix(word, "ee") {
		syllables-- // a silent final e forms no syllable
	}
	return syllables <= 1 || syllables == 2 &&
		(strings.HasSuffix(word, "y") || strings.HasSuffix(word, "le") || strings.HasSuffix(word, "ow"))
}
