package rivals

import (
	"maps"
	"math"
	"slices"

	"skink/dedup"
	"skink/dedup/language"
)

// A Doc is a text with the primary subtag of its language, such as "en".
type Doc struct {
	*dedup.Text
	Lang string
}

// A Collection counts in how many texts each word occurs. Measures use it to tell rare words from frequent ones.
type Collection struct {
	texts int
	in    map[uint64]int
}

// Add counts the words of a text.
func (c *Collection) Add(text *dedup.Text) {
	if c.in == nil {
		c.in = map[uint64]int{}
	}
	c.texts++
	for word := range counts(text) {
		c.in[word]++
	}
}

func counts(text *dedup.Text) map[uint64]int {
	n := map[uint64]int{}
	for _, word := range text.Numbers() {
		n[word]++
	}
	return n
}

// rarity returns the inverse document frequency of a word: ln(N/n), if n of N texts have it. A word of no text counts
// as a word of one.
func (c *Collection) rarity(word uint64) float64 {
	return math.Log(float64(max(c.texts, 1)) / float64(max(c.in[word], 1)))
}

// WordMeasures are measures by name that compare the words of two texts, and not their shingles. They
// return a score from 0 to 1. Two texts without words have the score 1.
var WordMeasures = map[string]func(c *Collection, a, b Doc) float64{
	"cosine":   Cosine,
	"i-match":  IMatch,
	"spotsigs": SpotSigs,
}

// # Cosine
//
// Source: Salton and Buckley, Term-weighting approaches in automatic text retrieval, Information Processing & Management
// 24(5), 1988. A text is a vector with a weight for each word, and the score is the cosine of the angle between two
// vectors. The weight is (1 + ln f) · ln(1 + N/n), if the word occurs f times in the text, and in n of N texts.
//
// Change: ln(1 + N/n) instead of ln(N/n), so that a word of all texts still has a small weight.
//
// Known weaknesses: the order of the words does not count, so two texts about one subject are alike.

// Cosine returns the cosine of the weighted words of two texts.
func Cosine(c *Collection, a, b Doc) float64 {
	x, y := c.weights(a.Text), c.weights(b.Text)
	if len(x) == 0 || len(y) == 0 {
		return equal(len(x), len(y))
	}
	return min(1, product(x, y)/math.Sqrt(product(x, x)*product(y, y)))
}

func (c *Collection) weights(text *dedup.Text) map[uint64]float64 {
	w := map[uint64]float64{}
	for word, f := range counts(text) {
		w[word] = (1 + math.Log(float64(f))) * math.Log1p(math.Exp(c.rarity(word)))
	}
	return w
}

// product adds in the order of the words, so that rounding errors are the same each time.
func product(x, y map[uint64]float64) (sum float64) {
	for _, word := range slices.Sorted(maps.Keys(x)) {
		sum += x[word] * y[word]
	}
	return sum
}

func equal[T comparable](a, b T) float64 {
	if a == b {
		return 1
	}
	return 0
}

// # I-Match
//
// Source: Chowdhury, Frieder, Grossman and McCabe, Collection Statistics for Fast Duplicate Document Detection, ACM
// Transactions on Information Systems 20(2), 2002. Two texts are duplicates if they have the same set of words, without
// frequent and rare words. So one hash of the set finds all duplicates of a text. A word counts if its inverse
// document frequency, divided by the highest possible, is between two bounds. The authors choose the bounds for a
// collection; here they are .1 and .9.
//
// Known weaknesses: one changed word that counts separates two texts. Texts without such words are compared whole.

// The bounds of the words that I-Match compares, as shares of the highest inverse document frequency.
const (
	frequentest = .1
	rarest      = .9
)

// IMatch returns 1 if two texts have the same words of medium frequency, and 0 otherwise.
func IMatch(c *Collection, a, b Doc) float64 {
	x, y := c.medium(a.Text), c.medium(b.Text)
	if len(x) == 0 && len(y) == 0 {
		return equal(a.Hash(), b.Hash())
	}
	return equal(dedup.Resemblance(x, y), 1)
}

func (c *Collection) medium(text *dedup.Text) dedup.Set {
	highest := math.Log(float64(max(c.texts, 1)))
	return dedup.NewSet(slices.DeleteFunc(slices.Clone(text.Numbers()), func(word uint64) bool {
		r := c.rarity(word)
		return r < frequentest*highest || r > rarest*highest
	}))
}

// # SpotSigs
//
// Source: Theobald, Siddharth and Paepcke, SpotSigs: Robust and Efficient Near Duplicate Detection in Large Web
// Collections, SIGIR 2008. A spot is a frequent word, such as "the", with the next two words that are no function words.
// Running text is full of spots, menus have few. The score is the resemblance of the spots, of which each
// counts as often as it occurs. As in the paper's example, spots begin with a, an, the and is.
//
// Change: in other languages than English, spots begin with any function word of the language.
//
// Known weaknesses: texts without function words, such as lists and code, have no spots. The score of two such texts is
// 0, unless they are equal.

// SpotSigs returns the resemblance of the spots of two texts, as multisets.
func SpotSigs(_ *Collection, a, b Doc) float64 {
	x, y := spots(a), spots(b)
	if len(x) == 0 && len(y) == 0 {
		return equal(a.Hash(), b.Hash())
	}
	common, all := 0, 0
	for spot, n := range x {
		common, all = common+min(n, y[spot]), all+n-min(n, y[spot])
	}
	for _, n := range y {
		all += n
	}
	return float64(common) / float64(all)
}

// spots counts the spots of a text.
func spots(d Doc) map[[3]uint64]int {
	n := map[[3]uint64]int{}
	english := []string{"a", "an", "the", "is"}
	var after [2]int // the next two words that are no function words
	found := 0
	for i := d.Len() - 1; i >= 0; i-- {
		word := d.Token(i)
		if !language.FunctionWord(d.Lang, word) && (d.Lang != "en" || word != "is") {
			after, found = [2]int{i, after[0]}, found+1
			continue
		}
		if (d.Lang != "en" || slices.Contains(english, word)) && found >= len(after) {
			words := d.Numbers()
			n[[3]uint64{words[i], words[after[0]], words[after[1]]}]++
		}
	}
	return n
}
