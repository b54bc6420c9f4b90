package websites

import (
	"hash/fnv"
	"html"
	"math/rand/v2"
	"strconv"
	"strings"
)

// vocabulary is 3,375 made-up words of three syllables. A sequence of ten random words practically
// never occurs twice, so different stories do not resemble each other.
var vocabulary = func() (words []string) {
	syllables := strings.Fields("ba cer din fo gul ka lem mi nor pu ran se til vo wex")
	for _, a := range syllables {
		for _, b := range syllables {
			for _, c := range syllables {
				words = append(words, a+b+c)
			}
		}
	}
	return words
}()

// functionWords are mixed with the made-up words so the language of a story can be detected.
var functionWords = map[string][]string{
	"en": strings.Fields("the of and to in a is that for it was on are with as at by this from or an be which not have"),
	"de": strings.Fields("der die und das in den von zu mit sich des auf für ist im dem nicht ein eine als auch es an werden aus"),
	"fr": strings.Fields("le de et la les des en un une du dans est pour que qui sur par au avec pas plus ce il sont"),
}

// luck returns a source of random numbers that depends only on name.
func luck(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(h.Sum64(), 22))
}

// draw returns a pseudo-random number below n that depends only on name.
func draw(name string, n int) int { return luck(name).IntN(n) }

// between returns a pseudo-random number from least to most that depends only on name.
func between(least, most int, name string) int { return least + draw("length of "+name, most-least+1) }

// story returns paragraphs of English text with the given number of words in total. The text
// depends only on name and words.
func story(name string, words int) string { return storyIn("en", name, words) }

// storyIn is like story, but in the given language, which must be in functionWords.
func storyIn(lang, name string, words int) string {
	rng, small := luck(lang+" "+name), functionWords[lang]
	var b strings.Builder
	for n, left, inParagraph := 0, 0, 0; n < words; n++ {
		word := vocabulary[rng.IntN(len(vocabulary))]
		if rng.IntN(5) < 2 {
			word = small[rng.IntN(len(small))]
		}
		if inParagraph == 0 {
			b.WriteString("<p>")
			inParagraph = 30 + rng.IntN(30)
		}
		if left == 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
			left = 7 + rng.IntN(10)
		}
		b.WriteString(word)
		left--
		inParagraph--
		last := inParagraph == 0 || n == words-1
		if left == 0 || last {
			b.WriteByte('.')
			left = 0
		}
		if b.WriteByte(' '); last {
			b.WriteString("</p>\n")
		}
	}
	return b.String()
}

func plain(story string) string { return strings.NewReplacer("<p>", "", "</p>", "").Replace(story) }

// title returns a title of three or four words that depends only on name.
func title(name string) string {
	rng := luck("title of " + name)
	words := make([]string, 3+rng.IntN(2))
	for i := range words {
		words[i] = vocabulary[rng.IntN(len(vocabulary))]
	}
	words[0] = strings.ToUpper(words[0][:1]) + words[0][1:]
	return strings.Join(words, " ")
}

func word(name string) string { return vocabulary[draw("word "+name, len(vocabulary))] }

// number returns the value of s, or -1 if s is not a number as written by strconv.Itoa.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || strconv.Itoa(n) != s {
		return -1
	}
	return n
}

func escape(s string) string { return html.EscapeString(s) }
