package dedup

import (
	"strings"

	"skink/dedup/language"
)

// # english-pos
//
// This profile reproduces a published system for English texts, which uses a statistical
// part-of-speech tagger. The system drops adjectives (tags JJ, JJR, JJS), conjunctions (CC) and
// prepositions (IN, TO). It also drops interjections (UH) and determiners (DT). It makes plural
// nouns singular: -ies becomes -y, and a final -s is dropped. Then it drops line breaks and ten
// kinds of characters, such as commas and quotation marks. It compares the CRC-32 checksums of
// ten-word shingles by 2c/(n1+n2)·100, where c is the number of common shingles, and n1 and n2 are
// the numbers of shingles in the two texts. It never changes case, and neither does this profile.
// The input of this profile is main text without HTML.
//
// The profile has no tagger. It drops a word that is in a fixed list of the classes above, or that
// is mostly an adjective in WordNet's tagged corpus. So each word gets its most frequent tag,
// whatever the context. This is right for about nine words in ten. A wrong tag has the same effect
// in all texts, so copies stay equal. A tagger that uses the context could tag a word differently
// in a text and in its copy. Only one rule looks at the previous word: a word ending in -s that
// follows a word in beforeVerbs is a verb and keeps its -s.

// treebankWords lists words of closed classes to which the Penn Treebank's guidelines (Santorini,
// 1990) give one of the tags above. The adjectives in the list are ordinals, words of quantity, and
// comparatives and superlatives that WordNet lists elsewhere.
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

// beforeVerbs lists words after which a word ending in -s is a verb ("he runs") and not a plural
// noun.
var beforeVerbs = setOfWords("he she it who which")

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
		if word != "" && !treebankWords[low] && !language.EnglishAdjective(low) {
			words = append(words, englishNoun(word, low, before))
		}
		before = low
	}
	return words
}

// englishNoun returns the singular of a word as the published system makes it, such as "boxe" for
// "boxes". It changes a word only if package language, which knows that "bus" is singular,
// considers it a plural.
func englishNoun(word, low, before string) string {
	if beforeVerbs[before] || language.EnglishSingular(low) == low {
		return word
	}
	return language.PlainSingular(word)
}
