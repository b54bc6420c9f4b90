package dedup

import (
	"strings"

	"skink/internal/language"
)

// # english-pos
//
// The published system runs a statistical tagger over English. It drops the words tagged as
// adjectives (JJ, JJR, JJS), conjunctions (CC), prepositions (IN, TO), interjections (UH) and
// determiners (DT). It makes plural nouns singular: -ies becomes -y, and a final -s is dropped.
// Then it drops ten characters and the line ends, and compares the CRC-32 of ten-word shingles by
// 2c/(n1+n2)·100. It has no step that changes case, so neither has this profile. HTML tags and
// entities are already removed: the profile compares main texts.
//
// This profile has no tagger. A word is dropped if it is in a closed list of the classes above, or
// if WordNet's tagged corpus has it as an adjective more often than as anything else. So each word
// gets its most frequent tag, whatever its context. Taggers that begin so are right for nine words
// of ten, and gain the rest by context. If the tag is wrong, the word is kept or dropped in all
// texts in the same way. That costs less than being right in one text and wrong in its copy. One
// rule looks at the previous word: a word in -s after one of beforeVerbs is a verb and keeps its
// -s.

// treebankWords are the words that the Penn Treebank's guidelines (Santorini, 1990) tag with one of
// the classes, as far as the classes are closed. The adjectives among them are the ordinals, the
// quantities, and the degrees that WordNet lists elsewhere.
var treebankWords = setOfWords(`
	a an the this that these those all another any both each either every neither no some
	and but or nor yet plus minus so &
	aboard about above across after against albeit along alongside although amid amidst among amongst around as astride
	at atop barring because before behind below beneath beside besides between beyond by concerning considering despite
	down during except excluding for from if in including inside into lest like near notwithstanding of off on onto
	opposite out outside over past pending per regarding round since than though through throughout till toward towards
	under underneath unless unlike until up upon versus via vs whereas whether while with within without
	to
	ah aha alas aw bravo bye goodbye hello hey hi hmm hooray hurrah huh oh ok okay oops ouch please ugh uh um wow yeah yep yes
	first second third fourth fifth sixth seventh eighth ninth tenth last next
	few fewer fewest least less many more most much other own same several such`)

// beforeVerbs are the words after which english-pos takes a word that ends in -s for a verb ("he
// runs") and not for a plural noun.
var beforeVerbs = setOfWords("he she it who which")

// englishMarks are the characters that the published system removes from the text.
const englishMarks = "”“\",.:$#()\r\n"

func englishPOS(a, b string, _ ProfileInput) ProfileResult {
	sa, sb := crcShingles(englishTokens(a), 10), crcShingles(englishTokens(b), 10)
	r := ProfileResult{Unit: "percent", A: len(sa), B: len(sb), Score: 100 * DiceOfLists(sa, sb)}
	r.Common = int(r.Score/200*float64(len(sa)+len(sb)) + .5)
	return r
}

func englishTokens(text string) []string {
	var words []string
	before := ""
	for word := range strings.FieldsSeq(text) {
		word = strings.Map(func(r rune) rune {
			if strings.ContainsRune(englishMarks, r) {
				return -1
			}
			return r
		}, word)
		low := strings.ToLower(word)
		if word != "" && !treebankWords[low] && !language.Adjective("en", low) {
			words = append(words, englishNoun(word, low, before))
		}
		before = low
	}
	return words
}

// englishNoun returns the singular of a word as the published system makes it, such as "boxe" of
// "boxes". It changes a word only if our own rules, which know that "bus" is singular, take it for
// a plural.
func englishNoun(word, low, before string) string {
	if beforeVerbs[before] || language.Singular("en", low) == low {
		return word
	}
	return language.PlainSingular(word)
}
